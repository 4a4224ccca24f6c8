import Catalogs
import Geometry
import ImageFiles
import JobModel
import Raster
import TestSupport
import Testing

/// Animated PNG files, which Penumbra takes apart and puts together itself.
@Suite struct APNGTests {
    private let workspace: Workspace

    init() throws { workspace = try Workspace() }

    private struct Film {
        let header: ImageHeader
        let metadata: ImageMetadata
        let frames: [AnyRaster]
    }

    private func read(
        _ name: String = "film", _ pages: PageChoice = .animation, limits: DecodeLimits = .roomy
    ) throws -> Film {
        let decoder = try ImageDecoder(path: workspace.path(name), limits: limits, color: .keep, pages: pages)
        var frames: [AnyRaster] = []
        try decoder.readFrames { frames.append($0) }
        return Film(header: decoder.header, metadata: decoder.metadata, frames: frames)
    }

    private func film(_ builder: APNGBuilder, _ pages: PageChoice = .animation) throws -> Film {
        _ = try workspace.write(builder.build(), to: "film")
        return try read("film", pages)
    }

    /// What the message says behind the path.
    private func failure(_ bytes: [UInt8], _ pages: PageChoice = .animation) throws -> String {
        let path = try workspace.write(bytes, to: "film")
        let error = #expect(throws: ImageFileError.self) { try read("film", pages) }
        return String((error?.description ?? "").dropFirst(path.count + 2))
    }

    /// A picture of one colour.
    private static func plain(_ width: Int, _ height: Int, _ color: [UInt8]) -> PNGBuilder {
        PNGBuilder(
            width: width, height: height, colorType: color.count == 4 ? .rgba : .rgb,
            data: Array(repeatElement(color, count: width * height).joined()))
    }

    private static func gray(_ width: Int, _ height: Int, _ value: UInt8) -> PNGBuilder {
        PNGBuilder(
            width: width, height: height, colorType: .gray, data: Array(repeating: value, count: width * height))
    }

    // MARK: Reading

