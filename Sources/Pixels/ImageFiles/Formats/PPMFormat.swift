package import Catalogs
import CVips

/// The portable anymap family: reads PBM, PGM, PPM and PFM, writes PPM. It has no metadata. Profiles are converted to sRGB.
package struct PPMFormat: ImageFormat {
    package let title = "PPM"
    package let cost = CodecCost(decode: 1, encode: 1)
    package let holdsGray = false
    package let loader = Loader("ppmload_source", "VipsForeignLoadPpmSource")

    package let descriptor = FormatDescriptor(
        name: "ppm", extensions: ["ppm", "pnm"], canRead: true, canWrite: true,
        sampleFormats: [.u8, .u16], holdsAlpha: false, holdsProfile: false, holdsTexts: false,
        isLossless: true,
        largestSide: 10_000_000,  // libvips' VIPS_MAX_COORD
        options: [])

    package init() {}

    /// Recognises `P1` to `P6`, `PF` and `Pf`, followed by white space.
    package func recognizes(_ head: [UInt8]) -> Bool {
        head.count >= 3 && head[0] == UInt8(ascii: "P") && "123456Ff".utf8.contains(head[1])
            && " \t\r\n#".utf8.contains(head[2])
    }

    /// libvips ignores the largest sample, which is full intensity.
    package func unsupportedFeature(in head: [UInt8]) -> String? {
        guard "2356".utf8.contains(head[1]) else { return nil }
        // The header contains width, height and the largest sample, between white space and comments.
        let text = String(decoding: head.dropFirst(2), as: UTF8.self)
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let numbers = lines.flatMap { $0.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace) }
        guard numbers.count >= 3, let largest = Int(numbers[2]) else { return "a header that it cannot read" }
        return [255, 65535].contains(largest) ? nil : "samples up to \(largest), not 255 or 65535"
    }

    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveError) -> Saver {
        Saver(
            "ppmsave_target",
            [
                "format": .integer(Int(VIPS_FOREIGN_PPM_FORMAT_PPM.rawValue)),
                "strip": .boolean(true),  // otherwise the file contains the time
            ])
    }

    package func isLossless(_ layout: PixelLayout, options: FormatOptions) -> Bool { true }
}
