package import Catalogs

/// JPEG 2000, as a JP2 file or a bare codestream. A file of one tile is decoded completely. libvips 8.14 writes no metadata,
/// so profiles are converted to sRGB.
/// profile is converted to sRGB.
package struct JPEG2000Format: ImageFormat {
    package let title = "JPEG 2000"
    package let cost = CodecCost(decode: 120, encode: 250)
    package let holdsGray = true
    package let isDecodedWhole = true
    package let loader = Loader("jp2kload_source", "VipsForeignLoadJp2kSource")
    package let saverClasses = ["VipsForeignSaveJp2kTarget"]

    package let descriptor = FormatDescriptor(
        name: "jp2", extensions: ["jp2", "j2k", "jpc", "j2c", "jpt"], canRead: true, canWrite: true, streams: .no,
        sampleFormats: [.u8, .u16],
        holdsAlpha: true, holdsProfile: false, holdsTexts: false, isLossless: false,
        largestSide: 10_000_000,  // libvips' VIPS_MAX_COORD
        options: [
            ParameterDescriptor(
                "quality", .integer(minimum: 1, maximum: 100), fallback: .integer(60),
                summary: "Sets how much detail is kept, in decibels of signal to noise"),
            ParameterDescriptor("lossless", .boolean, fallback: .boolean(false), summary: "Keeps every sample"),
        ])

    package init() {}

    package func recognizes(_ head: [UInt8]) -> Bool {
        head.starts(with: [0xFF, 0x4F, 0xFF, 0x51])
            || head.starts(with: [0, 0, 0, 0x0C] + Array("jP  ".utf8) + [0x0D, 0x0A, 0x87, 0x0A])
    }

    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveError) -> Saver {
        Saver(
            "jp2ksave_target",
            [
                "Q": .integer(try options.integer("quality")), "lossless": .boolean(try options.boolean("lossless")),
            ])
    }

    package func libraries(for options: FormatOptions) -> [String] { ["libopenjp2"] }

    package func isLossless(_ layout: PixelLayout, options: FormatOptions) -> Bool {
        (try? options.boolean("lossless")) == true  // `saver` refuses wrong values
    }
}
