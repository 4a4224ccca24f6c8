package import Catalogs

/// WebP. Metadata: EXIF, XMP, profile. An encoder holds the whole picture in memory, as does a decoder.
package struct WebPFormat: ImageFormat {
    package let title = "WebP"
    package let cost = CodecCost(decode: 16, encode: 150)
    package let holdsGray = false
    package let isDecodedWhole = true
    package let loader = Loader("webpload_source", "VipsForeignLoadWebpSource", traits: [.hasPages])

    package let descriptor = FormatDescriptor(
        name: "webp", extensions: ["webp"], canRead: true, canWrite: true, streams: .no, sampleFormats: [.u8],
        holdsAlpha: true, frameTime: 1, isLossless: false, largestSide: 16383,
        options: [
            ParameterDescriptor(
                "quality", .integer(minimum: 0, maximum: 100), fallback: .integer(82),
                summary: "how much detail is kept; with lossless, how hard to try for a small file"),
            ParameterDescriptor(
                "lossless", .boolean, fallback: .boolean(false), summary: "keep every sample"),
            ParameterDescriptor(
                "effort", .integer(minimum: 0, maximum: 6), fallback: .integer(4),
                summary: "0 is fastest, 6 is smallest"),
        ])

    package init() {}

    package func recognizes(_ head: [UInt8]) -> Bool {
        head.count >= 12 && head.starts(with: Array("RIFF".utf8)) && head[8..<12].elementsEqual("WEBP".utf8)
    }

    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveProblem) -> Saver {
        let isLossless = try options.boolean("lossless")
        var arguments: [String: VipsArgument] = [
            "Q": .integer(try options.integer("quality")), "lossless": .boolean(isLossless),
            "effort": .integer(try options.integer("effort")),
        ]
        // Every frame of an animation is whole. Else its encoder leaves what it takes for alike as it was frames ago, and what
        // fades slowly never gets there.
        if !isLossless { arguments["kmax"] = .integer(1) }
        return Saver("webpsave_target", arguments, fields: [.icc])
    }

    package func revise(_ file: OutputFile, adding metadata: ImageMetadata) {
        WebPChunks.replaceMetadata(in: file, by: metadata)
    }

    package func libraries(for options: FormatOptions) -> [String] { ["libwebp"] }

    package func isLossless(_ layout: PixelLayout, options: FormatOptions) -> Bool {
        // A wrong value is refused by `saver`. The colour of fully transparent pixels is changed to what packs best.
        !layout.hasAlpha && (try? options.boolean("lossless")) == true
    }
}
