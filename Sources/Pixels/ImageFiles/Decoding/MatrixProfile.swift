import Arithmetic
import Kernels

/// An RGB profile that is three curves and three primaries, as those of displays and cameras are.
///
/// libvips converts 16 bits through tables of 33 points a side, which are up to 15 of 255 off in dark, strong colours. This
/// is the definition itself.
struct MatrixProfile: Hashable {
    private let curves: [ToneCurve]
    /// Of red, green and blue: X, Y and Z under D50.
    private let primaries: [[Double]]

    /// Nil for what is more than that: tables take precedence in a profile that has both.
    init?(_ bytes: [UInt8]) {
        let data = ICCData(bytes[...])
        guard data.word(at: 20) == "XYZ ", let tags = Self.tags(of: data),
            !["A2B0", "A2B1"].contains(where: { tags[$0] != nil })
        else { return nil }
        let primaries = ["rXYZ", "gXYZ", "bXYZ"].compactMap { name -> [Double]? in
            guard let tag = tags[name], tag.word(at: 0) == "XYZ " else { return nil }
            let values = [8, 12, 16].compactMap(tag.fixed)
            return values.count == 3 ? values : nil
        }
        guard let curves = Self.toneCurves(tags), primaries.count == 3 else { return nil }
        self.curves = curves
        self.primaries = primaries
    }

    /// The curves of red, green and blue, in profiles that have tables of colours beside them, too.
    static func toneCurves(_ bytes: [UInt8]) -> [ToneCurve]? { tags(of: ICCData(bytes[...])).flatMap(toneCurves) }

    private static func toneCurves(_ tags: [String: ICCData]) -> [ToneCurve]? {
        let curves = ["rTRC", "gTRC", "bTRC"].compactMap { tags[$0].flatMap(ToneCurve.init) }
        return curves.count == 3 ? curves : nil
    }

    /// The curve of a gray profile that is no more than that.
    static func grayCurve(_ bytes: [UInt8]) -> ToneCurve? {
        let data = ICCData(bytes[...])
        guard data.word(at: 20) == "XYZ ", let tags = tags(of: data),
            !["A2B0", "A2B1"].contains(where: { tags[$0] != nil })
        else { return nil }
        return tags["kTRC"].flatMap(ToneCurve.init)
    }

    /// What the tag `cicp` says: ICC.1:2022, 9.2.17.
    static func codedTransfer(_ bytes: [UInt8]) -> Int? {
        guard let tag = tags(of: ICCData(bytes[...]))?["cicp"], tag.word(at: 0) == "cicp" else { return nil }
        return tag.integer(at: 9, length: 1)
    }

    private static func tags(of data: ICCData) -> [String: ICCData]? {
        guard let count = data.integer(at: 128, length: 4), count <= 1000 else { return nil }
        var tags: [String: ICCData] = [:]
        for entry in 0..<count {
            let place = 132 + 12 * entry
            guard let name = data.word(at: place), let offset = data.integer(at: place + 4, length: 4),
                let length = data.integer(at: place + 8, length: 4), let part = data.part(at: offset, length: length)
            else { return nil }
            tags[name] = part
        }
        return tags
    }

    /// The light of every 16-bit value, red, green, blue and, where there is one, alpha in turn; alpha stays as it is.
    func light(hasAlpha: Bool) -> [Float] {
        (0...65535).flatMap { value in
            curves.map { Float($0.light(of: Double(value) / 65535)) } + (hasAlpha ? [Float(value) / 65535] : [])
        }
    }

    /// From the light of these primaries to that of sRGB's times `full`, row by row; alpha is multiplied alone.
    func matrix(hasAlpha: Bool, full: Double) -> [[Double]] {
        let channels = hasAlpha ? 4 : 3
        return (0..<channels).map { row in
            (0..<channels).map { column in
                guard row < 3, column < 3 else { return row == column ? full : 0 }
                return full * (0..<3).reduce(0) { $0 + Self.toSRGB[row][$1] * primaries[column][$1] }
            }
        }
    }

    /// From X, Y and Z under D50 to the light of sRGB: the inverse of the primaries in sRGB's own profile.
    private static let toSRGB: [[Double]] = {
        let (r, g, b) = ([0.43607, 0.22249, 0.01392], [0.38515, 0.71687, 0.09708], [0.14307, 0.06061, 0.71410])
        let (x, y, z) = (cross(g, b), cross(b, r), cross(r, g))
        let volume = r[0] * x[0] + r[1] * x[1] + r[2] * x[2]
        return [x, y, z].map { row in row.map { $0 / volume } }
    }()

    private static func cross(_ a: [Double], _ b: [Double]) -> [Double] {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    }

    /// As many steps of light as libvips' tables have. Half a step is 6.5 of 65535 in the dark, where sRGB's curve is steepest.
    static let steps = 65535

    /// The 16-bit sRGB value of every step of light, channel by channel as ``light(hasAlpha:)``.
    static func encoded(hasAlpha: Bool) -> [UInt16] {
        hasAlpha
            ? curve.enumerated().flatMap { [$1, $1, $1, UInt16($0)] } : curve.flatMap { [$0, $0, $0] }
    }

    private static let curve: [UInt16] = (0...steps).map {
        UInt16((SRGBCurve.encode(Double($0) / Double(steps)) * 65535).rounded())
    }
}
