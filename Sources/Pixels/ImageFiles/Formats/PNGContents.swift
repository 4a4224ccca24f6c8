/// What libvips does not tell of a PNG file: the chunks around its pixels. Lengths may be lies, so every look is checked, and there
/// are only so many of them.
struct PNGContents {
    /// By their names; the first of each.
    private var small: [String: [UInt8]] = [:]

    /// What an animation has: a control for each frame, and frames beside the picture itself.
    private var (frameControls, hasOtherFrames) = (0, false)

    /// As they come, each with its place among all texts before the pixels; nil behind them.
    private(set) var texts: [(text: PNGText, place: Int?)] = []

    /// Wherever it is; libvips finds it before the pixels alone.
    private(set) var exif: [UInt8]?

    private static let wanted: Set = ["cICP", "sRGB", "gAMA", "cHRM", "acTL"]
    /// More than any writer needs.
    private static let mostChunks = 1_000_000
    private static let largest = 64

    /// Of one text, and of all: a description, not a picture.
    private static let (largestText, largestTexts) = (1 << 20, 4 << 20)

    /// - Parameter readsTexts: whether to look for them, also behind the pixels.
    init(_ file: InputFile, readsTexts: Bool = false) {
        var (offset, place, room, isBefore) = (PNGChunks.signature.count, 0, Self.largestTexts, true)
        for _ in 0..<Self.mostChunks {
            guard offset <= file.size - 8, let head = file.bytes(in: offset..<offset + 8) else { return }
            let length = head[..<4].reduce(0) { $0 << 8 | Int($1) }
            let name = String(decoding: head[4...], as: UTF8.self)
            guard name != "IEND", length <= file.size - offset - 8 else { return }
            if name == "IDAT" { isBefore = false }
            if name == "fcTL" { frameControls += 1 }
            if name == "fdAT" { hasOtherFrames = true }
            guard isBefore || readsTexts || small["acTL"] != nil else { return }
            let content = offset + 8..<offset + 8 + length
            if isBefore, Self.wanted.contains(name), length <= Self.largest, small[name] == nil {
                small[name] = file.bytes(in: content)
            } else if PNGText.chunks.contains(name) {
                if readsTexts, length <= min(room, Self.largestText), let bytes = file.bytes(in: content),
                    let text = PNGText(chunk: name, payload: bytes)
                {
                    texts.append((text, isBefore ? place : nil))
                    room -= length
                }
                place += 1
            } else if readsTexts, name == "eXIf", exif == nil, length <= Self.largestTexts {
                exif = file.bytes(in: content)
            }
            offset += 12 + length
        }
    }

    /// Adds what libvips does not tell: texts that hide no picture, and blocks of metadata that lie behind the pixels or in texts.
    ///
    /// - Parameter unpacked: a text by libvips' name for it. It unpacks those before the pixels, and not more than some hundred.
    func complete(_ metadata: inout ImageMetadata, unpacked: (String) -> String?) {
        func words(_ text: PNGText, _ place: Int?) -> String? {
            place.flatMap { unpacked("png-comment-\($0)-\(text.keyword)") }
        }
        metadata.texts = texts.compactMap { text, place in
            guard text.isText else { return nil }
            guard text.isPacked else { return XMPRules.holdsBinary(text.payload.bytes) ? nil : text }
            guard let words = words(text, place) else {
                return text.payload.bytes.count <= Self.harmless ? text : nil
            }
            return XMPRules.holdsBinary(Array(words.utf8)) ? nil : text
        }
        if metadata.exif == nil { metadata.exif = exif.flatMap(ImageMetadata.exifStructure) }
        if metadata.xmp == nil { metadata.xmp = texts.lazy.compactMap(\.text.xmp).first.map(Blob.init) }
        // The first of a kind counts, and is looked into only where nothing else says the same.
        func block(_ kinds: Substring...) -> [UInt8]? {
            let first = texts.first { text, _ in text.blockKind.map(kinds.contains) ?? false }
            return first.flatMap { text, place in text.block { words(text, place) } }
        }
        if metadata.exif == nil { metadata.exif = block("exif", "APP1").flatMap(ImageMetadata.exifStructure) }
        if metadata.xmp == nil { metadata.xmp = block("xmp").map(Blob.init) }
        if metadata.iptc == nil { metadata.iptc = block("iptc").flatMap(PhotoshopResources.iptc) }
    }

    /// Bytes of a packed text that may hold anything: less than what ``XMPRules/holdsBinary(_:)`` takes for a picture.
    private static let harmless = 700

    private func numbers(_ name: String, count: Int) -> [Int]? {
        guard let bytes = small[name], bytes.count == 4 * count else { return nil }
        return (0..<count).map { bytes[4 * $0..<4 * $0 + 4].reduce(0) { $0 << 8 | Int($1) } }
    }

    /// What is animated, as a phrase; nil for still pictures. The count of frames may be a lie, too.
    var animation: String? {
        guard let declared = numbers("acTL", count: 2)?[0] else { return nil }
        let frames = max(declared, frameControls)
        if frames > 1 { return "an animation of \(frames) frames (APNG)" }
        return hasOtherFrames ? "an animation beside its picture (APNG)" : nil
    }

    /// What the chunks say of the colours, by the precedence of the third edition: `cICP`, the profile, `sRGB`, `gAMA` with `cHRM`.
    var color: StatedColor? {
        get throws(UnsupportedFeature) {
            // Primaries, curve, matrix, range.
            if let code = small["cICP"], code.count == 4 {
                guard code[3] == 1 else { throw UnsupportedFeature("samples of video range (cICP)") }
                let color = try StatedColor.coded(
                    primaries: Int(code[0]), transfer: Int(code[1]), outranksProfile: true)
                if let color { return color }
            }
            if small["sRGB"] != nil { return .sRGB }
            let primaries = self.primaries
            if primaries == nil, gamma == nil { return nil }
            return StatedColor(primaries ?? .sRGB, curve(primaries ?? .sRGB))
        }
    }

    /// Hundred-thousandths of the power by which light was stored. None has no meaning.
    private var gamma: Int? {
        numbers("gAMA", count: 1).flatMap { $0[0] > 0 ? $0[0] : nil }
    }

    /// 45455 is what a writer of sRGB has to put in beside its `sRGB`, and what writers that leave that out mean by it.
    private func curve(_ primaries: StatedColor.Primaries) -> StatedColor.Curve {
        guard let gamma else { return .sRGB }
        let isSRGB = abs(gamma - 45455) <= 100 && primaries.isClose(to: .sRGB)
        return isSRGB ? .sRGB : .power(max(0.1, min(10, 100_000 / Double(gamma))))
    }

    private var primaries: StatedColor.Primaries? {
        guard let values = numbers("cHRM", count: 8) else { return nil }
        let spots = stride(from: 0, to: 8, by: 2).map {
            (x: Double(values[$0]) / 100_000, y: Double(values[$0 + 1]) / 100_000)
        }
        let primaries = StatedColor.Primaries(white: spots[0], red: spots[1], green: spots[2], blue: spots[3])
        return primaries.underD50 == nil ? nil : primaries
    }
}
