import Catalogs
import Foundation
import Geometry
import ImageFiles
import JobModel
import Raster
import Testing

/// The frames of videos, and what ffmpeg is told of them.
@Suite struct VideoTests {
    // MARK: Colours

    /// By definition (ITU-R BT.709, narrow range), in double precision.
    private func planes(_ picture: Raster<UInt8>, width: Int, height: Int) -> [Double] {
        func sample(_ x: Int, _ y: Int, _ channel: Int) -> Double {
            let column = min(max(x, 0), picture.rect.width - 1)
            let row = min(max(y, 0), picture.rect.height - 1)
            return Double(picture.samples[(row * picture.rect.width + column) * 3 + channel]) / 255
        }
        func luma(_ color: [Double]) -> Double { 0.2126 * color[0] + 0.7152 * color[1] + 0.0722 * color[2] }
        var result: [Double] = []
        for y in 0..<height {
            for x in 0..<width { result.append(16 + 219 * luma((0..<3).map { sample(x, y, $0) })) }
        }
        for (channel, scale) in [(2, 1.8556), (0, 1.5748)] {
            for y in stride(from: 0, to: height, by: 2) {
                for x in stride(from: 0, to: width, by: 2) {
                    let mean = (0..<3).map { channel in
                        [(-1, 1.0), (0, 2.0), (1, 1.0)].reduce(0) { sum, tap in
                            sum + tap.1 * (sample(x + tap.0, y, channel) + sample(x + tap.0, y + 1, channel)) / 8
                        }
                    }
                    result.append(128 + 224 * (mean[channel] - luma(mean)) / scale)
                }
            }
        }
        return result
    }

