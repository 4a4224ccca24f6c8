package import Catalogs
import CVips

/// The portable anymap family: PBM, PGM, PPM and, for floats, PFM. What is written follows from the samples, not from
/// the name. No metadata.
package struct PPMFormat: ImageFormat {
    package let title = "PPM"
    package let cost = CodecCost(decode: 1, encode: 1)
    package let holdsGray = true
    package let loader = Loader("ppmload_source", "VipsForeignLoadPpmSource")

    package let descriptor = FormatDescriptor(
        name: "ppm", extensions: ["ppm", "pgm", "pbm", "pnm", "pfm"], canRead: true, canWrite: true,
        sampleFormats: [.u8, .u16, .f32], holdsAlpha: false, isLossless: true,
        largestSide: 10_000_000,  // libvips' VIPS_MAX_COORD
        options: [])

    package init() {}

    /// `P1` to `P6`, `PF`, `Pf`, and white space.
    package func recognizes(_ head: [UInt8]) -> Bool {
        head.count >= 3 && head[0] == UInt8(ascii: "P") && "123456Ff".utf8.contains(head[1])
            && " \t\r\n#".utf8.contains(head[2])
    }

    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveProblem) -> Saver {
        let kind =
            switch (shape.sampleFormat, shape.layout.removingAlpha) {
            case (.f32, _): VIPS_FOREIGN_PPM_FORMAT_PFM
            case (_, .gray): VIPS_FOREIGN_PPM_FORMAT_PGM
            default: VIPS_FOREIGN_PPM_FORMAT_PPM
            }
        return Saver("ppmsave_target", ["format": .integer(Int(kind.rawValue))])
    }

    package func isLossless(_ layout: PixelLayout, options: FormatOptions) -> Bool { true }
}
