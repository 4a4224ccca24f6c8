package import Catalogs
package import Geometry

/// A format that ffmpeg writes, at a constant frame rate, from 8-bit frames in sRGB. Files have no metadata.
package protocol VideoFormat: ClipFormat {
    /// The codec's library, as a prefix of its file name: `libx264`.
    var library: String { get }
    /// The codecs of sound that a file can hold, as ffmpeg names them.
    var soundCodecs: Set<String> { get }
    /// Whether a frame has an even width and height. If not, its last column and row are repeated.
    var isEven: Bool { get }

    /// The options of ffmpeg behind its input: codec, quality and container.
    func arguments(quality: Int, effort: Int) -> [String]

    /// The position where the parts of a file end that ffmpeg has written, by the sizes that they state. Nil if a part is missing, or
    /// states no size. ffmpeg 5.1 does not fail if the disk becomes full while it writes the last bytes.
    func statedEnd(_ bytes: (_ offset: Int, _ count: Int) -> [UInt8]?) -> Int?
}

extension VideoFormat {
    package var holdsGray: Bool { false }
    package var holdsProfile: Bool { false }
    package var keepsLayout: Bool { false }
    package func isLossless(_ layout: PixelLayout, options: FormatOptions) -> Bool { false }

    package func saver(for shape: ImageShape, options: FormatOptions) throws(SaveError) -> Saver {
        throw .unsuitable("ffmpeg writes it")
    }

    /// The memory of ffmpeg in bytes: rough, measured from 640 × 360 to 3840 × 2160 pixels.
    package func memory(for frame: PixelRect) -> Int { 70_000_000 + 200 * frame.area }

    fileprivate static func writing(
        _ name: String, largestSide: Int, effort: ClosedRange<Int>, usualEffort: Int
    ) -> FormatDescriptor {
        FormatDescriptor(
            name: name, extensions: [name], canRead: true, canWrite: true, sampleFormats: [.u8], holdsAlpha: false,
            holdsProfile: false, holdsTexts: false, frameTime: 1, isVideo: true, isLossless: false,
            largestSide: largestSide,
            options: [
                ParameterDescriptor(
                    "quality", .integer(minimum: 1, maximum: 100), fallback: .integer(70),
                    summary: "Sets how much detail is kept"),
                ParameterDescriptor(
                    "effort", .integer(minimum: effort.lowerBound, maximum: effort.upperBound),
                    fallback: .integer(usualEffort),
                    summary:
                        "Sets the effort. \(effort.lowerBound) is fastest, \(effort.upperBound) makes the smallest files"
                ),
                ParameterDescriptor(
                    "sound", .boolean, fallback: .boolean(true), summary: "Keeps the sound of a clip, without a change"),
            ])
    }

    /// A constant rate factor between two values, for a quality of 1 and of 100, in tenths.
    fileprivate func rateFactor(_ quality: Int, worst: Int, best: Int) -> Int {
        let steps = min(max(quality, 1), 100) - 1
        return 10 * worst - (10 * (worst - best) * steps + 49) / 99
    }
}

/// MP4 with H.264, which all browsers and players show.
package struct MP4Format: VideoFormat {
    package let title = "MP4"
    package let cost = CodecCost(decode: 10, encode: 40)
    package let container = Clip.Container.mov
    package let soundCodecs: Set<String> = ["aac", "mp3", "ac3", "eac3", "opus", "flac", "alac"]
    package let library = "libx264"
    // The colours of 2 × 2 pixels are stored once.
    package let isEven = true
    package let descriptor: FormatDescriptor = Self.writing("mp4", largestSide: 16384, effort: 0...8, usualEffort: 5)

    package init() {}

    package func recognizes(_ head: [UInt8]) -> Bool { ClipHead(head) == .mp4 }

    private static let presets = [
        "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow",
    ]

    package func arguments(quality: Int, effort: Int) -> [String] {
        let preset = Self.presets[min(max(effort, 0), Self.presets.count - 1)]
        let factor = rateFactor(quality, worst: 51, best: 8)
        return [
            "-c:v", "libx264", "-preset", preset, "-crf", "\(factor / 10).\(factor % 10)", "-pix_fmt", "yuv420p",
            // Some of its decisions would otherwise depend on the processor.
            "-x264-params", "cpu-independent=1",
            // The index comes first, so that a browser can begin before it has the whole file.
            "-movflags", "+faststart", "-f", "mp4",
        ]
    }

    package func statedEnd(_ bytes: (_ offset: Int, _ count: Int) -> [UInt8]?) -> Int? {
        MovieBoxes(bytes).flatMap {
            $0.names.isSuperset(of: ["moov", "mdat"]) && $0.end < MovieBoxes.most ? $0.end : nil
        }
    }
}

/// WebM with VP9: smaller than MP4, and slower to write.
package struct WebMFormat: VideoFormat {
    package let title = "WebM"
    package let cost = CodecCost(decode: 10, encode: 150)
    package let container = Clip.Container.matroska
    package let soundCodecs: Set<String> = ["opus", "vorbis"]
    package let library = "libvpx"
    package let isEven = false
    package let descriptor: FormatDescriptor = Self.writing("webm", largestSide: 16384, effort: 0...5, usualEffort: 3)

    package init() {}

    package func recognizes(_ head: [UInt8]) -> Bool { ClipHead(head) == .webM }

    package func arguments(quality: Int, effort: Int) -> [String] {
        let speed = 5 - min(max(effort, 0), 5)
        return [
            "-c:v", "libvpx-vp9", "-deadline", "good", "-cpu-used", "\(speed)", "-row-mt", "0",
            "-crf", "\(rateFactor(quality, worst: 63, best: 10) / 10)", "-b:v", "0", "-pix_fmt", "yuv420p", "-f",
            "webm",
        ]
    }

    package func statedEnd(_ bytes: (_ offset: Int, _ count: Int) -> [UInt8]?) -> Int? { MatroskaParts.end(bytes) }
}
