import Catalogs
import Foundation
import Geometry
import ImageFiles
import JobModel
import Raster
import TestSupport
import Testing

/// What a header says of its file that pixels do not have.
@Suite struct DecodingLossTests {
    let workspace: Workspace

    init() throws { workspace = try Workspace() }

    private func losses(of bytes: [UInt8]) throws -> [DecodingLoss] {
        let path = try workspace.write(bytes, to: "picture")
        return try ImageDecoder(path: path, limits: .roomy, color: .keep).header.losses
    }

    @Test func `the header tells that a picture was in Lab, and one in RGB loses nothing`() throws {
        func tiff(_ photometric: TIFFBuilder.Photometric) -> [UInt8] {
            TIFFBuilder(width: 1, height: 1, samplesPerPixel: 3, photometric: photometric, data: [136, 80, 67]).build()
        }
        #expect(try losses(of: tiff(.lab)) == [.lab])
        #expect(try losses(of: tiff(.rgb)) == [])
    }

    @Test func `the header tells that a picture was in CMYK`() throws {
        let fixture = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Fixtures/cmyk_should_be_srgb.jpg")
        #expect(try losses(of: [UInt8](Data(contentsOf: fixture))) == [.cmyk])
    }

    @Test(arguments: [(16, []), (32, []), (64, [DecodingLoss.doubles])])
    func `the header tells that samples had 64 bits; those of 16 lose nothing`(bits: Int, losses: [DecodingLoss])
        throws
    {
        let tiff = TIFFBuilder(
            width: 1, height: 1, bitsPerSample: bits, kind: .float, data: [UInt8](repeating: 0, count: bits / 8))
        #expect(try self.losses(of: tiff.build()) == losses)
    }

    // MARK: Several pictures in a JPEG

    private func jpeg() throws -> [UInt8] {
        let picture = AnyRaster(zeroed: .init(x: 0, y: 0, width: 8, height: 8), layout: .rgb, format: .u8)
        try workspace.save(picture, as: "jpeg", to: "plain.jpg")
        return try workspace.bytes("plain.jpg")
    }

    /// An index of pictures of these kinds, as a JPEG's segment.
    private func index(of kinds: [UInt32], isBigEndian: Bool) -> [UInt8] {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            let digits = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            return isBigEndian ? digits.reversed() : digits
        }
        let entries = kinds.flatMap { number(Int($0), 4) + [UInt8](repeating: 0, count: 12) }
        let directory =
            number(2, 2) + number(0xB001, 2) + number(4, 2) + number(1, 4) + number(kinds.count, 4)
            + number(0xB002, 2) + number(7, 2) + number(entries.count, 4) + number(38, 4) + number(0, 4)
        let start: [UInt8] = isBigEndian ? [0x4D, 0x4D, 0, 42] : [0x49, 0x49, 42, 0]
        let payload = Array("MPF\0".utf8) + start + number(8, 4) + directory + entries
        let length = payload.count + 2
        return [0xFF, 0xE2, UInt8(length >> 8), UInt8(length & 255)] + payload
    }

    private func jpeg(with segments: [UInt8]) throws -> [UInt8] {
        let plain = try jpeg()
        // Behind another segment, with fill before the marker.
        return plain[..<2] + [0xFF, 0xE2, 0, 6] + Array("ICC_".utf8) + [0xFF] + segments + plain[2...] + plain
    }

    @Test(arguments: [true, false])
    func `the header tells that a JPEG holds further pictures`(isBigEndian: Bool) throws {
        #expect(try losses(of: jpeg()) == [])
        for kinds in [[0x2003_0000, 0], [0x2003_0000, 0x1_0001, 0x2_0002]] as [[UInt32]] {
            #expect(try losses(of: jpeg(with: index(of: kinds, isBigEndian: isBigEndian))) == [.furtherPictures])
        }
    }

    @Test func `the header tells that an animated PNG holds a picture that is no part of the animation`() throws {
        let frame = PNGBuilder(width: 1, height: 1, colorType: .gray, data: [7])
        #expect(try losses(of: APNGBuilder(frames: [.init(picture: frame)]).build()) == [])
        #expect(
            try losses(of: APNGBuilder(hidden: frame, frames: [.init(picture: frame)]).build()) == [.furtherPictures])
    }

    @Test func `smaller copies of the picture, as cameras add them, are no further pictures`() throws {
        let kinds: [UInt32] = [0x2003_0000, 0x4001_0001, 0x1_0002]
        #expect(try losses(of: jpeg(with: index(of: kinds, isBigEndian: true))) == [])
    }

    @Test func `an index that is cut off says nothing, and harms nothing`() throws {
        let whole = index(of: [0x2003_0000, 0], isBigEndian: false)
        for count in [4, 8, 12, 30, 60] {
            let payload = whole[4..<4 + count]
            let cut: [UInt8] = [0xFF, 0xE2, 0, UInt8(count + 2)] + payload
            #expect(try losses(of: jpeg(with: cut)) == [], "\(count)")
        }
    }
}
