import Foundation
import Glibc
import Testing

/// What `penumbra blur` says of pictures that are not quite what they were, and of many at once.
@Suite(.serialized) struct BlurNoteTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
    }

    private func penumbra(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, arguments, in: workspace)
    }

    private func word(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8 & 255)] }
    private func long(_ value: Int) -> [UInt8] { word(value) + word(value >> 16) }

    /// A TIFF of one pixel.
    private func tiff(_ pixel: [UInt8], bits: Int, photometric: Int, samples: Int, kind: Int) -> Data {
        let start = 8 + pixel.count
        let bitsPlace = start + 2 + 11 * 12 + 4
        let values: [(Int, Int, Int, Int)] = [
            (256, 4, 1, 1), (257, 4, 1, 1), (258, 3, samples, samples == 1 ? bits : bitsPlace), (259, 3, 1, 1),
            (262, 3, 1, photometric), (273, 4, 1, 8), (277, 3, 1, samples), (278, 4, 1, 1), (279, 4, 1, pixel.count),
            (284, 3, 1, 1), (339, 3, 1, kind),
        ]
        let entries: [UInt8] = values.flatMap { word($0.0) + word($0.1) + long($0.2) + long($0.3) }
        let directory: [UInt8] = word(values.count) + entries + long(0)
        let depths: [UInt8] = (0..<samples).flatMap { _ in word(bits) }
        return Data([0x49, 0x49, 42, 0] + long(start) + pixel) + Data(directory) + Data(depths)
    }

    @Test func `a picture in Lab becomes RGB, and that is said`() async throws {
        let before = tiff([136, 80, 67], bits: 8, photometric: 8, samples: 3, kind: 1)
        try workspace.write(before, to: "print/lab.tif")
        let result = try await penumbra("blur", "print", "--radius", "2")
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.output.hasPrefix("1 picture in Lab is in RGB now; 'penumbra unblur' puts Lab back\n"))
        #expect(try await penumbra("unblur", "print").code == 0)
        #expect(try workspace.read("print/lab.tif") == before)
    }

    @Test func `samples of 64 bits become samples of 32, and that is said`() async throws {
        // 0.5
        let half: [UInt8] = [0, 0, 0, 0, 0, 0, 0xE0, 0x3F]
        let before = tiff(half, bits: 64, photometric: 1, samples: 1, kind: 3)
        for name in ["x", "y"] { try workspace.write(before, to: "fine/\(name).tif") }
        let result = try await penumbra("blur", "fine", "--radius", "2")
        #expect(result.code == 0, "\(result.errors)")
        #expect(
            result.output.hasPrefix(
                "2 pictures with samples of 64 bits have samples of 32 now; 'penumbra unblur' puts 64 bits back\n"))
        #expect(try await penumbra("unblur", "fine").code == 0)
        #expect(try workspace.read("fine/x.tif") == before)
    }

    @Test func `a JPEG of two pictures is blurred without the second, and that is said`() async throws {
        let plain = Array(try workspace.read("photos/c.jpg"))
        let entries: [UInt8] = long(0x2003_0000) + [UInt8](repeating: 0, count: 12 + 16)
        let count = word(0xB001) + word(4) + long(1) + long(2)
        let list = word(0xB002) + word(7) + long(32) + long(38)
        let index: [UInt8] =
            Array("MPF\0".utf8) + [0x49, 0x49, 42, 0] + long(8) + word(2) + count + list + long(0) + entries
        let segment: [UInt8] = [0xFF, 0xE2, 0, UInt8(index.count + 2)] + index
        let before = Data(plain[..<2]) + Data(segment) + Data(plain[2...]) + Data(plain)
        try workspace.write(before, to: "phone/two.jpg")
        let result = try await penumbra("blur", "phone", "--radius", "8")
        #expect(result.code == 0)
        #expect(
            result.errors
                == "1 file held further pictures, such as a gain map, a depth map or a second eye: the first picture alone is "
                + "left, and blurred; 'penumbra unblur' puts all back\n  phone/two.jpg\n")
        // Nothing of the second one is left: what begins as a JPEG ends there.
        let blurred = try workspace.read("phone/two.jpg")
        #expect(blurred.range(of: Data("MPF\0".utf8)) == nil)
        #expect(blurred.range(of: Data(plain[(plain.count - 200)...])) == nil)
        #expect(blurred.range(of: Data([0xFF, 0xD8, 0xFF]), in: 3..<blurred.count) == nil)
        let silent = try await penumbra("blur", "phone", "--radius", "8", "--quiet")
        #expect((silent.code, silent.errors) == (0, ""))
        #expect(try await penumbra("unblur", "phone").code == 0)
        #expect(try workspace.read("phone/two.jpg") == before)
    }

    @Test func `of many names the first are listed, and the last line says what names all`() async throws {
        let drawing = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>"
        for number in 10..<33 {
            try workspace.write(drawing, to: "many/\(number).svg")
            try workspace.copy("photos/a.png", to: "many/.\(number).png")
        }
        let result = try await penumbra("blur", "many", "--radius", "2")
        #expect(result.code == 1)
        let lines = result.errors.split(separator: "\n")
        #expect(lines.count == 43)
        #expect(lines.contains("  … and 3 more; 'penumbra is-blurred --json' names all"))
        #expect(lines.last == "… and 3 more: skipped; 'penumbra is-blurred --json' names all")
        let all = try await penumbra("is-blurred", "many", "--json").output
        for number in 10..<33 {
            #expect(all.contains("/many/\(number).svg") && all.contains("/many/.\(number).png"))
        }
    }
}
