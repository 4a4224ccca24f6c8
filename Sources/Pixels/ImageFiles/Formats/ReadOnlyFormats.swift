package import Catalogs

/// A format that Penumbra reads but does not write.
package protocol ReadOnlyFormat: ImageFormat {}

extension ReadOnlyFormat {
    package var holdsGray: Bool { true }
    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveError) -> Saver {
        throw .unsuitable("Penumbra only reads it")
    }
    package func isLossless(_ layout: PixelLayout, options: FormatOptions) -> Bool { false }

    static func reading(_ name: String, _ extensions: [String]) -> FormatDescriptor {
        FormatDescriptor(
            name: name, extensions: extensions, canRead: true, canWrite: false, sampleFormats: [],
            holdsAlpha: true, isLossless: false, largestSide: 0, options: [])
    }
}

/// OpenEXR: scan lines of half or full floats, read as f32. Its linear light is converted to the curve of sRGB, as in all
/// pictures, and colour is divided by alpha. Other primaries than those of sRGB are converted, or kept as a profile.
package struct OpenEXRFormat: ReadOnlyFormat {
    package let title = "OpenEXR"
    package let cost = CodecCost(decode: 10, encode: 0)
    package let loader = Loader(
        "openexrload", "VipsForeignLoadOpenexr", opensByName: true, traits: [.linearPremultiplied])
    package let descriptor: FormatDescriptor = Self.reading("exr", ["exr"])

    package init() {}

    package func recognizes(_ head: [UInt8]) -> Bool { head.starts(with: [0x76, 0x2F, 0x31, 0x01]) }

    package func damage(in file: InputFile) -> String? {
        OpenEXRParts(size: file.size) { file.bytes(in: $0) }?.damage
    }

    package func statedColor(
        in file: InputFile, of picture: LoadedPicture
    ) throws(UnsupportedFeatureError) -> StatedColor? {
        guard let numbers = OpenEXRParts(size: file.size, fetch: { file.bytes(in: $0) })?.chromaticities else {
            return nil
        }
        return try StatedColor.linear(numbers)
    }
}

/// SVG, drawn at its own size (at 72 dots per inch), unless that takes too long; see ``SVGDrawing`` and ``DrawingTime``.
package struct SVGFormat: ReadOnlyFormat {
    package let title = "SVG"
    package let cost = CodecCost(decode: 50, encode: 0)
    package let loader = Loader("svgload_source", "VipsForeignLoadSvgSource", traits: [.isDrawn])
    package let isDrawn = true
    package let descriptor: FormatDescriptor = Self.reading("svg", ["svg"])

    package init() {}

    /// The largest text that is analysed.
    private static let longestText = 256 << 20

    package func drawing(in file: InputFile) throws(UnsupportedFeatureError) -> SVGDrawing? {
        guard file.size <= Self.longestText else {
            throw UnsupportedFeatureError("more than 256 MB of text", remedy: "draw it to a PNG first")
        }
        // libvips reports read errors when it reads the file.
        return try file.bytes(in: 0..<file.size).map { bytes throws(UnsupportedFeatureError) in try SVGDrawing(bytes) }
    }

    /// Recognises text whose first element is `svg`, after a declaration, comments and a document type.
    package func recognizes(_ head: [UInt8]) -> Bool {
        var text = String(decoding: head, as: UTF8.self)[...]
        while true {
            text = text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
            // A document type may contain declarations in brackets.
            let declares = text.firstIndex(of: "[").map { !text[..<$0].contains(">") } ?? false
            let endings = [("<?", "?>"), ("<!--", "-->"), ("<!DOCTYPE", declares ? "]>" : ">")]
            guard let (_, ending) = endings.first(where: { text.hasPrefix($0.0) }) else { break }
            guard let end = text.firstRange(of: ending) else { return false }
            text = text[end.upperBound...]
        }
        guard text.first == "<" else { return false }
        let name = text.dropFirst().prefix { !$0.isWhitespace && $0 != ">" && $0 != "/" }
        return name == "svg" || name.hasSuffix(":svg")
    }
}
/// Pages of a PDF, drawn at 72 dots per inch.
package struct PDFFormat: ReadOnlyFormat {
    package let title = "PDF"
    package let module: String? = "vips-poppler"
    package let isDrawn = true
    package let cost = CodecCost(decode: 50, encode: 0)
    package let loader = Loader("pdfload_source", "VipsForeignLoadPdfSource", traits: [.hasPages, .isDrawn])
    package let descriptor: FormatDescriptor = Self.reading("pdf", ["pdf"])

    package init() {}

    package func recognizes(_ head: [UInt8]) -> Bool { head.starts(with: Array("%PDF-".utf8)) }
}
