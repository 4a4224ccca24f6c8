import Digests
import Foundation
import JobModel
import TestSupport
import Testing

struct DigestTests {
    private func bytes(_ count: Int) -> [UInt8] {
        var random = SplitMix64(seed: 7)
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    @Test func `the digest is XXH3-128`() {
        // From the sanity table of the reference implementation: no bytes, seed 0.
        #expect(Digest(of: [UInt8]().span.bytes).description == "99aa06d3014798d86001c324468d497f")
    }

    @Test(arguments: [
        // From the reference implementation, by its portable code, for n bytes i → (i · 31 + 7) mod 256.
        (16, "650fe308c566747df853dd94614dfa07"),
        (240, "de57aab31e77a2ff93e173833f75ab66"),
        (241, "92b991a7192f3f080b3b630948ce4a00"),
        (1024, "4c17271c906df79223bc880ebf0d29c6"),
        (65537, "a7262c585d065f55d6b549a3fd1d4112"),
        (1000003, "a6ea16ee0fd324191f748a0eacf646fa"),
    ])
    func `every CPU takes the digest of the reference implementation`(expected: (count: Int, digest: String)) {
        let bytes = (0..<expected.count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) }
        #expect(Digest(of: bytes.span.bytes).description == expected.digest)
    }

    @Test(arguments: [1, 63, 64, 1000])
    func `the digest does not depend on where the bytes are cut`(piece: Int) {
        let all = bytes(5000)
        var stream = DigestStream()
        var start = 0
        while start < all.count {
            let end = min(start + piece, all.count)
            stream.update(all.span.bytes.extracting(start..<end))
            start = end
        }
        #expect(stream.digest() == Digest(of: all.span.bytes))
    }

    @Test func `one changed bit changes the digest`() {
        var changed = bytes(5000)
        changed[4321] ^= 4
        #expect(Digest(of: changed.span.bytes) != Digest(of: bytes(5000).span.bytes))
    }

    @Test(arguments: [0, 1, (1 << 18) - 1, 1 << 18, (1 << 18) + 1, 3_000_000])
    func `a file has the digest of its bytes`(count: Int) throws {
        let folder = try TemporaryFolder()
        let all = bytes(count)
        try Data(all).write(to: URL(fileURLWithPath: folder.file("data")))
        #expect(try Digest(ofFileAt: folder.file("data")) == Digest(of: all.span.bytes))
    }

    @Test func `a file that cannot be read is named`() {
        let missing = #expect(throws: DigestFileError.self) { try Digest(ofFileAt: "/nowhere/data") }
        #expect(missing?.description == "cannot read /nowhere/data: No such file or directory")
        let folder = #expect(throws: DigestFileError.self) { try Digest(ofFileAt: "/tmp") }
        #expect(folder?.description == "cannot read /tmp: Is a directory")
    }

    @Test func `digests of digests are those of their hexadecimal digits' bytes`() {
        let digests = [
            Digest(high: 0x0123_4567_89ab_cdef, low: 0xfedc_ba98_7654_3210), Digest(high: 1, low: 2),
        ]
        let bytes: [UInt8] =
            [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10]
            + [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2]
        #expect(Digest(of: digests) == Digest(of: bytes.span.bytes))
    }
}
