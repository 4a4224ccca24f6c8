import Foundation

/// Makes small ICC profiles: of gray and of three primaries, with a curve that is a power.
package enum ProfileBuilder {
    /// - Parameter code: what the tag `cicp` says: primaries, curve, matrix and range by ITU-T H.273.
    package static func rgb(gamma: Double, _ primaries: TruePrimaries = .sRGB, code: [UInt8]? = nil) -> [UInt8] {
        let curve = curve(gamma)
        return rgb([curve, curve, curve], primaries, code: code)
    }

    /// - Parameter parameters: of a curve of ICC's kind 0 to 4, as many as that kind has.
    package static func rgb(parametric kind: Int, _ parameters: [Double]) -> [UInt8] {
        rgb(
            Array("para".utf8) + big(UInt32(0)) + big(UInt16(kind)) + big(UInt16(0)) + parameters.flatMap(fixed), .sRGB)
    }

    /// - Parameter table: the curve at equal distances, 0–1.
    package static func rgb(table: [Double]) -> [UInt8] {
        let values = table.flatMap { big(UInt16(($0 * 65535).rounded())) }
        return rgb(Array("curv".utf8) + big(UInt32(0)) + big(UInt32(table.count)) + values, .sRGB)
    }

    /// - Parameter gammas: of red, green and blue.
    package static func rgb(gammas: [Double]) -> [UInt8] { rgb(gammas.map(curve), .sRGB) }

    private static func rgb(_ curve: [UInt8], _ primaries: TruePrimaries) -> [UInt8] {
        rgb([curve, curve, curve], primaries)
    }

    private static func rgb(_ curves: [[UInt8]], _ primaries: TruePrimaries, code: [UInt8]? = nil) -> [UInt8] {
        build(
            "RGB ",
            [
                ("rXYZ", xyz(primaries.red)), ("gXYZ", xyz(primaries.green)), ("bXYZ", xyz(primaries.blue)),
                ("rTRC", curves[0]), ("gTRC", curves[1]), ("bTRC", curves[2]),
            ] + codes(code))
    }

    /// - Parameter code: see ``rgb(gamma:_:code:)``.
    package static func gray(gamma: Double, code: [UInt8]? = nil) -> [UInt8] {
        build("GRAY", [("kTRC", curve(gamma))] + codes(code))
    }

    private static func codes(_ code: [UInt8]?) -> [(String, [UInt8])] {
        code.map { [("cicp", Array("cicp".utf8) + big(UInt32(0)) + $0)] } ?? []
    }

    /// A CMYK profile for which black ink is white and everything else black.
    package static func invertedBlack() -> [UInt8] {
        let ramp = (0...255).map { UInt8($0) }
        // Two points along each of four axes, black the fastest, to L, a and b.
        let grid = (0..<8).flatMap { _ -> [UInt8] in [0, 128, 128, 255, 128, 128] }
        let data = table([ramp, ramp, ramp, ramp], grid, [ramp, ramp, ramp])
        return build("CMYK", [("A2B0", data), ("A2B1", data)], connection: "Lab ", kind: "prtr")
    }

    /// A CMYK profile for outputs. The perceptual table has black ink alone, and the other tables have cyan alone. Lightness falls
    /// evenly with the ink.
    ///
    /// - Parameter darkest: the lightness of full ink, 0–100. Darker colours become full ink.
    package static func ink(darkest: Double = 0) -> [UInt8] {
        let ramp = (0...255).map { UInt8($0) }
        let lightness = (0...255).map { value -> UInt8 in
            let share = (Double(value) / 255 * 100 - darkest) / (100 - darkest)
            return UInt8((max(0, min(1, share)) * 255).rounded())
        }
        // Two points along each axis, the last one the fastest: L, a and b to inks, and inks to L, a and b.
        func inks(_ full: [UInt8]) -> [UInt8] {
            let grid = (0..<8).flatMap { $0 < 4 ? full : [0, 0, 0, 0] }
            return table([lightness, ramp, ramp], grid, [ramp, ramp, ramp, ramp])
        }
        let dark = UInt8((darkest * 2.55).rounded())
        let colors = (0..<16).flatMap { point -> [UInt8] in [point & 0b1001 == 0 ? 255 : dark, 128, 128] }
        let back = table([ramp, ramp, ramp, ramp], colors, [ramp, ramp, ramp])
        let (black, cyan) = (inks([0, 0, 0, 255]), inks([255, 0, 0, 0]))
        return build(
            "CMYK",
            [("A2B0", back), ("A2B1", back), ("A2B2", back), ("B2A0", black), ("B2A1", cyan), ("B2A2", cyan)],
            connection: "Lab ", kind: "prtr")
    }

    /// An RGB profile of a scanner: colours can be read by its table, and not written.
    package static func readOnly() -> [UInt8] {
        let ramp = (0...255).map { UInt8($0) }
        let grid = (0..<8).flatMap { point -> [UInt8] in [point == 7 ? 255 : 0, 128, 128] }
        return build(
            "RGB ", [("A2B0", table([ramp, ramp, ramp], grid, [ramp, ramp, ramp]))], connection: "Lab ", kind: "scnr")
    }

    /// A profile of another class than those of devices, such as `link`.
    package static func rgb(kind: String) -> [UInt8] {
        var bytes = rgb(gamma: 2)
        bytes.replaceSubrange(12..<16, with: kind.utf8)
        return bytes
    }

    /// A table of ICC's type `mft1` with two points along each axis.
    private static func table(_ inputs: [[UInt8]], _ grid: [UInt8], _ outputs: [[UInt8]]) -> [UInt8] {
        let identity = [1.0, 0, 0, 0, 1, 0, 0, 0, 1].flatMap(fixed)
        let sizes = [UInt8(inputs.count), UInt8(outputs.count), 2, 0]
        return Array("mft1".utf8) + big(UInt32(0)) + sizes + identity + inputs.joined() + grid + outputs.joined()
    }

    private static func build(
        _ space: String, _ tags: [(name: String, data: [UInt8])], connection: String = "XYZ ", kind: String = "mntr"
    ) -> [UInt8] {
        let all = [("desc", description), ("cprt", text("none")), ("wtpt", xyz([0.9642, 1, 0.8249]))] + tags
        var table = big(UInt32(all.count))
        var data: [UInt8] = []
        for (name, bytes) in all {
            table += Array(name.utf8) + big(UInt32(128 + 4 + 12 * all.count + data.count)) + big(UInt32(bytes.count))
            data += bytes + Array(repeating: 0, count: (4 - bytes.count % 4) % 4)
        }
        var header = big(UInt32(128 + table.count + data.count)) + Array("test".utf8) + big(UInt32(0x0210_0000))
        header += Array(kind.utf8) + Array(space.utf8) + Array(connection.utf8)
        header += [UInt8](repeating: 0, count: 12) + Array("acsp".utf8) + [UInt8](repeating: 0, count: 28)
        header += fixed(0.9642) + fixed(1) + fixed(0.8249)
        header += [UInt8](repeating: 0, count: 128 - header.count)
        return header + table + data
    }

    private static func xyz(_ color: [Double]) -> [UInt8] {
        Array("XYZ ".utf8) + big(UInt32(0)) + color.flatMap(fixed)
    }

    private static func curve(_ gamma: Double) -> [UInt8] {
        Array("curv".utf8) + big(UInt32(0)) + big(UInt32(1)) + big(UInt16(gamma * 256))
    }

    private static func text(_ text: String) -> [UInt8] {
        Array("text".utf8) + big(UInt32(0)) + Array(text.utf8) + [0]
    }

    private static var description: [UInt8] {
        Array("desc".utf8) + big(UInt32(0)) + big(UInt32(5)) + Array("test\0".utf8) + [UInt8](repeating: 0, count: 78)
    }

    private static func fixed(_ value: Double) -> [UInt8] {
        big(Int32((value * 65536).rounded()))
    }

    private static func big<Integer: FixedWidthInteger>(_ value: Integer) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}
