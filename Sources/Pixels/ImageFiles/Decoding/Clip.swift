import Catalogs
import Geometry
import Raster

/// The video that Penumbra takes from a clip: its pictures, their times, and the sound beside them.
///
/// ffprobe describes a clip, and ffmpeg decodes it (``ClipProgram``). Nothing that they say is believed: numbers have limits, and words are
/// those of a list.
package struct Clip: Hashable, Sendable, Codable {
    /// How ffmpeg opens the file, whatever is in it.
    package let container: Container
    /// The number of its video stream.
    let stream: Int
    /// The size of its pictures, upright.
    package let width: Int
    package let height: Int
    let matrix: Matrix
    let isFullRange: Bool
    /// What the file says of its colours. A video of the clip says the same.
    package let primaries: Primaries
    package let transfer: Transfer
    package let sounds: [Sound]
    package let timing: ClipTiming

    /// The number of pictures.
    package var frames: Int { timing.counts.count }

    /// The memory of ffmpeg while it decodes, in bytes: rough, measured with H.264.
    package var decodingMemory: Int { 60_000_000 + 40 * width * height }

    package enum Container: String, Hashable, Sendable, Codable {
        /// MP4 and QuickTime.
        case mov
        /// Matroska and WebM.
        case matroska
    }

    /// How brightness and colours are computed from red, green and blue.
    enum Matrix: String, Hashable, Sendable, Codable {
        case bt709
        case smpte170m
        case bt470bg
    }

    package enum Primaries: String, Hashable, Sendable, Codable {
        case bt709
        case smpte170m
        case bt470bg
    }

    package enum Transfer: String, Hashable, Sendable, Codable {
        case bt709
        case smpte170m
        case sRGB = "iec61966-2-1"
    }

    /// A stream of sound.
    package struct Sound: Hashable, Sendable, Codable {
        package let stream: Int
        /// ffmpeg's name of its codec.
        package let codec: String
        /// Three letters. Nil if the file does not state it.
        package let language: String?

        /// ffmpeg gets no other text that a file states.
        var hasLanguage: Bool {
            language.map {
                $0.utf8.count == 3 && $0.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
            }
                ?? false
        }
    }

    /// The most pictures of a clip, as pages of other files.
    package static let mostFrames = 65_536
    /// The most rows of all pictures together.
    package static let mostRows = 10_000_000
    /// The longest side of a picture, as that of a video that is written.
    static let longestSide = 16_384

    /// The most pictures of this height.
    static func mostFrames(ofHeight height: Int) -> Int { min(mostFrames, mostRows / max(1, height)) }
}

/// What ffmpeg is asked about a clip. It is sent to another process, which makes the arguments of it.
package struct ClipQuestion: Hashable, Sendable, Codable {
    package let container: Clip.Container
    package let kind: Kind

    package init(container: Clip.Container, kind: Kind) { (self.container, self.kind) = (container, kind) }

    package enum Kind: Hashable, Sendable, Codable {
        /// Its streams, of ffprobe.
        case streams
        /// The times of the pictures of a stream, of ffprobe, which decodes them.
        case times(stream: Int, most: Int)
        /// The pictures, of ffmpeg: red, green and blue of 8 bits.
        case pictures(ClipPictures)
    }

    /// Whether ffprobe answers.
    package var isForProbe: Bool {
        if case .pictures = kind { false } else { true }
    }

    /// The arguments of ffprobe or ffmpeg. Nil if a number is not possible.
    ///
    /// The same file gives the same pictures on every processor: there is one thread, and all arithmetic is exact.
    ///
    /// - Parameter file: the name of the file.
    package func arguments(for file: String) -> [String]? {
        let input =
            ["-protocol_whitelist", "file,pipe", "-max_pixels", "\(Clip.longestSide * Clip.longestSide)"]
            + ["-threads", "1", "-flags", "+bitexact", "-f", container.rawValue, "-i", "file:\(file)"]
        switch kind {
        case .streams:
            return ["-v", "error"] + input
                + ["-show_entries", Self.entries, "-of", "json=compact=1"]
        case .times(let stream, let most):
            guard (0...Self.mostStreams).contains(stream), (1...2 * Clip.mostFrames).contains(most) else { return nil }
            return ["-v", "error"] + input
                + ["-select_streams", "\(stream)", "-read_intervals", "%+#\(most)", "-show_entries"]
                + ["frame=best_effort_timestamp,pkt_duration,duration", "-of", "default=nw=1"]
        case .pictures(let pictures):
            guard let filters = pictures.filters, (0...Self.mostStreams).contains(pictures.stream) else { return nil }
            return ["-nostdin", "-nostats", "-v", "error", "-xerror"] + input
                + ["-map", "0:\(pictures.stream)", "-vf", filters, "-vsync", "passthrough"]
                + (pictures.isFirstOnly ? ["-frames:v", "1"] : []) + ["-f", "rawvideo", "pipe:1"]
        }
    }

    private static let entries =
        "stream=index,codec_type,codec_name,width,height,pix_fmt,color_range,color_space,color_transfer,color_primaries"
        + ",field_order,sample_aspect_ratio,r_frame_rate,avg_frame_rate,time_base"
        + ":stream_disposition=attached_pic:stream_tags=language,alpha_mode:stream_side_data=side_data_type,rotation"
        + ":format=start_time,duration"

    /// The highest number of a stream.
    static let mostStreams = 1000
}