    @Test func `frames are drawn where they lie, and keep what they do not cover`() throws {
        let found = try film(
            APNGBuilder(
                frames: [
                    .init(picture: Self.gray(3, 2, 10)), .init(picture: Self.gray(1, 1, 20), column: 2, row: 1),
                    .init(picture: Self.gray(2, 1, 30), column: 0, row: 0),
                ], repetitions: 7))
        #expect(found.header.formatName == "apng" && found.header.layout == .gray && found.header.pages == 3)
        #expect(
            found.frames.map(\.bytes) == [
                [10, 10, 10, 10, 10, 10], [10, 10, 10, 10, 10, 20], [30, 30, 10, 10, 10, 20],
            ])
        #expect(found.metadata.animation == .init(delays: [100, 100, 100], repetitions: 7))
    }

    @Test func `a disposed frame is cleared, or what was before it comes back`() throws {
        func shown(_ disposal: UInt8) throws -> [[UInt8]] {
            try film(
                APNGBuilder(frames: [
                    .init(picture: Self.gray(2, 1, 10)), .init(picture: Self.gray(1, 1, 20), disposal: disposal),
                    .init(picture: Self.gray(1, 1, 30), column: 1),
                ])
            ).frames.map(\.bytes)
        }
        #expect(try shown(0) == [[10, 10], [20, 10], [20, 30]])
        #expect(try shown(2) == [[10, 10], [20, 10], [10, 30]])
        // What is cleared is transparent, so that all frames have alpha.
        #expect(try shown(1) == [[10, 255, 10, 255], [20, 255, 10, 255], [0, 0, 30, 255]])
    }

    @Test func `there is nothing before the first frame`() throws {
        for disposal in [1, 2] as [UInt8] {
            let found = try film(
                APNGBuilder(frames: [
                    .init(picture: Self.gray(2, 1, 10), disposal: disposal),
                    .init(picture: Self.gray(1, 1, 20), column: 1),
                ]))
            #expect(found.frames.map(\.bytes) == [[10, 255, 10, 255], [0, 0, 20, 255]])
        }
    }

    @Test func `the first frame keeps its transparent colours, however it is drawn`() throws {
        let color: [UInt8] = [200, 30, 40, 0]
        let found = try film(APNGBuilder(frames: [.init(picture: Self.plain(1, 1, color), blend: 1)]))
        #expect(found.frames.map(\.bytes) == [color])
    }

    @Test func `what comes back after a frame is its rectangle`() throws {
        let found = try film(
            APNGBuilder(frames: [
                .init(picture: Self.gray(3, 2, 10)), .init(picture: Self.gray(2, 1, 20), column: 1, disposal: 2),
                .init(picture: Self.gray(1, 1, 30), row: 1),
            ]))
        #expect(
            found.frames.map(\.bytes) == [
                [10, 10, 10, 10, 10, 10], [10, 20, 20, 10, 10, 10], [10, 10, 10, 30, 10, 10],
            ])
    }

    @Test func `a frame is drawn over others by its alpha, or replaces them`() throws {
        func second(_ blend: UInt8, _ below: [UInt8], _ above: [UInt8]) throws -> [UInt8] {
            try film(
                APNGBuilder(frames: [
                    .init(picture: Self.plain(1, 1, below)),
                    .init(picture: Self.plain(1, 1, above), blend: blend),
                ])
            ).frames[1].bytes
        }
        #expect(try second(0, [200, 100, 0, 255], [0, 0, 100, 128]) == [0, 0, 100, 128])
        #expect(try second(1, [200, 100, 0, 255], [0, 0, 100, 0]) == [200, 100, 0, 255])
        #expect(try second(1, [200, 100, 0, 255], [0, 0, 100, 255]) == [0, 0, 100, 255])
        #expect(try second(1, [0, 0, 0, 0], [9, 8, 7, 128]) == [9, 8, 7, 128])
        for below in [1, 90, 255] as [UInt8] {
            for above in [1, 128, 254] as [UInt8] {
                let found = try second(1, [200, 100, 0, below], [0, 50, 100, above])
                let (a, b) = (Double(above) / 255, Double(below) / 255)
                let alpha = a + b * (1 - a)
                let expected = zip([200.0, 100, 0], [0.0, 50, 100]).map { ($1 * a + $0 * b * (1 - a)) / alpha }
                for (sample, truth) in zip(found, expected + [255 * alpha]) {
                    #expect(abs(Double(sample) - truth) <= 0.5 + 1e-9)
                }
            }
        }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `frames of all kinds are what float64 says, as rounded after each`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        let (width, height) = (11, 7)
        let frames = (0..<8).map { index in
            let (wide, high) = index == 0 ? (width, height) : (number(1...width), number(1...height))
            let data = (0..<wide * high).flatMap { _ in
                [number(0...255), number(0...255), number(0...255), [0, 255, number(1...254)][number(0...2)]]
            }
            return APNGBuilder.Frame(
                picture: PNGBuilder(width: wide, height: high, colorType: .rgba, data: data.map(UInt8.init)),
                column: number(0...width - wide), row: number(0...height - high),
                disposal: UInt8(number(0...2)), blend: UInt8(number(0...1)))
        }
        let found = try film(APNGBuilder(frames: frames)).frames
        var truth = APNGTruth(width: width, height: height)
        for (index, frame) in frames.enumerated() {
            truth.show(frame)
            let bytes = found[index].bytes
            for pixel in 0..<width * height where truth.samples[4 * pixel + 3] > 0.5 {
                for sample in 4 * pixel..<4 * pixel + 4 {
                    #expect(abs(Double(bytes[sample]) - truth.samples[sample]) <= 0.5 + 1e-9)
                }
            }
            truth.dispose(frame, isFirst: index == 0)
        }
    }

    @Test func `16 bits are blended with 16 bits`() throws {
        func wide(_ values: [Int]) -> PNGBuilder {
            PNGBuilder(
                width: 1, height: 1, bitDepth: 16, colorType: .grayAlpha,
                data: values.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] })
        }
        let found = try film(
            APNGBuilder(frames: [
                .init(picture: wide([1000, 65535])), .init(picture: wide([60001, 20000]), blend: 1),
            ]))
        #expect(found.header.sampleFormat == .u16)
        guard case .u16(let raster) = found.frames[1] else { throw Missing() }
        let expected = (60001.0 * 20000 + 1000 * 45535) / 65535
        #expect(abs(Double(raster.samples[0]) - expected) <= 0.5 && raster.samples[1] == 65535)
    }

    private struct Missing: Error {}

    @Test func `a picture that is no part of the animation is left out`() throws {
        let builder = APNGBuilder(
            hidden: Self.gray(2, 1, 99),
            frames: [.init(picture: Self.gray(2, 1, 10)), .init(picture: Self.gray(1, 1, 20))])
        #expect(try film(builder).frames.map(\.bytes) == [[10, 10], [20, 10]])
        #expect(try film(builder, .first).frames.map(\.bytes) == [[10, 10]])
    }

    @Test func `frames share a palette, and may be interlaced`() throws {
        var picture = PNGBuilder(width: 2, height: 2, colorType: .palette, data: [0, 1, 1, 0])
        picture.palette = [255, 0, 0, 0, 0, 255]
        let part = PNGBuilder(width: 1, height: 1, colorType: .palette, data: [0])
        let found = try film(
            APNGBuilder(frames: [.init(picture: picture), .init(picture: part, column: 1, row: 0)]))
        #expect(found.frames[1].bytes == [255, 0, 0, 255, 0, 0, 0, 0, 255, 255, 0, 0])
        var whole = Self.gray(9, 7, 5)
        (whole.data, whole.isInterlaced) = ((0..<63).map { UInt8($0) }, true)
        let interlaced = try film(APNGBuilder(frames: [.init(picture: whole), .init(picture: whole)]))
        #expect(interlaced.frames.map(\.bytes) == [whole.data, whole.data])
    }

    @Test func `a page of an animation is a picture with all frames before it`() throws {
        let builder = APNGBuilder(frames: [
            .init(picture: Self.gray(2, 1, 10)), .init(picture: Self.gray(1, 1, 20)),
            .init(picture: Self.gray(1, 1, 30), column: 1),
        ])
        for (page, expected) in [[10, 10], [20, 10], [20, 30] as [UInt8]].enumerated() {
            let found = try film(builder, .page(page))
            #expect(found.frames.map(\.bytes) == [expected] && found.header.pages == 3)
            #expect(found.header.frames == 1 && found.metadata.animation == nil)
        }
        #expect(try failure(builder.build(), .page(3)) == "broken APNG: it has no page 4")
    }

    @Test func `times are as exact as in the file`() throws {
        let times = [(1, 3), (5, 0), (0, 7), (65535, 1), (1, 1000)]
        let frames = times.map { APNGBuilder.Frame(picture: Self.gray(1, 1, 1), delay: ($0.0, $0.1)) }
        let found = try film(APNGBuilder(frames: frames))
        let expected = [(1, 3), (1, 20), (0, 1), (65_535, 1), (1, 1000)]
        #expect(found.metadata.animation?.durations == expected.map { FrameDuration($0.0, $0.1) })
    }

    @Test func `metadata and colours are those of the file`() throws {
        let exif = ExifBuilder.full()
        let found = try film(
            APNGBuilder(
                frames: [.init(picture: Self.plain(1, 1, [1, 2, 3])), .init(picture: Self.plain(1, 1, [4, 5, 6]))],
                chunks: [
                    ("cHRM", [31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000].flatMap(Self.big)),
                    ("gAMA", Self.big(45455)), ("eXIf", exif), ("tEXt", Array("Author\0Ann".utf8)),
                ]))
        #expect(found.header.hasProfile, "Display P3")
        #expect(found.metadata.exif?.bytes == exif && found.metadata.texts.map(\.keyword) == ["Author"])
    }

    private static func big(_ value: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }

    // MARK: Wrong files

    private static func changed(_ change: (inout APNGBuilder) -> Void) -> [UInt8] {
        var builder = APNGBuilder(frames: [
            .init(picture: gray(3, 2, 10)), .init(picture: gray(2, 1, 20), column: 1, row: 1),
        ])
        change(&builder)
        return builder.build()
    }

    @Test func `files that lie about their frames are refused`() throws {
        let cases: [([UInt8], String)] = [
            (Self.changed { $0.declared = 3 }, "it states 3 frames and has 2"),
            (Self.changed { $0.declared = 1 }, "it states 1 frames and has 2"),
            (Self.changed { $0.declared = 0xFFFF_FFFF }, "it states 4294967295 frames and has 2"),
            (Self.changed { $0.numberStep = 2 }, "its part 1 has the number 2"),
            (Self.changed { $0.frames[1].column = 2 }, "frame 2 lies outside of the picture"),
            (Self.changed { $0.frames[1].row = 0xFFFF_FFFF }, "frame 2 lies outside of the picture"),
            (
                Self.changed { $0.frames[1].stated = (0xFFFF_FFFF, 1) }, "frame 2 lies outside of the picture"
            ),
            (Self.changed { $0.frames[1].stated = (0, 1) }, "frame 2 lies outside of the picture"),
            (Self.changed { $0.frames[0].stated = (2, 2) }, "frame 1 has another size than the picture"),
            (Self.changed { $0.frames[1].disposal = 3 }, "frame 2 is drawn in an unknown way"),
            (Self.changed { $0.frames[1].blend = 2 }, "frame 2 is drawn in an unknown way"),
            (Self.changed { $0.chunks = [("tRNS", [0, 1]), ("tRNS", [])] }, "it has two chunks tRNS"),
        ]
        for (bytes, words) in cases { #expect(try failure(bytes) == "broken APNG: \(words)") }
    }

    @Test func `a frame of more data than pixels is refused before it is decoded`() throws {
        var large = Self.gray(3, 2, 1)
        large.data = Array(repeating: 1, count: 300_000)
        (large.width, large.height) = (1000, 300)
        let bytes = Self.changed {
            $0.frames[1].picture = large
            $0.frames[1].stated = (2, 1)
        }
        #expect(try failure(bytes) == "broken APNG: frame 2 has more data than its pixels need")
    }

    @Test func `too many rows are refused by their number, and too many pixels by the job's limit`() throws {
        var tall = Self.gray(1, 4_000_000, 0)
        tall.data = Array(repeating: 0, count: 4_000_000)
        let frame = APNGBuilder.Frame(picture: Self.gray(1, 1, 0))
        let bytes = APNGBuilder(hidden: tall, frames: [frame, frame, frame]).build()
        #expect(try failure(bytes) == "broken APNG: its 3 frames have more than 10000000 rows")
        _ = try workspace.write(Self.changed { _ in }, to: "film")
        #expect(throws: ImageFileError.self) { try read("film", .animation, limits: DecodeLimits(maxPixels: 11)) }
        #expect(try read("film", .animation, limits: DecodeLimits(maxPixels: 12)).frames.count == 2)
    }

    @Test func `a damaged or truncated file is refused wherever it is damaged or ends`() throws {
        let whole = Self.changed { _ in }
        for count in 8..<whole.count {
            _ = try workspace.write(Array(whole[..<count]), to: "film")
            #expect(throws: ImageFileError.self, "\(count) of \(whole.count) bytes") { try read() }
        }
        let control = try #require(whole.firstRange(of: Array("fdAT".utf8)))
        for offset in control.lowerBound + 8..<whole.count - 12 {
            var damaged = whole
            damaged[offset] ^= 1
            _ = try workspace.write(damaged, to: "film")
            #expect(throws: ImageFileError.self, "byte \(offset)") { try read() }
        }
    }

    @Test func `a picture with changed bytes is read, or refused with words`() throws {
        let bytes = Self.changed { $0.hidden = Self.gray(3, 2, 1) }
        for seed in 0..<600 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            var changed = bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let values: [UInt8] = [0, 1, 127, 128, 255, UInt8.random(in: 0...255, using: &random)]
                changed[Int.random(in: changed.indices, using: &random)] = values.randomElement(using: &random) ?? 0
            }
            _ = try workspace.write(changed, to: "film")
            do {
                _ = try read("film", .animation, limits: DecodeLimits(maxPixels: 1_000_000))
            } catch let error as ImageFileError {
                #expect(error.description.count > workspace.path("film").count + 2)
            }
        }
    }

    // MARK: Writing

    private let animation = ImageMetadata.Animation(delays: [40, 500, 120], repetitions: 2)

    private func write(
        _ frames: [AnyRaster], to name: String = "film", save: SaveOptions = SaveOptions(),
        metadata: ImageMetadata? = nil
    ) throws {
        let shape = frames[0].shape
        try ImageEncoder.write(
            to: workspace.path(name), format: try workspace.requireFormat("apng"), save: save, shape: shape,
            frames: frames.count, metadata: metadata ?? ImageMetadata(animation: animation)
        ) { rows in
            let rect = PixelRect(columns: 0..<shape.width, rows: rows)
            var band = AnyRaster(zeroed: rect, layout: shape.layout, format: shape.sampleFormat)
            for (index, frame) in frames.enumerated() {
                let moved = frame.translated(x: 0, y: shape.height * index)
                let part = moved.rect.intersection(band.rect)
                if !part.isEmpty { band.paste(moved.cropped(to: part)) }
            }
            return band
        }
    }

    private func frames(
        _ layout: PixelLayout = .rgb, _ format: SampleFormat = .u8, width: Int = 37
    ) -> [AnyRaster] {
        (0..<3).map { frame in
            Pictures.picture(width: width, height: 29, layout: layout, format: format) { x, y, channel in
                let hash = (x &* 73_856_093 ^ y &* 19_349_663 ^ (channel + 4 * frame) &* 83_492_791) & 0xFFFF
                return Double((hash ^ hash >> 7) & 0xFFFF) / 65535
            }
        }
    }

    @Test(arguments: PixelLayout.allCases, [SampleFormat.u8, .u16])
    func `an animation comes back with every sample, its times and its repetitions`(
        layout: PixelLayout, format: SampleFormat
    ) throws {
        let frames = frames(layout, format)
        try write(frames)
        let found = try read()
        #expect(found.header.frames == 3 && found.header.pages == 3 && found.header.formatName == "apng")
        #expect(found.metadata.animation == animation)
        let areEqual = found.frames == frames
        #expect(areEqual)
    }

    @Test func `frames of many chunks keep their order`() throws {
        let frames = frames(width: 900)
        try write(frames)
        let bytes = try workspace.bytes("film")
        #expect(bytes.ranges(of: Array("fdAT".utf8)).count > 2)
        let areEqual = try read().frames == frames
        #expect(areEqual)
    }

    @Test func `other programs show the first frame`() throws {
        let frames = frames()
        try write(frames)
        var bytes = try workspace.bytes("film")
        // Readers that do not know acTL ignore it.
        let control = try #require(bytes.firstRange(of: Array("acTL".utf8)))
        bytes.removeSubrange(control.lowerBound - 4..<control.upperBound + 12)
        _ = try workspace.write(bytes, to: "still")
        let found = try workspace.load("still")
        #expect(found.header.formatName == "png" && found.raster == frames[0])
    }

    @Test func `the control of the first frame stands right before its data`() throws {
        try write(
            frames(),
            metadata: ImageMetadata(
                icc: Blob(ProfileBuilder.rgb(gamma: 1.8)), exif: Blob(ExifBuilder.full()), animation: animation))
        let bytes = try workspace.bytes("film")
        var (offset, names): (Int, [String]) = (8, [])
        while offset + 12 <= bytes.count {
            names.append(String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self))
            offset += 12 + bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        #expect(names.prefix(3) == ["IHDR", "acTL", "eXIf"] && names.last == "IEND")
        let first = try #require(names.firstIndex(of: "IDAT"))
        #expect(names[first - 1] == "fcTL" && names.contains("iCCP"))
        let frames = names[(first - 1)...].filter { $0 != "IEND" }
        #expect(Set(frames) == ["fcTL", "IDAT", "fdAT"], "nothing else is between frames")
    }

    @Test func `an animation has the metadata of its output`() throws {
        let metadata = ImageMetadata(
            icc: Blob(ProfileBuilder.rgb(gamma: 1.8)), exif: Blob(ExifBuilder.full()),
            resolution: .init(x: 300 / 25.4, y: 300 / 25.4), animation: animation)
        try write(frames(), metadata: metadata)
        let found = try read().metadata
        #expect(found.icc == metadata.icc && found.exif != nil && found.animation == animation)
        #expect(abs((found.resolution?.x ?? 0) - 300 / 25.4) < 0.01)
        try write(frames(), save: SaveOptions(metadata: .strip), metadata: metadata)
        let bare = try read().metadata
        #expect(bare.icc == nil && bare.exif == nil && bare.animation == animation)
    }

    /// Writes frames with these times, and reads their times.
    private func roundTrip(_ durations: [FrameDuration]) throws -> [FrameDuration]? {
        try write(
            durations.map { _ in Pictures.busy() },
            metadata: ImageMetadata(animation: .init(durations: durations, repetitions: 0)))
        return try read().metadata.animation?.durations
    }

    @Test(arguments: [24, 25, 29.97, 30, 50, 60, 100])
    func `every rate is kept exactly`(fps: Double) throws {
        let durations = [FrameDuration(rate: fps, hold: 0.25)] + Array(repeating: FrameDuration(rate: fps), count: 2)
        #expect(try roundTrip(durations) == durations)
    }

    @Test func `a rate that 16 bits cannot say is rounded without a sum of errors`() throws {
        let found = try #require(try roundTrip(Array(repeating: FrameDuration(1_000_003, 30_000_001), count: 6)))
        #expect(found == [33, 34, 33, 33, 34, 33].map(FrameDuration.init(milliseconds:)))
    }

    @Test func `long times are rounded to what 16 bits can say`() throws {
        let delays = [65_535, 65_536, 700_123, 9_000_000, 65_535_000, 99_999_999_999]
        let rounded = [65_535, 65_540, 700_100, 9_000_000, 65_535_000, 65_535_000]
        #expect(
            try roundTrip(delays.map(FrameDuration.init(milliseconds:)))
                == rounded.map(FrameDuration.init(milliseconds:)))
    }

    @Test func `the same frames give the same bytes, and one frame is an animation, too`() throws {
        try write(frames(), to: "once")
        try write(frames(), to: "again")
        #expect(try workspace.bytes("once") == workspace.bytes("again"))
        try write([Pictures.busy()], to: "single")
        let found = try read("single")
        #expect(found.header.formatName == "apng" && found.header.frames == 1 && found.frames == [Pictures.busy()])
    }

    @Test func `a full disk is a condition of the place`() throws {
        let picture = Pictures.busy(width: 400, height: 400)
        let error = #expect(throws: ImageFileError.self) {
            try ImageEncoder.write(
                to: "/dev/full", format: try workspace.requireFormat("apng"), save: SaveOptions(),
                shape: picture.shape, frames: 2, metadata: ImageMetadata()
            ) { rows in
                let row = rows.lowerBound % 400
                return picture.cropped(to: PixelRect(columns: 0..<400, rows: row..<row + rows.count))
                    .translated(x: 0, y: rows.lowerBound - row)
            }
        }
        #expect(error?.description == "/dev/full: cannot be written: no space left on device")
    }

    @Test func `what the rows throw in any frame comes back as it is, and no file stays`() throws {
        struct Trouble: Error, Equatable {}
        for frame in 0..<3 {
            #expect(throws: Trouble.self) {
                try ImageEncoder.write(
                    to: workspace.path("film"), format: try workspace.requireFormat("apng"), save: SaveOptions(),
                    shape: Pictures.busy().shape, frames: 3, metadata: ImageMetadata()
                ) { rows in
                    if rows.contains(frame * 29 + 5) { throw Trouble() }
                    return AnyRaster(
                        zeroed: PixelRect(columns: 0..<37, rows: rows), layout: .rgb, format: .u8)
                }
            }
            #expect(throws: (any Error).self) { try workspace.bytes("film") }
        }
    }
}
