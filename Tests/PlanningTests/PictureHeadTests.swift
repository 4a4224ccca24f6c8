import Planning
import Testing

/// Pictures that are known by their first bytes.
@Suite struct PictureHeadTests {
    @Test(arguments: [
        [0xFF, 0xD8, 0xFF, 0xE0], [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], Array("GIF89a".utf8),
        [0x4D, 0x4D, 0x00, 0x2A], Array("RIFF0000WEBPVP8 ".utf8), [0, 0, 0, 32] + Array("ftypavif".utf8),
        [0xFF, 0x0A, 0x00], Array("P5 7 9 255\n".utf8), Array("P6\n# comment".utf8), [0x76, 0x2F, 0x31, 0x01],
    ])
    func `a picture`(head: [UInt8]) { #expect(PictureHead.kind(of: head) == .readable) }

    @Test(arguments: [
        [], Array("Pf, said he".utf8), Array("P5 is".utf8), Array("RIFF0000WAVEfmt ".utf8),
        [0, 0, 0, 32] + Array("ftypM4A isom".utf8), Array("#!/bin/sh\n".utf8), [0xFF, 0xD8],
        Array("BMW is a maker of cars in Munich".utf8), Array("DDS and other words".utf8),
        [0, 1, 0, 0] + Array(repeating: 0, count: 28), [0, 0, 1, 0] + Array(repeating: 0, count: 28),
        Array("removable media: free, wide".utf8),
    ])
    func `no picture`(head: [UInt8]) { #expect(PictureHead.kind(of: head) == nil) }

    private static let bitmap: [UInt8] = Array("BM".utf8) + [70, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0]
    private static let icon: [UInt8] =
        [0, 0, 1, 0, 2, 0, 16, 16, 0, 0, 1, 0, 32, 0, 0x68, 4, 0, 0, 38, 0, 0, 0] + Array(repeating: 0, count: 10)

    @Test(arguments: [
        bitmap, icon, [0x01, 0xDA, 1, 1, 0, 3, 0, 9], Array("8BPS".utf8) + [0, 1], Array("DDS ".utf8) + [124, 0, 0, 0],
        [0, 0, 0, 24] + Array("ftypcrx \u{0}\u{0}\u{0}\u{1}".utf8), Array("FUJIFILMCCD-RAW 0201".utf8),
        Array("IIRO".utf8) + [8, 0], [0x49, 0x49, 0x55, 0, 0x18, 0], Array("FOVb".utf8), Array("qoif".utf8),
        [0, 0, 0, 32] + Array("ftypisom".utf8), [0, 0, 0, 20] + Array("ftypqt  ".utf8),
        [0, 0, 0, 8] + Array("wide\u{0}\u{0}\u{0}\u{0}".utf8), Array("RIFF0000AVI LIST".utf8),
        [0x1A, 0x45, 0xDF, 0xA3], [0, 0, 1, 0xBA],
    ])
    func `a picture or film that Penumbra does not read`(head: [UInt8]) {
        #expect(PictureHead.kind(of: head) == .unread)
    }

    @Test(
        arguments: [
            ("tga", [0, 0, 2, 0, 0, 0, 0, 0]), ("pcx", [10, 5, 1, 8, 0, 0, 0, 0]),
            ("mts", [0, 0, 1, 9, 0x47, 0x40, 0x11, 0x10]),
        ] as [(String, [UInt8])])
    func `a format without a beginning of its own is known by the name`(fileExtension: String, head: [UInt8]) {
        #expect(PictureHead.kind(of: head, called: Array(fileExtension.utf8)) == .unread)
        #expect(PictureHead.kind(of: head, called: Array("bin".utf8)) == nil)
    }

    @Test(arguments: [[], Array("export type A = {}".utf8), [0x00, 0x05, 0x16, 0x07, 0, 2, 0, 0]])
    func `what only has such a name is none`(head: [UInt8]) {
        #expect(PictureHead.kind(of: head, called: Array("mts".utf8)) == nil)
    }
}
