package import Catalogs

/// JPEG XL. Decoders and encoders hold the whole picture. (libvips 8.14 writes floats of gray wrongly; they become 16 bits.) Metadata: the profile.
package struct JPEGXLFormat: ImageFormat {
    package let title = "JPEG XL"
    package let cost = CodecCost(decode: 60, encode: 300)
    package let holdsGray = true
    package let isDecodedWhole = true
    package let module: String? = "vips-jxl"
    package let loader = Loader("jxlload_source", "VipsForeignLoadJxlSource", traits: [.turnsUpright])
    package let saverClasses = ["VipsForeignSaveJxlTarget"]

    package let descriptor = FormatDescriptor(
        name: "jxl", extensions: ["jxl"], canRead: true, canWrite: true, streams: .no,
        sampleFormats: [.u8, .u16],
        holdsAlpha: true, isLossless: false, largestSide: 1 << 30,
        options: [
            ParameterDescriptor(
                "quality", .integer(minimum: 1, maximum: 100), fallback: .integer(82),
                summary: "how much detail is kept"),
            ParameterDescriptor(
                "lossless", .boolean, fallback: .boolean(false), summary: "keep every sample"),
            ParameterDescriptor(
                "effort", .integer(minimum: 3, maximum: 9), fallback: .integer(5),
                summary: "3 is fastest, 9 is smallest"),
        ])

    package init() {}

    /// A bare codestream, or a file of boxes: ISO/IEC 18181-2.
    package func recognizes(_ head: [UInt8]) -> Bool {
        head.starts(with: [0xFF, 0x0A])
            || head.starts(with: [0, 0, 0, 0x0C] + Array("JXL ".utf8) + [0x0D, 0x0A, 0x87, 0x0A])
    }

    /// libvips gives the profile that libjxl makes, which does not say HDR, and of an animation the first frame.
    package func statedColor(
        in file: InputFile, of picture: LoadedPicture
    ) throws(UnsupportedFeature) -> StatedColor? {
        guard let header = JPEGXLHeader(file) else { return nil }
        guard !header.isAnimation else { throw .animation("an animation") }
        if let transfer = header.transfer { try StatedColor.checkRange(transfer: transfer) }
        return nil
    }

    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveProblem) -> Saver {
        Saver(
            "jxlsave_target",
            [
                "Q": .integer(try options.integer("quality")),
                "lossless": .boolean(try options.boolean("lossless")),
                "effort": .integer(try options.integer("effort")),
            ],
            fields: [.icc])
    }

    package func libraries(for options: FormatOptions) -> [String] { ["libjxl"] }

    package func isLossless(_ layout: PixelLayout, options: FormatOptions) -> Bool {
        (try? options.boolean("lossless")) == true  // a wrong value is refused by `saver`
    }
}
