/// Writes profiles of three primaries and a curve, or of a curve only: ICC.1:2010, version 4.3.
enum ProfileWriter {
    /// The description of a profile for the colours that a file states.
    private static let stated = "Colours as the picture's file stated them"

    /// - Parameter columns: the X, Y and Z of red, green and blue under D50.
    /// - Parameter adaptation: the matrix from colours under the space's white to those under D50, row by row. Nil if it is not
    ///   stated.
    static func rgb(
        _ columns: [[Double]], _ curve: StatedColor.Curve, description: String = stated, adaptation: [[Double]]? = nil
    ) -> [UInt8] {
        let curve = bytes(of: curve)
        return build(
            "RGB ", description,
            [
                ("rXYZ", xyz(columns[0])), ("gXYZ", xyz(columns[1])), ("bXYZ", xyz(columns[2])), ("rTRC", curve),
                ("gTRC", curve), ("bTRC", curve),
            ] + (adaptation.map { [("chad", numbers($0.flatMap(\.self)))] } ?? []))
    }

    /// The profile of colours without one.
    static func sRGB(isGray: Bool) -> [UInt8] {
        guard !isGray, let columns = StatedColor.Primaries.sRGB.underD50 else { return gray(.sRGB) }
        return rgb(columns, .sRGB)
    }

    static func gray(_ curve: StatedColor.Curve) -> [UInt8] { build("GRAY", stated, [("kTRC", bytes(of: curve))]) }

    private static func build(
        _ space: String, _ description: String, _ own: [(name: String, data: [UInt8])]
    ) -> [UInt8] {
        let tags =
            [
                ("desc", text(description)), ("cprt", text("No copyright")), ("wtpt", xyz(StatedColor.Primaries.d50)),
            ] + own
        var (table, data) = (big(tags.count), [UInt8]())
        for (name, bytes) in tags {
            table += Array(name.utf8) + big(128 + 4 + 12 * tags.count + data.count) + big(bytes.count)
            data += bytes + repeatElement(0, count: (4 - bytes.count % 4) % 4)
        }
        var header = big(128 + table.count + data.count) + big(0) + big(0x0430_0000) + Array("mntr".utf8)
        header += Array(space.utf8) + Array("XYZ ".utf8) + [UInt8](repeating: 0, count: 12) + Array("acsp".utf8)
        header += [UInt8](repeating: 0, count: 28) + StatedColor.Primaries.d50.flatMap(fixed)
        header += [UInt8](repeating: 0, count: 128 - header.count)
        return header + table + data
    }

    private static func bytes(of curve: StatedColor.Curve) -> [UInt8] {
        switch curve {
        case .sRGB: parametric(3, [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045])
        case .st240: parametric(3, [1 / 0.45, 1 / 1.1115, 0.1115 / 1.1115, 0.25, 0.0912])
        case .power(let power): parametric(0, [power])
        }
    }

    private static func parametric(_ kind: Int, _ parameters: [Double]) -> [UInt8] {
        Array("para".utf8) + big(0) + big(kind, length: 2) + big(0, length: 2) + parameters.flatMap(fixed)
    }

    private static func xyz(_ color: [Double]) -> [UInt8] { Array("XYZ ".utf8) + big(0) + color.flatMap(fixed) }

    private static func numbers(_ numbers: [Double]) -> [UInt8] {
        Array("sf32".utf8) + big(0) + numbers.flatMap(fixed)
    }

    /// A text in American English.
    private static func text(_ text: String) -> [UInt8] {
        Array("mluc".utf8) + big(0) + big(1) + big(12) + Array("enUS".utf8) + big(2 * text.utf16.count) + big(28)
            + text.utf16.flatMap { big(Int($0), length: 2) }
    }

    private static func fixed(_ value: Double) -> [UInt8] { big(Int((value * 65536).rounded())) }

    private static func big(_ value: Int, length: Int = 4) -> [UInt8] {
        .number(value, length: length, littleEndian: false)
    }
}