/// Which pictures of a clip are decoded, and how.
package struct ClipPictures: Hashable, Sendable, Codable {
    let stream: Int
    let width: Int
    let height: Int
    let matrix: Clip.Matrix
    let isFullRange: Bool
    let isFirstOnly: Bool

    /// ffmpeg has turned the pictures upright before. Pictures of another size than the first get its size.
    fileprivate var filters: String? {
        let sides = 1...Clip.longestSide
        guard sides.contains(width), sides.contains(height) else { return nil }
        let options = [
            "\(width):\(height)", "flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp+bitexact",
            "in_color_matrix=\(matrix.rawValue)", "in_range=\(isFullRange ? "pc" : "tv")", "out_range=pc",
        ]
        return "scale=\(options.joined(separator: ":")),format=rgb24"
    }
}

/// ffmpeg, as far as clips need it.
package protocol ClipProgram {
    /// The answer of ffprobe, at most `limit` bytes.
    ///
    /// - Parameter file: an open file.
    func answer(to question: ClipQuestion, _ file: Int32, limit: Int) throws(OwnDecodingError) -> [UInt8]

    /// Begins to decode a clip.
    func pictures(_ question: ClipQuestion, _ file: Int32) throws(OwnDecodingError) -> any ClipPicturesReader
}

/// The bytes of pictures, in order.
package protocol ClipPicturesReader: AnyObject {
    /// Fills a buffer with the next bytes.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(OwnDecodingError)
    /// Waits for ffmpeg's end. There must be no further bytes, and no damage.
    func finish() throws(OwnDecodingError)
}

extension Clip {
    /// Asks ffprobe about a file.
    ///
    /// - Throws: an error for a clip that Penumbra does not read.
    init(
        _ file: InputFile, _ container: Container, _ program: some ClipProgram
    ) throws(OwnDecodingError) {
        let answer = try program.answer(
            to: ClipQuestion(container: container, kind: .streams), file.number, limit: 1 << 20)
        let description = try ClipDescription(answer)
        let video = try description.video()
        try description.checkDuration(of: video)
        let most = Self.mostFrames(ofHeight: video.height)
        let times = try program.answer(
            to: ClipQuestion(container: container, kind: .times(stream: video.stream, most: most + 1)), file.number,
            limit: 1 << 23)
        let timing = try ClipTiming(
            ClipTimes(times), rates: video.rates, base: video.timeBase, start: description.start)
        guard timing.counts.count <= most else { throw Self.tooLong(height: video.height) }
        self.container = container
        (stream, width, height) = (video.stream, video.width, video.height)
        (matrix, isFullRange) = (video.matrix, video.isFullRange)
        (primaries, transfer) = (video.primaries, video.transfer)
        sounds = description.sounds
        self.timing = timing
    }

    static func tooLong(height: Int) -> OwnDecodingError {
        let most = mostFrames(ofHeight: height)
        return .unsupported(
            "more than \(most) frames of \(height) rows", remedy: "cut it into parts of at most \(most) frames")
    }

    /// The pictures, one below the other.
    ///
    /// - Parameter isFirstOnly: whether only the first picture is wanted.
    func picture(
        of file: InputFile, _ program: some ClipProgram, isFirstOnly: Bool
    ) -> OwnPicture {
        let shape = ImageShape(
            width: width, height: isFirstOnly ? height : height * frames, layout: .rgb, sampleFormat: .u8)
        let question = ClipQuestion(
            container: container,
            kind: .pictures(
                ClipPictures(
                    stream: stream, width: width, height: height, matrix: matrix, isFullRange: isFullRange,
                    isFirstOnly: isFirstOnly)))
        var reader: (any ClipPicturesReader)?
        var picture = OwnPicture(shape: shape) { rows in
            let source = try reader ?? program.pictures(question, file.number)
            reader = source
            let band = try AnyRaster(
                rect: PixelRect(columns: 0..<shape.width, rows: rows), layout: .rgb, format: .u8
            ) { try source.read(into: $0) }
            // Damage is found before the last rows are given out.
            if rows.upperBound == shape.height { try source.finish() }
            return band
        }
        picture.frames = OwnPicture.Frames(count: frames, height: height, durations: nil, repetitions: 0)
        return picture
    }
}

