import FoundationEssentials

/// What ffprobe says of a file, as JSON.
struct ClipDescription: Decodable {
    private let streams: [Stream]
    private let format: Format?

    private struct Format: Decodable {
        let start: String?
        let duration: String?

        enum CodingKeys: String, CodingKey {
            case start = "start_time"
            case duration
        }
    }

    private struct Stream: Decodable {
        let index: Int
        let kind: String?
        let codec: String?
        let width: Int?
        let height: Int?
        let pixels: String?
        let range: String?
        let matrix: String?
        let transfer: String?
        let primaries: String?
        let fieldOrder: String?
        let aspect: String?
        let rate: String?
        let meanRate: String?
        let timeBase: String?
        let disposition: [String: Int]?
        let tags: [String: String]?
        let sideData: [SideData]?

        enum CodingKeys: String, CodingKey {
            case index, width, height, disposition, tags
            case kind = "codec_type"
            case codec = "codec_name"
            case pixels = "pix_fmt"
            case range = "color_range"
            case matrix = "color_space"
            case transfer = "color_transfer"
            case primaries = "color_primaries"
            case fieldOrder = "field_order"
            case aspect = "sample_aspect_ratio"
            case rate = "r_frame_rate"
            case meanRate = "avg_frame_rate"
            case timeBase = "time_base"
            case sideData = "side_data_list"
        }
    }

    private struct SideData: Decodable {
        let kind: String?
        let rotation: Int?

        enum CodingKeys: String, CodingKey {
            case kind = "side_data_type"
            case rotation
        }
    }

    /// The stream whose pictures are taken.
    struct Video {
        let stream: Int
        let width: Int
        let height: Int
        let matrix: Clip.Matrix
        let isFullRange: Bool
        let primaries: Clip.Primaries
        let transfer: Clip.Transfer
        /// First the one that ffmpeg supposes for all pictures, then the mean.
        let rates: [FrameRate]
        /// In seconds.
        let timeBase: Double
    }

