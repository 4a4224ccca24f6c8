import Catalogs
import ImageFiles
import JobModel
import Raster
import TestSupport
import Testing

/// JPEG XL files of which libvips does not tell what they are. They have 8 × 8 pixels of one colour, as cjxl 0.7 writes them.
@Suite(.enabled("this libvips reads JPEG XL") { try ImageFormats.descriptors().contains { $0.name == "jxl" } })
struct JPEGXLTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
    }

    private static func bytes(_ digits: String) -> [UInt8] {
        let digits = digits.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    static let plain = bytes("ff0a41404071210802010060004b188b15c2494361be40040087dcb1020000000000000000")
    static let pq = bytes("ff0a41041090478f381c00000000020802010060004b188b15c2494361be40040087dcb1020000000000000000")
    /// Gray, with the value 150.
    static let gray = bytes("ff0a410410143de27000000000080802010044004b188b15c249414e160000000000000000")
    /// With the primaries of P3, the white of BT.2020 and PQ, and with the white of P3 and HLG.
    static let p3 = bytes("ff0a41041090498f381c00000000020802010060004b188b15c2494361be40040087dcb1020000000000000000")
    static let theatre = bytes(
        "ff0a410410609a06023d06000000800802010060004b188b15c2494361be40040087dcb1020000000000000000")
    /// With the primaries of BT.2020, and the white of equal energy.
    static let unknown = bytes(
        "ff0a410410207af488c301000000200802010060004b188b15c2494361be40040087dcb1020000000000000000")
    static let hlg = bytes("ff0a410410906720d06300000000080802010060004b188b15c2494361be40040087dcb1020000000000000000")

    /// The header with the first frame, and the second frame.
    static let animation = [
        bytes("ff0a41040308282e0908029209000060004b188b15c2494361be40040087dcb1020000000000000000"),
        bytes("080292050054004b188b15c249415e20020042020000000000000000"),
    ]

    private static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
        [0, 0, 0, UInt8(content.count + 8)] + Array(name.utf8) + content
    }

    /// A file of boxes, with the codestream whole in one of them, or with a part in each.
    private static func file(_ parts: [[UInt8]]) -> [UInt8] {
        let front =
            box("JXL ", [0x0D, 0x0A, 0x87, 0x0A]) + box("ftyp", Array("jxl ".utf8) + [0, 0, 0, 0] + Array("jxl ".utf8))
        guard parts.count > 1 else { return front + box("jxlc", parts[0]) }
        return front
            + parts.enumerated().flatMap { number, part in
                box("jxlp", [number == parts.count - 1 ? 0x80 : 0, 0, 0, UInt8(number)] + part)
            }
    }

    private func expectRefusal(of bytes: [UInt8], _ words: String) throws {
        _ = try workspace.write(bytes, to: "a.jxl")
        let error = #expect(throws: ImageFileError.self) { try workspace.load("a.jxl") }
        #expect(error?.description == "\(workspace.path("a.jxl")): JPEG XL with \(words)")
    }

    @Test func `an animation is refused by name, bare and in boxes`() throws {
        let whole = Self.animation.flatMap(\.self)
        for bytes in [whole, Self.file([whole]), Self.file(Self.animation)] {
            try expectRefusal(
                of: bytes, "an animation, which Penumbra does not read; make an animated WebP or GIF of it")
        }
    }

    @Test(arguments: [false, true])
    func `HDR becomes the light of a display`(isInBoxes: Bool) throws {
        for (file, curve) in [(Self.pq, HDRTests.Curve.pq), (Self.p3, .pq), (Self.gray, .pq), (Self.hlg, .hlg)] {
            let samples: [Double] = file == Self.gray ? [150] : [200, 100, 50]
            _ = try workspace.write(isInBoxes ? Self.file([file]) : file, to: "hdr.jxl")
            let found = try workspace.load("hdr.jxl", color: .keep, hdr: .convert)
            #expect((found.header.sampleFormat, found.header.storedSamples) == (.f32, .u8))
            let light = curve.light(samples.map { $0 / 255 }, [0.2627, 0.6780, 0.0593])
            let off = zip(found.raster.doubles, (0..<64).flatMap { _ in light.map(trueEncoded) }).map { abs($0 - $1) }
            #expect(off.count == 64 * samples.count && off.allSatisfy { $0 < 1e-4 })
        }
    }

    @Test func `primaries and white of HDR are those of the file`() throws {
        var profiles: [Blob?] = []
        for file in [Self.pq, Self.p3, Self.theatre] {
            _ = try workspace.write(file, to: "hdr.jxl")
            profiles.append(try workspace.load("hdr.jxl", color: .keep, hdr: .convert).metadata.icc)
            #expect(try workspace.load("hdr.jxl", color: .srgb, hdr: .convert).metadata.icc == nil)
        }
        #expect(Set(profiles).count == 3 && !profiles.contains(nil))
        _ = try workspace.write(Self.unknown, to: "hdr.jxl")
        let error = #expect(throws: ImageFileError.self) { try workspace.load("hdr.jxl", hdr: .convert) }
        #expect(
            error?.description
                == "\(workspace.path("hdr.jxl")): JPEG XL with HDR colours (PQ) whose primaries have no code, which "
                + "Penumbra does not read")
    }

    @Test func `HDR is refused by name without 'tone-map', bare and in boxes`() throws {
        for (picture, curve) in [(Self.pq, "PQ"), (Self.hlg, "HLG")] {
            for bytes in [picture, Self.file([picture])] {
                try expectRefusal(of: bytes, "HDR colours (\(curve)), which Penumbra does not read")
            }
        }
    }

    @Test(arguments: [false, true])
    func `other pictures are read`(isInBoxes: Bool) throws {
        _ = try workspace.write(isInBoxes ? Self.file([Self.plain]) : Self.plain, to: "plain.jxl")
        let bytes = try workspace.load("plain.jxl").raster.bytes
        #expect(bytes == (0..<64).flatMap { _ in [200, 100, 50] as [UInt8] })
    }

    @Test func `headers that lie trap nothing`() throws {
        for bytes in [Self.pq, Self.file(Self.animation)] {
            for place in bytes.indices {
                for value: UInt8 in [0, 1, 0x7F, 0xFF] {
                    var damaged = bytes
                    damaged[place] = value
                    _ = try workspace.write(damaged, to: "damaged")
                    // Whatever it says, it is a picture or an error.
                    _ = try? ImageDecoder(path: workspace.path("damaged"), limits: .roomy, color: .srgb)
                }
            }
        }
    }
}
