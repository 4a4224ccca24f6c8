/// The colour description of a file without an ICC profile: the positions of its primaries, and its transfer function.
///
/// It is converted to a profile of the same meaning, so that all colours are handled in one way: `color: keep` keeps the
/// profile, and conversions to sRGB use it.
package struct StatedColor: Hashable, Sendable {
    /// The primaries in CIE x and y.
    struct Primaries: Hashable {
        var white = (x: 0.3127, y: 0.3290)
        let red: (x: Double, y: Double)
        let green: (x: Double, y: Double)
        let blue: (x: Double, y: Double)

        static let sRGB = Primaries(red: (0.64, 0.33), green: (0.30, 0.60), blue: (0.15, 0.06))

        private var all: [Double] { [white, red, green, blue].flatMap { [$0.x, $0.y] } }

        static func == (a: Primaries, b: Primaries) -> Bool { a.all == b.all }
        func hash(into hasher: inout Hasher) { hasher.combine(all) }

        /// Files round to hundred-thousandths, and some writers to thousandths.
        func isClose(to other: Primaries) -> Bool { zip(all, other.all).allSatisfy { abs($0 - $1) <= 0.001 } }
    }

    enum Curve: Hashable {
        case sRGB
        /// Light is the value to this power.
        case power(Double)
        /// SMPTE ST 240.
        case st240
    }

    let primaries: Primaries
    let curve: Curve
    /// Whether it takes precedence over a profile in the same file.
    let outranksProfile: Bool

    init(_ primaries: Primaries, _ curve: Curve, outranksProfile: Bool = false) {
        self.primaries = primaries
        self.curve = curve
        self.outranksProfile = outranksProfile
    }

    static let sRGB = StatedColor(.sRGB, .sRGB)

    /// A profile with the same meaning. Nil for sRGB, which needs none, and for primaries that do not span a colour space.
    func profile(isGray: Bool) -> [UInt8]? {
        if curve == .sRGB, isGray || primaries.isClose(to: .sRGB) { return nil }
        if isGray { return ProfileWriter.gray(curve) }
        guard let columns = primaries.underD50 else { return nil }
        return ProfileWriter.rgb(columns, curve)
    }
}

extension StatedColor {
    /// The colours of code points of ITU-T H.273, which `cICP` of PNG and `nclx` of AVIF and HEIC contain.
    ///
    /// Codes for "unspecified" and reserved codes are ignored. The curve of BT.709 (and of BT.601 and BT.2020, which share it)
    /// counts as that of sRGB. It is a curve of cameras, and browsers show such pictures in this way.
    ///
    /// - Returns: nil if the codes state nothing.
    /// - Throws: an error for curves that Penumbra does not map to the range of a display.
    static func coded(
        primaries: Int, transfer: Int, outranksProfile: Bool
    ) throws(UnsupportedFeatureError) -> StatedColor? {
        let (spot, curve) = (try self.primaries(primaries), try self.curve(transfer))
        if spot == nil, curve == nil { return nil }
        return StatedColor(spot ?? .sRGB, curve ?? .sRGB, outranksProfile: outranksProfile)
    }

    private static func primaries(_ code: Int) throws(UnsupportedFeatureError) -> Primaries? {
        let c = (x: 0.310, y: 0.316)
        return switch code {
        case 0, 2, 3: nil
        case 1: .sRGB
        case 4: Primaries(white: c, red: (0.67, 0.33), green: (0.21, 0.71), blue: (0.14, 0.08))
        case 5: Primaries(red: (0.64, 0.33), green: (0.29, 0.60), blue: (0.15, 0.06))
        case 6, 7: Primaries(red: (0.630, 0.340), green: (0.310, 0.595), blue: (0.155, 0.070))
        case 8: Primaries(white: c, red: (0.681, 0.319), green: (0.243, 0.692), blue: (0.145, 0.049))
        case 9: Primaries(red: (0.708, 0.292), green: (0.170, 0.797), blue: (0.131, 0.046))
        case 10: Primaries(white: (1.0 / 3, 1.0 / 3), red: (1, 0), green: (0, 1), blue: (0, 0))
        case 11: Primaries(white: (0.314, 0.351), red: (0.680, 0.320), green: (0.265, 0.690), blue: (0.150, 0.060))
        case 12: Primaries(red: (0.680, 0.320), green: (0.265, 0.690), blue: (0.150, 0.060))
        case 22: Primaries(red: (0.630, 0.340), green: (0.295, 0.605), blue: (0.155, 0.077))
        default: throw UnsupportedFeatureError("the unknown colour primaries \(code)")
        }
    }