    @Test(arguments: [(1, 1, 2, 2), (1, 1, 1, 1), (5, 3, 6, 4), (5, 3, 5, 3), (24, 18, 24, 18), (31, 2, 32, 2)])
    func `planes are those of BT 709, to half a step and a little`(
        width: Int, height: Int, paddedWidth: Int, paddedHeight: Int
    ) {
        let rect = PixelRect(x: 0, y: 0, width: width, height: height)
        var state: UInt32 = 7
        let samples = (0..<rect.area * 3).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(state >> 24)
        }
        let picture = Raster(rect: rect, layout: .rgb, samples: samples)
        let bytes = VideoPlanes.bytes(of: picture, width: paddedWidth, height: paddedHeight)
        let expected = planes(picture, width: paddedWidth, height: paddedHeight)
        #expect(bytes.count == VideoPlanes.byteCount(width: paddedWidth, height: paddedHeight))
        #expect(bytes.count == expected.count)
        #expect(zip(bytes, expected).allSatisfy { abs(Double($0) - $1) < 0.501 })
    }

    @Test func `gray has no colour, from 16 to 235`() {
        for (level, luma) in [(UInt8(0), UInt8(16)), (255, 235), (128, 126)] {
            let picture = Raster<UInt8>(
                rect: PixelRect(x: 0, y: 0, width: 2, height: 2), layout: .rgb, repeating: level)
            #expect(VideoPlanes.bytes(of: picture, width: 2, height: 2) == [luma, luma, luma, luma, 128, 128])
        }
    }

    // MARK: Times

    private func timing(_ delays: [Int], rate: Double? = nil) -> VideoTiming {
        timing(delays.map(FrameDuration.init(milliseconds:)), rate: rate)
    }

    private func timing(_ durations: [FrameDuration], rate: Double? = nil) -> VideoTiming {
        VideoTiming(ImageMetadata.Animation(durations: durations, repetitions: 0, rate: rate))
    }

    @Test func `a constant rate stays, and a held frame is shown as often as it lasts`() {
        let timeline = Timeline(duration: 0.2, fps: 30, hold: Timeline.Hold(first: 0.5, last: 1))
        let timing = VideoTiming(ImageMetadata.Animation(timeline))
        #expect(timing.milliRate == 30_000)
        #expect(timing.counts == [16, 1, 1, 1, 1, 1, 31])
        let television = VideoTiming(ImageMetadata.Animation(Timeline(duration: 10, fps: 29.97)))
        #expect(television.milliRate == 29_970 && television.counts.allSatisfy { $0 == 1 })
    }

    @Test(arguments: [
        (FrameDuration(1, 24), 24_000), (FrameDuration(1, 30), 30_000), (FrameDuration(1001, 30_000), 29_970),
        (FrameDuration(1, 60), 60_000),
    ])
    func `an animated PNG decides its rate exactly`(duration: FrameDuration, rate: Int) {
        let timing = timing(Array(repeating: duration, count: 500))
        #expect(timing.milliRate == rate && timing.counts.allSatisfy { $0 == 1 })
    }

    @Test func `the times of a GIF decide its rate`() {
        #expect(timing([40, 40, 40]) == timing([40, 40, 40], rate: 25))
        #expect(timing([100, 500, 200]).milliRate == 10_000)
        #expect(timing([100, 500, 200]).counts == [1, 5, 2])
    }

    @Test func `times without a common step become frames of a fiftieth of a second, and none is lost`() {
        let timing = timing([30, 70, 33, 11, 11, 11])
        #expect(timing.milliRate == 50_000)
        #expect(timing.counts == [2, 3, 2, 1, 1, 1])
    }

    @Test func `a frame without a time lasts a tenth of a second, as in browsers`() {
        #expect(timing([0, 10]) == timing([100, 100]))
        #expect(timing([Int]()).frames == 0)
    }

    // MARK: Arguments

    private func stream(_ name: String, _ values: [String: ParameterValue] = [:], width: Int = 31) throws -> VideoStream
    {
        let format = try #require(ImageFormats.named(name)?.video)
        return try VideoStream(
            ImageShape(width: width, height: 17, layout: .rgb, sampleFormat: .u8), timing([40, 40]), format: format,
            save: SaveOptions(values: values), path: "a.\(name)")
    }

    @Test func `MP4 gets even sides, and WebM the size of the pictures`() throws {
        #expect(try (stream("mp4").width, stream("mp4").height) == (32, 18))
        #expect(try (stream("webm").width, stream("webm").height) == (31, 17))
    }

    @Test(arguments: [("mp4", "51.0", "21.0", "8.0"), ("webm", "63", "26", "10")])
    func `quality becomes a rate factor`(name: String, worst: String, usual: String, best: String) throws {
        for (quality, factor) in [(ParameterValue.integer(1), worst), (nil, usual), (.integer(100), best)] {
            let arguments = try #require(
                try stream(name, quality.map { ["quality": $0] } ?? [:]).arguments(to: "/f"))
            let place = try #require(arguments.firstIndex(of: "-crf"))
            #expect(arguments[place + 1] == factor)
        }
    }

    @Test func `what a worker sends cannot become another argument`() throws {
        let good = try stream("mp4")
        #expect(good.arguments(to: "/proc/self/fd/3")?.last == "file:/proc/self/fd/3")
        func arguments(_ changes: [String: Any]) throws -> [String]? {
            var fields = try #require(
                JSONSerialization.jsonObject(with: JSONEncoder().encode(good)) as? [String: Any])
            fields.merge(changes) { $1 }
            return try JSONDecoder().decode(VideoStream.self, from: JSONSerialization.data(withJSONObject: fields))
                .arguments(to: "/f")
        }
        #expect(try arguments(["format": "png"]) == nil)
        #expect(try arguments(["format": "-i"]) == nil)
        #expect(try arguments(["width": 0]) == nil)
        #expect(try arguments(["height": 100_000]) == nil)
        #expect(try arguments(["milliRate": -1]) == nil)
        #expect(try arguments(["effort": 99])?.contains("veryslow") == true)
    }

    // MARK: Whole files

    private func end(_ name: String, _ file: [UInt8]) throws -> Int? {
        try #require(ImageFormats.named(name)?.video).statedEnd { offset, count in
            offset + count <= file.count ? Array(file[offset..<offset + count]) : nil
        }
    }

    private func box(_ name: String, _ count: Int, size: [UInt8]? = nil) -> [UInt8] {
        (size ?? [0, 0, 0, UInt8(8 + count)]) + Array(name.utf8) + [UInt8](repeating: 7, count: count)
    }

    @Test func `an MP4 ends with its last box`() throws {
        let whole: [UInt8] = box("ftyp", 4) + box("moov", 20) + box("mdat", 9)
        #expect(try end("mp4", whole) == whole.count)
        #expect(try end("mp4", Array(whole.dropLast(3))) == whole.count)
        #expect(try end("mp4", box("ftyp", 4) + box("mdat", 9)) == nil)
        #expect(try end("mp4", box("moov", 4) + box("mdat", 9, size: [0, 0, 0, 0])) == nil)
        #expect(try end("mp4", []) == nil)
        let largeSize: [UInt8] = [0, 0, 0, 1] + Array("mdat".utf8)
        let long: [UInt8] = box("moov", 4) + largeSize + [0, 0, 0, 0, 0, 0, 0, 20, 1, 2, 3, 4]
        #expect(try end("mp4", long) == long.count)
        let huge: [UInt8] = box("moov", 4) + largeSize + [UInt8](repeating: 255, count: 8)
        #expect(try end("mp4", huge) == nil)
        #expect(try end("mp4", huge + huge) == nil)
    }

    @Test func `a WebM ends with its segment`() throws {
        let header: [UInt8] = [0x1A, 0x45, 0xDF, 0xA3, 0x82, 1, 2]
        let segment: [UInt8] = [0x18, 0x53, 0x80, 0x67, 0x10, 0, 0, 3, 7, 7, 7]
        #expect(try end("webm", header + segment) == 18)
        #expect(try end("webm", header + segment.dropLast()) == 18)
        #expect(try end("webm", header) == nil)
        #expect(try end("webm", segment) == nil)
        let unknown: [UInt8] = [0x18, 0x53, 0x80, 0x67, 0x01] + [UInt8](repeating: 255, count: 7)
        #expect(try end("webm", header + unknown) == nil)
        #expect(try end("webm", header + [0x18, 0x53, 0x80, 0x67, 0, 0]) == nil)
    }

    // MARK: Refusals

    @Test func `a wrong option and too large pictures are refused`() {
        #expect(throws: ImageFileError(path: "a.mp4", .option(format: "MP4", name: "quality"))) {
            try stream("mp4", ["quality": .integer(0)])
        }
        #expect(
            throws: ImageFileError(
                path: "a.mp4", .tooLarge(format: "MP4", width: 16385, height: 17, largestSide: 16384))
        ) { try stream("mp4", width: 16385) }
    }
}
