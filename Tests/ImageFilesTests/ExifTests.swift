import Catalogs
import ImageFiles
import JobModel
import Testing

/// What becomes of an EXIF block.
@Suite struct ExifTests {
    private let shape = ImageShape(width: 80, height: 60, layout: .rgb, sampleFormat: .u8)

    private func keep(_ block: [UInt8]) -> [UInt8]? {
        ImageMetadata(exif: Blob(block)).carried(by: .keep, shape: shape).exif?.bytes
    }

    @Test func `the thumbnail goes, the rest stays`() throws {
        let kept = try #require(keep(ExifBuilder.full()))
        #expect(kept.firstRange(of: [0xFF, 0xD8, 0xFF]) == nil)
        #expect(kept.firstRange(of: Array("Copyright Jane Doe".utf8)) != nil)
    }

    @Test func `what is kept once is kept again as it is`() throws {
        let kept = try #require(keep(ExifBuilder.full()))
        #expect(keep(kept) == kept)
    }

    @Test(arguments: [10, 500])
    func `a maker note stays where it was, for its offsets count from the block's start`(length: Int) throws {
        let note = (0..<length).map { UInt8($0 & 0x7F) }
        var builder = ExifBuilder(main: [.text(0x010F, "A maker with a name that is long")])
        builder.exif = [.short(0x8827, 200), .bytes(0x927C, note)]
        for block in [builder.build(), ExifBuilder.full(makerNote: note)] {
            let place = try #require(block.firstRange(of: note)).lowerBound
            let kept = try #require(keep(block))
            #expect(kept.firstRange(of: note)?.lowerBound == place)
        }
    }

    @Test func `of two maker notes the first one is kept, and the other one does not take its bytes`() throws {
        let builder = ExifBuilder(
            main: [.text(0x010F, "A maker")],
            exif: [.bytes(0x927C, Array("first".utf8)), .bytes(0x927C, Array("second and longer".utf8))])
        let kept = try #require(keep(builder.build()))
        #expect(kept.firstRange(of: Array("first".utf8)) != nil)
        #expect(kept.firstRange(of: Array("second".utf8)) == nil)
        #expect(keep(kept) == kept)
    }

    @Test func `a maker note that hides a picture goes`() throws {
        let note = Array("NOTE".utf8) + ExifBuilder.jpegLikeBytes
        let kept = try #require(keep(ExifBuilder.full(makerNote: note)))
        #expect(kept.firstRange(of: Array("NOTE".utf8)) == nil)
    }

    @Test func `a block of which nothing is kept is left out`() {
        let note = ExifBuilder.jpegLikeBytes
        #expect(keep(ExifBuilder(exif: [.bytes(0x927C, note)]).build()) == nil)
        #expect(keep(ExifBuilder(main: [.text(0x010E, "A boat")], exif: [.bytes(0x927C, note)]).build()) != nil)
    }

    @Test func `a block that is too large for a JPEG loses its maker note first`() throws {
        let kept = try #require(keep(ExifBuilder.full(makerNote: [UInt8](repeating: 1, count: 66_000))))
        #expect(kept.count < 1000 && kept.firstRange(of: Array("Copyright".utf8)) != nil)
        let large = ExifBuilder(exif: [.bytes(0x9286, [UInt8](repeating: 1, count: 66_000))]).build()
        #expect(keep(large) == nil)
    }

    @Test func `the other byte order is as good`() throws {
        let block: [UInt8] =
            [
                0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 2,
                0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0,
                0x82, 0x98, 0, 2, 0, 0, 0, 6, 0, 0, 0, 38,
                0, 0, 0, 0,
            ] + Array("(c) J\0".utf8)
        let kept = try #require(keep(block))
        #expect(kept.starts(with: [0x4D, 0x4D, 0, 42]))
        #expect(kept.firstRange(of: [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 1]) != nil)
        #expect(kept.firstRange(of: Array("(c) J".utf8)) != nil)
    }

    @Test func `what is no EXIF is dropped`() {
        for block: [UInt8] in [
            [], [0x49], Array("II*\0".utf8), Array("no structure at all".utf8),
            [0x49, 0x49, 42, 0, 8, 0, 0, 0, 0, 0], [0x49, 0x49, 42, 0, 0xFF, 0xFF, 0xFF, 0xFF],
        ] {
            #expect(keep(block) == nil)
        }
    }

    @Test func `a block that pretends to be larger than it is is dropped`() {
        // A hundred entries that share one long value.
        let value = [UInt8](repeating: 1, count: 2000)
        var block = ExifBuilder(main: (0..<100).map { .bytes(0x9000 + UInt16($0), [1, 2, 3, 4, 5]) }).build() + value
        for entry in 0..<100 {
            let start = 8 + 2 + 12 * entry
            block.replaceSubrange(start + 4..<start + 8, with: [0xD0, 0x07, 0, 0])
            block.replaceSubrange(start + 8..<start + 12, with: [0, 4, 0, 0])
        }
        #expect(keep(block) == nil)
    }

    @Test func `damaged blocks never crash and never carry a picture`() {
        var random = SplitMix(state: 42)
        let block = ExifBuilder.full(makerNote: Array("NOTE".utf8) + ExifBuilder.jpegLikeBytes)
        for _ in 0..<20_000 {
            var damaged = block
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                damaged[Int.random(in: damaged.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random) { damaged.removeLast(Int.random(in: 0..<damaged.count, using: &random)) }
            guard let kept = keep(damaged) else { continue }
            #expect(kept.firstRange(of: [0xFF, 0xD8, 0xFF]) == nil)
            #expect(kept.count <= 65_000)
        }
    }

    @Test func `noise never crashes`() {
        var random = SplitMix(state: 3)
        for _ in 0..<5_000 {
            let noise = (0..<Int.random(in: 0...300, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            _ = keep([0x49, 0x49, 42, 0, 8, 0, 0, 0] + noise)
            _ = keep([0x4D, 0x4D, 0, 43, 0, 8, 0, 0] + noise)
        }
    }
}