    init(_ bytes: [UInt8]) throws(OwnDecodingError) {
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(bytes))
        } catch {
            throw .broken("ffprobe describes it in another form than the one of ffmpeg 5")
        }
        let numbers = streams.map(\.index)
        guard Set(numbers).count == numbers.count, numbers.allSatisfy((0...ClipQuestion.mostStreams).contains) else {
            throw .unsupported("more than \(ClipQuestion.mostStreams) streams")
        }
    }

    /// When the file begins, in seconds.
    var start: Double { Self.seconds(format?.start) ?? 0 }

    private static func seconds(_ text: String?) -> Double? {
        text.flatMap(Double.init).flatMap { (-1e6...1e6).contains($0) ? $0 : nil }
    }

    /// Refuses a clip that is clearly too long, before anything is decoded.
    func checkDuration(of video: Video) throws(OwnDecodingError) {
        guard let duration = format?.duration.flatMap(Double.init), let rate = video.rates.last else { return }
        let frames = duration * rate.value
        if frames > 1.1 * Double(Clip.mostFrames(ofHeight: video.height)) {
            throw Clip.tooLong(height: video.height)
        }
    }

    /// All streams of sound, in their order.
    var sounds: [Clip.Sound] {
        streams.filter { $0.kind == "audio" }.map { stream in
            Clip.Sound(
                stream: stream.index, codec: stream.codec ?? "unknown",
                language: stream.tags?["language"].flatMap { $0 == "und" ? nil : $0 })
        }
    }

    /// The first stream of pictures that is no cover.
    ///
    /// - Throws: an error for pictures that Penumbra does not read.
    func video() throws(OwnDecodingError) -> Video {
        let streams = streams.filter { $0.kind == "video" && $0.disposition?["attached_pic"] ?? 0 == 0 }
        guard let stream = streams.first else { throw .unsupported("sound, and no pictures") }
        guard let codec = stream.codec, codec != "unknown" else {
            throw .unsupported("a codec that ffmpeg does not know")
        }
        guard let width = stream.width, let height = stream.height, width > 0, height > 0 else {
            throw .broken("ffmpeg finds no size of its pictures")
        }
        guard max(width, height) <= Clip.longestSide else {
            throw .unsupported("\(width) × \(height) pixels", remedy: "no side may exceed \(Clip.longestSide)")
        }
        guard let timeBase = stream.timeBase.flatMap(FrameRate.init), timeBase.frames > 0, timeBase.seconds > 0 else {
            throw .broken("ffmpeg finds no unit of its times")
        }
        let pixels = stream.pixels ?? "unknown"
        try Self.check(stream, pixels: pixels)
        let turn = try Self.turn(stream)
        return Video(
            stream: stream.index, width: turn ? height : width, height: turn ? width : height,
            matrix: try Self.matrix(stream, width: width, height: height),
            isFullRange: stream.range == "pc" || pixels.hasPrefix("yuvj"),
            primaries: try Self.primaries(stream), transfer: try Self.transfer(stream),
            rates: [stream.rate, stream.meanRate].compactMap { $0.flatMap(FrameRate.init) }.filter(\.isUsual),
            timeBase: timeBase.value)
    }

    private static func check(_ stream: Stream, pixels: String) throws(OwnDecodingError) {
        guard isKnown(pixels) else {
            throw .unsupported(
                "pixels of the kind \(shown(pixels))", remedy: "convert it to yuv420p with ffmpeg first")
        }
        // VP8 and VP9 have transparency in further pictures, which ffmpeg's own decoders leave out.
        guard stream.tags?["alpha_mode"] ?? "0" == "0" else {
            throw .unsupported("transparent pictures", remedy: "convert it to yuv420p with ffmpeg first")
        }
        guard ["1:1", "0:1", "N/A"].contains(stream.aspect ?? "N/A") else {
            throw .unsupported(
                "pixels that are not square (\(shown(stream.aspect ?? "")))",
                remedy: "make them square with ffmpeg's filter 'scale' first")
        }
        guard ["progressive", "unknown"].contains(stream.fieldOrder ?? "unknown") else {
            throw .unsupported("interlaced pictures", remedy: "make whole pictures with ffmpeg's filter 'yadif' first")
        }
    }

    /// Gray, or brightness and colours, or red, green and blue, of up to 16 bits. Not those with alpha, which a video does not keep.
    private static func isKnown(_ pixels: String) -> Bool {
        var name = pixels[...]
        for ending in ["le", "be"] where name.hasSuffix(ending) { name = name.dropLast(2) }
        for depth in ["9", "10", "12", "14", "16"] where name.hasSuffix("p\(depth)") || name == "gray\(depth)" {
            name = name.dropLast(depth.count)
        }
        return [
            "gray", "yuv420p", "yuv422p", "yuv444p", "yuv440p", "yuv411p", "yuvj420p", "yuvj422p", "yuvj444p", "nv12",
            "gbrp", "rgb24", "bgr24", "rgb0", "bgr0", "0rgb", "0bgr",
        ].contains(name)
    }

    /// Whether the picture lies on its side.
    private static func turn(_ stream: Stream) throws(OwnDecodingError) -> Bool {
        guard let rotation = stream.sideData?.lazy.compactMap(\.rotation).first else { return false }
        guard rotation.isMultiple(of: 90) else { throw .unsupported("pictures that are turned by \(rotation)°") }
        return !rotation.isMultiple(of: 180)
    }

    // MARK: Colours

    private static let hdrRemedy = "convert it to BT.709 with ffmpeg first"

    private static func isUnstated(_ name: String?) -> Bool { ["unknown", "reserved", "N/A"].contains(name ?? "N/A") }

    /// If a file does not state it, small pictures have the matrix of television with standard resolution, as in all players.
    private static func matrix(_ stream: Stream, width: Int, height: Int) throws(OwnDecodingError) -> Clip.Matrix {
        if isUnstated(stream.matrix) { return width >= 1280 || height > 576 ? .bt709 : .smpte170m }
        // Red, green and blue themselves need none.
        if stream.matrix == "gbr" { return .bt709 }
        guard let matrix = Clip.Matrix(rawValue: stream.matrix ?? "") else {
            throw .unsupported("colours in the matrix '\(shown(stream.matrix ?? ""))'", remedy: hdrRemedy)
        }
        return matrix
    }

    private static func primaries(_ stream: Stream) throws(OwnDecodingError) -> Clip.Primaries {
        if isUnstated(stream.primaries) { return .bt709 }
        guard let primaries = Clip.Primaries(rawValue: stream.primaries ?? "") else {
            throw .unsupported("colours of the primaries '\(shown(stream.primaries ?? ""))'", remedy: hdrRemedy)
        }
        return primaries
    }

    private static func transfer(_ stream: Stream) throws(OwnDecodingError) -> Clip.Transfer {
        if stream.sideData?.contains(where: { $0.kind?.hasPrefix("DOVI") ?? false }) ?? false {
            throw .unsupported("colours of Dolby Vision", remedy: hdrRemedy)
        }
        if isUnstated(stream.transfer) { return .bt709 }
        if ["smpte2084", "arib-std-b67"].contains(stream.transfer) {
            throw .unsupported("a high dynamic range ('\(shown(stream.transfer ?? ""))')", remedy: hdrRemedy)
        }
        guard let transfer = Clip.Transfer(rawValue: stream.transfer ?? "") else {
            throw .unsupported("colours with the curve '\(shown(stream.transfer ?? ""))'", remedy: hdrRemedy)
        }
        return transfer
    }

    /// A foreign word in a message.
    private static func shown(_ word: String) -> String {
        String(decoding: word.utf8.prefix(40).filter { (33...126).contains($0) }, as: UTF8.self)
    }
}
