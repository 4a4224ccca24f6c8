import Catalogs
import Foundation
import ImageFiles
import JobModel
import Raster
import Testing

/// Clips, with a program in place of ffmpeg and ffprobe.
@Suite struct ClipTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
    }

    /// Says what a test wants, and gives pictures whose samples count up.
    private final class FakeProgram: ClipProgram {
        var streams: String
        var times: String
        /// The number of pictures that it decodes.
        var pictures = 0
        private(set) var questions: [ClipQuestion] = []

        init(_ streams: String, times: String) { (self.streams, self.times) = (streams, times) }

        func answer(to question: ClipQuestion, _ file: Int32, limit: Int) throws(OwnDecodingError) -> [UInt8] {
            questions.append(question)
            return Array((question.isForProbe && questions.count == 1 ? streams : times).utf8)
        }

        func pictures(_ question: ClipQuestion, _ file: Int32) throws(OwnDecodingError) -> any ClipPicturesReader {
            questions.append(question)
            return Reader(bytes: pictures * 4 * 2 * 3)
        }

        private final class Reader: ClipPicturesReader {
            private var bytes: Int
            private var next: UInt8 = 0

            init(bytes: Int) { self.bytes = bytes }

            func read(into buffer: UnsafeMutableRawBufferPointer) throws(OwnDecodingError) {
                guard buffer.count <= bytes else { throw .broken("there is no more") }
                for index in buffer.indices {
                    buffer[index] = next
                    next &+= 1
                }
                bytes -= buffer.count
            }

            func finish() throws(OwnDecodingError) {
                guard bytes == 0 else { throw .broken("there is more") }
            }
        }
    }

    private static let good: [String: any Sendable] = [
        "index": 0, "codec_type": "video", "codec_name": "h264", "width": 4, "height": 2, "pix_fmt": "yuv420p",
        "sample_aspect_ratio": "1:1", "field_order": "progressive", "r_frame_rate": "25/1", "avg_frame_rate": "25/1",
        "time_base": "1/100",
    ]

    private func json(_ changes: [String: Any] = [:], more: [[String: Any]] = [], duration: String = "0.12") throws
        -> String
    {
        let good: [String: Any] = Self.good
        let streams = [good.merging(changes) { $1 }] + more
        let format = ["start_time": "0.000000", "duration": duration]
        return String(
            decoding: try JSONSerialization.data(withJSONObject: ["streams": streams, "format": format]),
            as: UTF8.self)
    }

    private func lines(_ times: [Int], last: Int? = nil) -> String {
        times.map { "best_effort_timestamp=\($0)\n" }.joined() + (last.map { "pkt_duration=\($0)\n" } ?? "")
    }

    private static let mp4 = [0, 0, 0, 16] + Array("ftypisom0000mp42".utf8.prefix(12))

    private func decoder(_ program: FakeProgram?, _ head: [UInt8] = mp4, pages: PageChoice = .animation) throws
        -> ImageDecoder
    {
        _ = try workspace.write(head, to: "clip")
        return try ImageDecoder(
            path: workspace.path("clip"), name: "clip", limits: .roomy, color: .keep, pages: pages, clips: program)
    }

    private func clip(_ program: FakeProgram) throws -> Clip { try #require(try decoder(program).clip) }

    // MARK: Pictures

    @Test func `a clip is an animation whose frames come one after the other`() throws {
        let program = FakeProgram(try json(), times: lines([0, 4, 8]))
        program.pictures = 3
        let decoder = try decoder(program)
        #expect((decoder.header.formatName, decoder.header.frames, decoder.header.pages) == ("mp4", 3, 3))
        #expect((decoder.header.width, decoder.header.height, decoder.header.layout) == (4, 2, .rgb))
        var first: [UInt8] = []
        try decoder.readFrames { picture in
            guard case .u8(let raster) = picture else { return }
            first.append(raster.samples[0])
        }
        #expect(first == [0, 24, 48])
    }

    @Test func `the first picture alone is one that ffmpeg decodes alone`() throws {
        let program = FakeProgram(try json(), times: lines([0, 4, 8]))
        program.pictures = 1
        let decoder = try decoder(program, pages: .first)
        #expect((decoder.header.frames, decoder.header.pages) == (1, 3))
        try decoder.readRows(bandHeight: 2) { _ in }
        let question = try #require(program.questions.last)
        #expect(question.arguments(for: "/f")?.contains("-frames:v") == true)
    }

    @Test(arguments: [(2, "there is no more"), (4, "there is more")])
    func `other numbers of pictures than those of ffprobe are damage`(pictures: Int, detail: String) throws {
        let program = FakeProgram(try json(), times: lines([0, 4, 8]))
        program.pictures = pictures
        let decoder = try decoder(program)
        let error = #expect(throws: ImageFileError.self) { try decoder.readFrames { _ in } }
        // libvips asks for many rows at once.
        #expect(error?.description == "clip: broken MP4: only 0 of 3 frames can be decoded (\(detail))")
        #expect(error?.kind == .data)
    }

    @Test func `a turned clip has its sides exchanged`() throws {
        let side = [["side_data_type": "Display Matrix", "rotation": -90]]
        let clip = try clip(FakeProgram(try json(["side_data_list": side]), times: lines([0, 4])))
        #expect((clip.width, clip.height) == (2, 4))
    }

    @Test func `no picture is wanted where a clip is`() throws {
        let error = #expect(throws: ImageFileError.self) { try decoder(nil) }
        #expect(
            error?.description
                == "clip: MP4 with moving pictures, which Penumbra does not read; a picture is needed here")
    }

    @Test func `frames of a clip are no pages`() throws {
        let program = FakeProgram(try json(), times: lines([0, 4]))
        let error = #expect(throws: ImageFileError.self) { try decoder(program, pages: .page(1)) }
        #expect(
            error?.description
                == "clip: MP4 with frames that become pages, which Penumbra does not read; write a video, or take its pictures "
                + "out of it with ffmpeg first")
    }

    // MARK: Formats

    @Test func `the content decides the format, and not the name`() throws {
        let ebml: [UInt8] = [0x1A, 0x45, 0xDF, 0xA3, 0x8F, 0x42, 0x82]
        let heads: [([UInt8], String)] = [
            (Self.mp4, "mp4"), ([0, 0, 0, 12] + Array("ftypqt  ".utf8), "mov"),
            ([0, 0, 0, 0] + Array("wide0000".utf8), "mov"),
            (ebml + [0x84] + Array("webm".utf8), "webm"), (ebml + [0x88] + Array("matroska".utf8), "mkv"),
        ]
        for (head, name) in heads {
            let program = FakeProgram(try json(), times: lines([0, 4]))
            #expect(try decoder(program, head).header.formatName == name)
            let container = try #require(program.questions.first).container
            #expect(container == (["mp4", "mov"].contains(name) ? .mov : .matroska))
        }
        for head in [
            [0, 0, 0, 12] + Array("ftypM4A ".utf8), ebml + [0x84] + Array("text".utf8), Array(ebml.prefix(5)),
        ] {
            let error = #expect(throws: ImageFileError.self) {
                try decoder(FakeProgram("", times: ""), head + [UInt8](repeating: 0, count: 8))
            }
            #expect(error?.problem == .notAnImage)
        }
    }

    @Test func `a clip that is cut off is broken`() throws {
        let head = Self.mp4 + [0, 0, 1, 0] + Array("mdat1234".utf8)
        let error = #expect(throws: ImageFileError.self) { try decoder(FakeProgram("", times: ""), head) }
        #expect(error?.description == "clip: broken MP4: its parts have 272 bytes, and the file has 28")
        let segment: [UInt8] = [0x18, 0x53, 0x80, 0x67, 0xA0]
        let matroska = [0x1A, 0x45, 0xDF, 0xA3, 0x87, 0x42, 0x82, 0x84] + Array("webm".utf8) + segment
        let other = #expect(throws: ImageFileError.self) { try decoder(FakeProgram("", times: ""), matroska) }
        #expect(other?.description == "clip: broken WebM: its parts have 49 bytes, and the file has 17")
    }

    // MARK: Times

    private func timing(_ times: [Int], last: Int? = nil, rate: String = "25/1", mean: String = "25/1") throws
        -> ClipTiming
    {
        let rates = ["r_frame_rate": rate, "avg_frame_rate": mean]
        return try clip(FakeProgram(try json(rates), times: lines(times, last: last))).timing
    }

    @Test func `a constant rate stays as it is`() throws {
        #expect(try timing([0, 4, 8, 12]).counts == [1, 1, 1, 1])
        #expect(try timing([0, 4, 8, 12]).rate == FrameRate(25, 1))
        // Hundredths of a second, rounded.
        let rounded = try timing((0..<300).map { Int((Double($0) * 100 * 1001 / 30000).rounded()) }, rate: "30000/1001")
        #expect(rounded.rate == FrameRate(30000, 1001))
        #expect(rounded.isConstant && rounded.counts.allSatisfy { $0 == 1 })
        // ffmpeg supposes another rate at first.
        #expect(try timing([0, 4, 8, 12], rate: "90000/1").rate == FrameRate(25, 1))
    }

    @Test func `the first picture stands for the time before it, in whole frames`() throws {
        #expect(try timing([2, 6, 10]).counts == [1, 1, 1])
        #expect(try timing([40, 44, 48]).counts == [11, 1, 1])
    }

    @Test func `a variable rate becomes a usual one that shows fast parts, too`() throws {
        let timing = try timing([0, 4, 8, 20, 21, 22, 23, 24, 25, 26], last: 10)
        #expect(!timing.isConstant)
        #expect(timing.rate == FrameRate(120, 1))
        #expect(timing.counts == [5, 5, 14, 1, 1, 2, 1, 1, 1, 12])
        // Few pictures that come too soon are left out.
        let times = (0..<40).map { 4 * $0 + ($0 == 20 ? -3 : 0) } + [170, 180]
        let few = try self.timing(times, last: 4)
        #expect(few.rate == FrameRate(25, 1))
        #expect(few.counts.count { $0 == 0 } == 1)
    }

    @Test func `a picture is shown at its time, however fast those before it come`() throws {
        // 8 s of 10 pictures a second, then 4 s of 60.
        let times = (0..<80).map { $0 * 10 } + (0..<240).map { 800 + Int((Double($0) * 100 / 60).rounded()) }
        let timing = try timing(times, last: 2)
        #expect(timing.rate == FrameRate(60, 1))
        var shown = 0
        for (count, time) in zip(timing.counts, times) {
            #expect(abs(Double(shown) / 60 - Double(time) / 100) <= 0.5 / 60 + 1e-9)
            shown += count
        }
        #expect(shown == 720)
    }

    @Test func `times that do not grow make a video, too`() throws {
        let timing = try timing([0, 50, 50, 10])
        #expect(timing.counts.count == 4 && timing.counts.allSatisfy { $0 >= 0 })
        #expect(timing.counts.reduce(0, +) > 0)
    }

    @Test func `impossible times are refused`() throws {
        #expect(message(times: "") == "clip: broken MP4: it has no pictures")
        #expect(
            message(times: "best_effort_timestamp=N/A\n")
                == "clip: MP4 with pictures without times, which Penumbra does not read")
        #expect(
            message(times: lines([0, .max]))
                == "clip: MP4 with times of 1000000 seconds and more, which Penumbra does not read")
        #expect(
            message(times: lines([0, 4, 90_000_000]))
                == "clip: MP4 with pictures that stay for hours, which Penumbra does not read; cut it into parts, or give it a "
                + "constant rate with ffmpeg")
    }

    // MARK: Refusals

    private func message(_ changes: [String: Any] = [:], duration: String = "0.12", times: String? = nil) -> String? {
        do {
            let program = FakeProgram(try json(changes, duration: duration), times: times ?? lines([0, 4, 8]))
            _ = try decoder(program)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: [
        (["codec_type": "audio"], "sound, and no pictures, which Penumbra does not read"),
        (
            ["pix_fmt": "yuva420p"],
            "pixels of the kind yuva420p, which Penumbra does not read; convert it to yuv420p with ffmpeg first"
        ),
        (
            ["sample_aspect_ratio": "4:3"],
            "pixels that are not square (4:3), which Penumbra does not read; make them square with ffmpeg's filter 'scale' first"
        ),
        (
            ["field_order": "tt"],
            "interlaced pictures, which Penumbra does not read; make whole pictures with ffmpeg's filter 'yadif' first"
        ),
        (
            ["color_transfer": "smpte2084"],
            "a high dynamic range ('smpte2084'), which Penumbra does not read; convert it to BT.709 with ffmpeg first"
        ),
        (
            ["color_space": "bt2020nc"],
            "colours in the matrix 'bt2020nc', which Penumbra does not read; convert it to BT.709 with ffmpeg first"
        ),
        (
            ["color_primaries": "smpte432"],
            "colours of the primaries 'smpte432', which Penumbra does not read; convert it to BT.709 with ffmpeg first"
        ),
    ])
    func `other clips are refused with a way out`(changes: [String: String], words: String) {
        #expect(message(changes) == "clip: MP4 with \(words)")
    }

    @Test func `transparent pictures of a WebM are refused`() {
        #expect(
            message(["tags": ["alpha_mode": "1"]])
                == "clip: MP4 with transparent pictures, which Penumbra does not read; convert it to yuv420p with ffmpeg first"
        )
    }

    @Test func `sizes and lengths have limits, before anything is decoded`() {
        #expect(
            message(["width": 20000])
                == "clip: MP4 with 20000 × 2 pixels, which Penumbra does not read; no side may exceed 16384")
        #expect(message(["width": -1]) == "clip: broken MP4: ffmpeg finds no size of its pictures")
        #expect(
            message(["height": 1080], duration: "7200")
                == "clip: MP4 with more than 9259 frames of 1080 rows, which Penumbra does not read; cut it into parts of at most "
                + "9259 frames")
        #expect(
            message(["height": 2000, "width": 2000], times: lines((0...5000).map { 4 * $0 }))
                == "clip: MP4 with more than 5000 frames of 2000 rows, which Penumbra does not read; cut it into parts of at most "
                + "5000 frames")
    }

    @Test func `nonsense of ffprobe is no clip`() throws {
        let program = FakeProgram("{", times: "")
        let error = #expect(throws: ImageFileError.self) { try decoder(program) }
        #expect(
            error?.description
                == "clip: broken MP4: ffprobe describes it in another form than the one of ffmpeg 5")
        #expect(message(["index": 5000]) == "clip: MP4 with more than 1000 streams, which Penumbra does not read")
    }

    // MARK: Sound

    private func sounding(_ codec: String, language: String? = nil) throws -> Clip {
        var sound: [String: Any] = ["index": 1, "codec_type": "audio", "codec_name": codec]
        if let language { sound["tags"] = ["language": language] }
        return try clip(FakeProgram(try json(more: [sound]), times: lines([0, 4, 8])))
    }

    private func stream(_ clip: Clip, _ name: String = "mp4", sound: Bool = true) throws -> VideoStream {
        let format = try #require(ImageFormats.named(name)?.video)
        return try VideoStream(
            ImageShape(width: 4, height: 2, layout: .rgb, sampleFormat: .u8),
            VideoTiming(ImageMetadata.Animation(delays: [], repetitions: 0)), format: format,
            save: SaveOptions(values: ["sound": .boolean(sound)]), path: "a.\(name)", clip: clip)
    }

    @Test func `sound is copied with its language, and can be left out`() throws {
        let arguments = try #require(
            try stream(sounding("aac", language: "deu")).arguments(to: "/f", sound: "/s")
        ).joined(separator: " ")
        #expect(arguments.contains("-framerate 25/1"))
        #expect(arguments.contains("-f mov -i file:/s -map_metadata -1 -map 0:v:0 -map 1:1"))
        #expect(arguments.contains("-metadata:s:a:0 language=deu -map_chapters -1 -c:a copy -max_interleave_delta 0"))
        let silent = try #require(try stream(sounding("aac"), sound: false).arguments(to: "/f", sound: "/s"))
        #expect(!silent.contains("file:/s") && !silent.contains("-c:a"))
    }

    @Test func `a text of a file never becomes an argument`() throws {
        for language in ["de", "-x y", "DEU", "d=u", ""] {
            let arguments = try #require(
                try stream(sounding("aac", language: language)).arguments(to: "/f", sound: "/s"))
            #expect(!arguments.contains { $0.hasPrefix("language") })
        }
        #expect(try stream(sounding("-i")).arguments(to: "/f", sound: "/s") == nil)
        let question = ClipQuestion(container: .mov, kind: .times(stream: -1, most: 5))
        #expect(question.arguments(for: "/f") == nil)
    }

    @Test func `a format without place for the sound says which it holds`() throws {
        let (mp4, webM) = (
            try #require(ImageFormats.named("mp4")?.video), try #require(ImageFormats.named("webm")?.video)
        )
        #expect(try sounding("aac").soundObjection(to: mp4, save: SaveOptions()) == nil)
        #expect(
            try sounding("aac").soundObjection(to: webM, save: SaveOptions())
                == "has sound in the codec 'aac', which WebM does not hold; it holds opus, vorbis, and 'save: {sound: false}' leaves "
                + "the sound out")
        #expect(
            try sounding("aac").soundObjection(to: webM, save: SaveOptions(values: ["sound": .boolean(false)])) == nil)
    }

    // MARK: Colours

    @Test(
        arguments: [
            (["height": 576, "width": 720], "smpte170m", "tv"), (["height": 720, "width": 1280], "bt709", "tv"),
            (["color_space": "bt709", "color_range": "pc"], "bt709", "pc"),
            (["pix_fmt": "yuvj420p"], "smpte170m", "pc"),
            (["color_space": "bt470bg"], "bt470bg", "tv"),
        ] as [([String: any Sendable], String, String)])
    func `matrix and range are those of the file, or those that all players suppose`(
        changes: [String: any Sendable], matrix: String, range: String
    ) throws {
        let program = FakeProgram(try json(changes), times: lines([0, 4, 8]))
        let decoder = try decoder(program)
        // Only the first rows are asked for.
        #expect(throws: (any Error).self) { try decoder.readFrames { _ in } }
        let question = try #require(program.questions.last)
        let filters = try #require(question.arguments(for: "/f")).joined(separator: " ")
        #expect(filters.contains("in_color_matrix=\(matrix):in_range=\(range):out_range=pc,format=rgb24"))
    }

    @Test func `a video keeps what its clip says of colours`() throws {
        let changes = ["color_primaries": "smpte170m", "color_transfer": "smpte170m"]
        let clip = try clip(FakeProgram(try json(changes), times: lines([0, 4, 8])))
        let arguments = try #require(try stream(clip).arguments(to: "/f")).joined(separator: " ")
        #expect(arguments.contains("-colorspace bt709 -color_primaries smpte170m -color_trc smpte170m"))
    }
}