    /// Refuses the curves of HDR. Penumbra cannot map them to the range of a display yet.
    static func checkRange(transfer: Int) throws(UnsupportedFeatureError) {
        if transfer == 16 { throw UnsupportedFeatureError("HDR colours (PQ)") }
        if transfer == 18 { throw UnsupportedFeatureError("HDR colours (HLG)") }
    }

    private static func curve(_ code: Int) throws(UnsupportedFeatureError) -> Curve? {
        try checkRange(transfer: code)
        return switch code {
        case 0, 2, 3: nil
        case 1, 6, 11, 12, 13, 14, 15: .sRGB
        case 4: .power(2.2)
        case 5: .power(2.8)
        case 7: .st240
        case 8: .power(1)
        case 9, 10: throw UnsupportedFeatureError("logarithmic colours (transfer \(code))")
        case 17: throw UnsupportedFeatureError("colours of digital cinema (SMPTE ST 428)")
        default: throw UnsupportedFeatureError("the unknown transfer characteristics \(code)")
        }
    }
}

extension StatedColor.Primaries {
    /// The X, Y and Z of red, green and blue under D50, by the Bradford method. Nil if they do not span a colour space.
    var underD50: [[Double]]? {
        guard let spots = inverse([red, green, blue].map(Self.ray)),
            [red, green, blue, white].allSatisfy({ $0.x.isFinite && $0.y.isFinite }), white.y > 0
        else { return nil }
        let light = Self.ray(white).map { $0 / white.y }
        // The share of each primary in white.
        let shares = (0..<3).map { index in (0..<3).reduce(0) { $0 + light[$1] * spots[$1][index] } }
        let cones = { (color: [Double]) in Self.bradford.map { row in (0..<3).reduce(0) { $0 + row[$1] * color[$1] } } }
        guard let back = inverse(Self.bradford) else { return nil }
        let (from, to) = (cones(light), cones(Self.d50))
        guard from.allSatisfy({ $0 > 0 }) else { return nil }
        let columns = [red, green, blue].enumerated().map { index, spot in
            let adapted = cones(Self.ray(spot).map { $0 * shares[index] }).enumerated().map { $1 * to[$0] / from[$0] }
            return back.map { row in (0..<3).reduce(0) { $0 + row[$1] * adapted[$1] } }
        }
        return columns.joined().allSatisfy { abs($0) < 4 } ? columns : nil
    }

    static let d50 = [0.9642, 1.0, 0.8249]

    private static let bradford = [
        [0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296],
    ]

    private static func ray(_ spot: (x: Double, y: Double)) -> [Double] { [spot.x, spot.y, 1 - spot.x - spot.y] }

    private func inverse(_ m: [[Double]]) -> [[Double]]? {
        func minor(_ r: Int, _ c: Int) -> Double {
            let (a, b, d, e) = ((r + 1) % 3, (r + 2) % 3, (c + 1) % 3, (c + 2) % 3)
            return m[a][d] * m[b][e] - m[a][e] * m[b][d]
        }
        let volume = (0..<3).reduce(0) { $0 + m[0][$1] * minor(0, $1) }
        guard abs(volume) > 1e-6 else { return nil }
        return (0..<3).map { r in (0..<3).map { c in minor(c, r) / volume } }
    }
}

/// Writes profiles of three primaries and a curve, or of a curve only: ICC.1:2010, version 4.3.
private enum ProfileWriter {
    static func rgb(_ columns: [[Double]], _ curve: StatedColor.Curve) -> [UInt8] {
        let curve = bytes(of: curve)
        return build(
            "RGB ",
            [
                ("rXYZ", xyz(columns[0])), ("gXYZ", xyz(columns[1])), ("bXYZ", xyz(columns[2])), ("rTRC", curve),
                ("gTRC", curve), ("bTRC", curve),
            ])
    }

    static func gray(_ curve: StatedColor.Curve) -> [UInt8] { build("GRAY", [("kTRC", bytes(of: curve))]) }

    private static func build(_ space: String, _ own: [(name: String, data: [UInt8])]) -> [UInt8] {
        let tags =
            [
                ("desc", text("Colours as the picture's file stated them")), ("cprt", text("No copyright")),
                ("wtpt", xyz(StatedColor.Primaries.d50)),
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