/// When the pictures of a clip are shown, as pictures of a constant rate.
package struct ClipTiming: Hashable, Sendable, Codable {
    package let rate: FrameRate
    /// For each picture, the number of the video's pictures that show it. 0 for a picture that comes too soon after another one.
    package let counts: [Int]
    /// Whether the clip itself has a constant rate.
    package let isConstant: Bool

    /// The rates that clips without a constant rate get.
    private static let usualRates = [24, 25, 30, 50, 60, 120, 240]
    /// A usual rate may lose one of so many pictures. Fast parts of a clip need a higher one.
    private static let mostLost = 20
    /// The most pictures of the video.
    private static let mostShown = 4 * Clip.mostFrames

    /// - Parameters:
    ///   - rates: the rates that ffmpeg supposes.
    ///   - base: the unit of times, in seconds.
    ///   - start: the time when the file begins, in seconds.
    init(_ times: ClipTimes, rates: [FrameRate], base: Double, start: Double) throws(OwnDecodingError) {
        let seconds = times.starts.map { Double($0) * base - start }
        guard let first = seconds.first, let last = seconds.last else { throw .broken("it has no pictures") }
        guard seconds.allSatisfy({ (-1e6...1e6).contains($0) }) else {
            throw .unsupported("times of \(Int(1e6)) seconds and more")
        }
        func isConstant(_ rate: FrameRate) -> Bool {
            seconds.indices.allSatisfy { abs((seconds[$0] - first) * rate.value - Double($0)) < 0.25 }
        }
        if let rate = rates.first(where: { $0.isUsual && isConstant($0) }) {
            (self.rate, self.isConstant) = (rate, true)
            // The first picture stands for a time before it, in which there may be sound already. Some codecs of sound begin a fraction
            // of a picture earlier.
            counts = [1 + Int(max(0, first * rate.value + 0.25))] + [Int](repeating: 1, count: seconds.count - 1)
        } else {
            let mean = last > first ? Double(seconds.count - 1) / (last - first) : 1
            let fitting = Self.usualRates.filter { Double($0) >= 0.99 * mean }
            guard let lowest = fitting.first else {
                throw .unsupported("more than \(FrameRate.most) frames a second")
            }
            let ends = seconds.dropFirst() + [last + min(times.lastDuration.map { Double($0) * base } ?? 0, 1e6)]
            let ways = fitting.map { ($0, Self.counts(until: ends, rate: $0)) }
                .filter { $0.1.reduce(0, +) <= Self.mostShown }
            func lost(_ counts: [Int]) -> Int { counts.count { $0 == 0 } }
            let way =
                ways.first { Self.mostLost * lost($0.1) <= $0.1.count } ?? ways.min { lost($0.1) < lost($1.1) }
                ?? (lowest, Self.counts(until: ends, rate: lowest))
            (rate, counts, self.isConstant) = (FrameRate(way.0, 1), way.1, false)
        }
        guard counts.reduce(0, +) <= Self.mostShown else {
            throw .unsupported(
                "pictures that stay for hours", remedy: "cut it into parts, or give it a constant rate with ffmpeg")
        }
    }
}

extension ClipTiming {
    /// How many pictures of a constant rate show each picture of a clip. What is shown at a time is never further than half a picture from
    /// the clip, so that the sound fits.
    ///
    /// - Parameter ends: when each picture ends, in seconds.
    private static func counts(until ends: some Sequence<Double>, rate: Int) -> [Int] {
        var shown = 0
        var counts = ends.map { end in
            let count = max(0, Int((end * Double(rate)).rounded()) - shown)
            shown += count
            return count
        }
        // A video has a picture.
        if shown == 0, !counts.isEmpty { counts[0] = 1 }
        return counts
    }
}

/// A number of pictures in a number of seconds.
package struct FrameRate: Hashable, Sendable, Codable {
    package let frames: Int
    package let seconds: Int

    package init(_ frames: Int, _ seconds: Int) { (self.frames, self.seconds) = (frames, seconds) }

    /// - Parameter text: `30000/1001`.
    init?(_ text: String) {
        let parts = text.split(separator: "/").map { Int($0) }
        guard parts.count == 2, let frames = parts[0], let seconds = parts[1] else { return nil }
        self.init(frames, seconds)
    }

    var value: Double { Double(frames) / Double(seconds) }

    static let most = 240

    /// Whether a video can have it.
    package var isUsual: Bool {
        (1...1_000_000_000).contains(frames) && (1...1_000_000_000).contains(seconds)
            && (0.01...Double(Self.most)).contains(value)
    }
}

/// The times of a clip's pictures, in ffprobe's words.
struct ClipTimes {
    private(set) var starts: [Int] = []
    /// Nil if it is unknown.
    private(set) var lastDuration: Int?

    init(_ bytes: [UInt8]) throws(OwnDecodingError) {
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let parts = line.split(separator: UInt8(ascii: "="), maxSplits: 1)
            guard parts.count == 2 else { continue }
            let number = Int(String(decoding: parts[1], as: UTF8.self))
            switch String(decoding: parts[0], as: UTF8.self) {
            case "best_effort_timestamp":
                guard let number else { throw .unsupported("pictures without times") }
                starts.append(number)
                lastDuration = nil
            case "pkt_duration", "duration": lastDuration = number.map { max(0, $0) } ?? lastDuration
            default: break
            }
        }
    }
}
