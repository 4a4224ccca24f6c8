import Planning
import Testing

/// Pictures that are known by their first bytes.
@Suite struct PictureHeadTests {
    @Test(arguments: [
        [0xFF, 0xD8, 0xFF, 0xE0], [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], Array("GIF89a".utf8),
        [0x4D, 0x4D, 0x00, 0x2A], Array("RIFF0000WEBPVP8 ".utf8), [0, 0, 0, 32] + Array("ftypavif".utf8),
        [0xFF, 0x0A, 0x00], Array("P5 7 9 255\n".utf8), Array("P6\n# comment".utf8),
    ])
    func `a picture`(head: [UInt8]) { #expect(PictureHead.isPicture(head)) }

    @Test(arguments: [
        [], Array("Pf, said he".utf8), Array("P5 is".utf8), Array("RIFF0000WAVEfmt ".utf8),
        [0, 0, 0, 32] + Array("ftypisom".utf8), Array("#!/bin/sh\n".utf8), [0xFF, 0xD8],
    ])
    func `no picture`(head: [UInt8]) { #expect(!PictureHead.isPicture(head)) }
}
