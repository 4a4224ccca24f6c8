package import Catalogs

/// GIF, still or animated: 256 colours a frame, each of them opaque or fully transparent. No metadata: a
/// profile is converted to sRGB.
package struct GIFFormat: ImageFormat {
    package let title = "GIF"
    package let cost = CodecCost(decode: 10, encode: 300)
    package let holdsGray = false
    package let keepsLayout = false
    package let holdsProfile = false
    package let loader = Loader("gifload_source", "VipsForeignLoadNsgifSource", traits: [.hasPages])

    package let descriptor = FormatDescriptor(
        name: "gif", extensions: ["gif"], canRead: true, canWrite: true, sampleFormats: [.u8],
        holdsAlpha: true, frameTime: 10, isLossless: false, largestSide: 65535,
        options: [
            ParameterDescriptor(
                "colors", .integer(minimum: 2, maximum: 256), fallback: .integer(256),
                summary: "of each frame, rounded up to a power of two"),
            ParameterDescriptor(
                "palette_dither", .number(minimum: 0, maximum: 1), fallback: .number(1),
                summary: "how much of the colours' errors is spread over neighbours"),
            ParameterDescriptor(
                "effort", .integer(minimum: 1, maximum: 10), fallback: .integer(7),
                summary: "1 is fastest, 10 finds the best colours"),
        ])

    package init() {}

    package func recognizes(_ head: [UInt8]) -> Bool {
        head.starts(with: Array("GIF87a".utf8)) || head.starts(with: Array("GIF89a".utf8))
    }

    package func damage(in file: InputFile) -> String? {
        var blocks = GIFBlocks(file)
        return blocks.damage()
    }

    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveProblem) -> Saver {
        let colors = try options.integer("colors")
        return Saver(
            "gifsave_target",
            [
                "bitdepth": .integer((1...8).first { 1 << $0 >= colors } ?? 8),
                "dither": .number(try options.number("palette_dither")),
                "effort": .integer(try options.integer("effort")),
            ])
    }

    package func libraries(for options: FormatOptions) -> [String] { ["libcgif", "libimagequant"] }

    package func isLossless(_ layout: PixelLayout, options: FormatOptions) -> Bool { false }
}
