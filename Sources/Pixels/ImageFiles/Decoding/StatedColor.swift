import JobModel
import Kernels

/// The colour description of a file: the positions of its primaries, and its transfer function. It counts in files without an ICC
/// profile, and for HDR.
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
    /// The curve of HDR samples, which the decoder converts into those of ``curve``. Nil for other samples.
    let hdr: HDRDecoding.Curve?

    init(_ primaries: Primaries, _ curve: Curve, outranksProfile: Bool = false, hdr: HDRDecoding.Curve? = nil) {
        self.primaries = primaries
        self.curve = curve
        self.outranksProfile = outranksProfile
        self.hdr = hdr
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
    /// The curves of HDR count as that of sRGB, too, which extends above white: the decoder converts the samples.
    ///
    /// - Returns: nil if the codes state nothing.
    /// - Throws: an error for curves that Penumbra does not know.
    static func coded(
        primaries: Int, transfer: Int, outranksProfile: Bool
    ) throws(UnsupportedFeatureError) -> StatedColor? {
        let (spot, curve) = (try self.primaries(primaries), try self.curve(transfer))
        if spot == nil, curve == nil { return nil }
        return StatedColor(
            spot ?? .sRGB, curve ?? .sRGB, outranksProfile: outranksProfile, hdr: hdr(transfer: transfer))
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

    /// HDR colours that replace the profile of their file.
    ///
    /// - Parameter primaries: a code point of H.273; nil for colours without one.
    /// - Throws: an error also for a missing code, and for one that states nothing.
    static func codedHDR(_ primaries: Int?, _ curve: HDRDecoding.Curve) throws(UnsupportedFeatureError) -> StatedColor {
        guard let primaries, let spots = try self.primaries(primaries) else {
            throw UnsupportedFeatureError("HDR colours (\(curve.title)) whose primaries have no code")
        }
        return StatedColor(spots, .sRGB, outranksProfile: true, hdr: curve)
    }

    /// The curve of HDR with a code point of H.273. Nil for other curves.
    static func hdr(transfer: Int) -> HDRDecoding.Curve? {
        transfer == 16 ? .pq : transfer == 18 ? .hlg : nil
    }

    private static func curve(_ code: Int) throws(UnsupportedFeatureError) -> Curve? {
        switch code {
        case 0, 2, 3: nil
        case 1, 6, 11, 12, 13, 14, 15, 16, 18: .sRGB
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

extension StatedColor {
    /// The colours of linear light with these primaries: the x and y of red, green, blue and white, as files list them.
    ///
    /// - Returns: nil for those of sRGB, and for zeros, which state nothing.
    static func linear(_ numbers: [Double]) throws(UnsupportedFeatureError) -> StatedColor? {
        precondition(numbers.count == 8, "four places")
        let spots = Primaries(
            white: (numbers[6], numbers[7]), red: (numbers[0], numbers[1]), green: (numbers[2], numbers[3]),
            blue: (numbers[4], numbers[5]))
        guard !spots.isClose(to: .sRGB), numbers.contains(where: { $0 != 0 }) else { return nil }
        guard spots.underD50 != nil else {
            throw UnsupportedFeatureError(
                "primaries that do not span a colour space", remedy: "correct them, or leave them out")
        }
        // The light gets the curve of sRGB.
        return StatedColor(spots, .sRGB)
    }
}

extension UnsupportedFeatureError {
    /// The error for HDR samples.
    ///
    /// - Parameter lack: what filters would have to do; nil if none can help.
    static func hdr(_ curve: HDRDecoding.Curve, _ lack: HDRPolicy.Lack? = nil) -> UnsupportedFeatureError {
        UnsupportedFeatureError(
            "HDR colours (\(curve.title))", remedy: lack?.remedy, needsOtherFilters: lack != nil)
    }
}

extension StatedColor {
    /// The conversion of HDR samples into the colours of ``profile(isGray:)``, or into sRGB. Nil for other samples, and for
    /// primaries that do not span a colour space.
    ///
    /// - Parameter full: the integer that stands for the end of the curve.
    func decoding(to policy: ColorPolicy, isGray: Bool, full: Int) -> HDRDecoding? {
        guard let hdr, let luminances = primaries.luminances, primaries.underD50 != nil else { return nil }
        let matrix = policy == .srgb && !isGray ? primaries.matrixToSRGB : nil
        return HDRDecoding(hdr, luminances: luminances, matrix: matrix, full: full)
    }
}

extension StatedColor.Primaries {
    /// The X, Y and Z of red, green and blue under D50, by the Bradford method. Nil if they do not span a colour space.
    var underD50: [[Double]]? {
        guard let shares else { return nil }
        let columns = [red, green, blue].enumerated().compactMap { index, spot in
            adapted(Self.ray(spot).map { $0 * shares[index] })
        }
        return columns.count == 3 && columns.joined().allSatisfy { abs($0) < 4 } ? columns : nil
    }

    /// For each channel of sRGB the shares of these primaries' channels, in linear light and by the Bradford method. Nil for the
    /// primaries of sRGB, and for such that do not span a colour space.
    var matrixToSRGB: [[Double]]? {
        guard !isClose(to: .sRGB), let columns = underD50, let others = Self.sRGB.underD50,
            let inverse = Self.inverse(others)
        else { return nil }
        return (0..<3).map { channel in
            columns.map { column in (0..<3).reduce(0) { $0 + column[$1] * inverse[$1][channel] } }
        }
    }

    /// The shares of red, green and blue in the luminance of white. Nil if they do not span a colour space.
    var luminances: [Double]? { shares.map { shares in zip([red, green, blue], shares).map { $0.y * $1 } } }

    /// How much of each primary is in white, whose luminance is 1.
    private var shares: [Double]? {
        guard let spots = Self.inverse([red, green, blue].map(Self.ray)),
            [red, green, blue, white].allSatisfy({ $0.x.isFinite && $0.y.isFinite }), white.y > 0
        else { return nil }
        let light = Self.ray(white).map { $0 / white.y }
        return (0..<3).map { index in (0..<3).reduce(0) { $0 + light[$1] * spots[$1][index] } }
    }

    /// The colour that has the same appearance under D50 as `color` has under this white.
    ///
    /// - Parameter color: X, Y and Z.
    /// - Returns: nil if the white is no colour of light.
    func adapted(_ color: [Double]) -> [Double]? {
        let cones = { (color: [Double]) in Self.bradford.map { row in (0..<3).reduce(0) { $0 + row[$1] * color[$1] } } }
        guard let back = Self.inverse(Self.bradford) else { return nil }
        let (from, to) = (cones(Self.ray(white).map { $0 / white.y }), cones(Self.d50))
        guard from.allSatisfy({ $0 > 0 }) else { return nil }
        let adapted = cones(color).enumerated().map { $1 * to[$0] / from[$0] }
        return back.map { row in (0..<3).reduce(0) { $0 + row[$1] * adapted[$1] } }
    }

    static let d50 = [0.9642, 1.0, 0.8249]

    private static let bradford = [
        [0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296],
    ]

    private static func ray(_ spot: (x: Double, y: Double)) -> [Double] { [spot.x, spot.y, 1 - spot.x - spot.y] }

    /// Nil for a matrix that has no inverse.
    static func inverse(_ m: [[Double]]) -> [[Double]]? {
        func minor(_ r: Int, _ c: Int) -> Double {
            let (a, b, d, e) = ((r + 1) % 3, (r + 2) % 3, (c + 1) % 3, (c + 2) % 3)
            return m[a][d] * m[b][e] - m[a][e] * m[b][d]
        }
        let volume = (0..<3).reduce(0) { $0 + m[0][$1] * minor(0, $1) }
        guard abs(volume) > 1e-6 else { return nil }
        return (0..<3).map { r in (0..<3).map { c in minor(c, r) / volume } }
    }
}
