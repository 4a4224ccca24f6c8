package import Catalogs
package import JobModel
import Kernels

/// A colour space for outputs: the profile of their files, and its definition if it is simple.
package struct OutputProfile: Hashable, Sendable {
    /// Nil for sRGB and for gray with its curve, which need no profile.
    let icc: [UInt8]?
    /// The colours of its pixels.
    package let layout: PixelLayout
    /// Nil for a profile of tables.
    let light: LightSpace?

    private init(icc: [UInt8]?, layout: PixelLayout, light: LightSpace) {
        (self.icc, self.layout, self.light) = (icc, layout, light)
    }

    /// A space with a name.
    package static func named(_ name: NamedColorSpace) -> OutputProfile {
        switch name {
        case .srgb: OutputProfile(icc: nil, layout: .rgb, light: .sRGB)
        case .gray: OutputProfile(icc: nil, layout: .gray, light: .gray(.sRGB))
        case .p3: p3
        case .adobe: adobe
        }
    }

    private static let p3 = OutputProfile(
        StatedColor.Primaries(red: (0.680, 0.320), green: (0.265, 0.690), blue: (0.150, 0.060)), .sRGB,
        description: "Display P3")

    /// The exponent is 2 + 51/256, as the space defines it.
    private static let adobe = OutputProfile(
        StatedColor.Primaries(red: (0.64, 0.33), green: (0.21, 0.71), blue: (0.15, 0.06)), .power(563.0 / 256),
        description: "Compatible with Adobe RGB (1998)")

    private init(_ primaries: StatedColor.Primaries, _ curve: StatedColor.Curve, description: String) {
        let axes = [[1.0, 0, 0], [0, 1, 0], [0, 0, 1]].compactMap(primaries.adapted)
        guard let columns = primaries.underD50, axes.count == 3 else {
            preconditionFailure("the primaries span a colour space")
        }
        let adaptation = (0..<3).map { row in (0..<3).map { axes[$0][row] } }
        icc = ProfileWriter.rgb(columns, curve, description: description, adaptation: adaptation)
        layout = .rgb
        light = .rgb([ToneCurve(curve)], columns)
    }

    /// Why a file is no profile for outputs, as a phrase.
    package struct Problem: Error, Hashable, CustomStringConvertible {
        package let description: String

        init(_ description: String) { self.description = description }
    }

    /// The profile in a file.
    package init(_ bytes: [UInt8]) throws(Problem) {
        guard let profile = ICCProfile(bytes) else { throw Problem("is no ICC profile") }
        let kind = String(decoding: bytes[12..<16], as: UTF8.self)
        guard ["mntr", "prtr", "scnr", "spac"].contains(kind) else {
            throw Problem("is not the profile of a device or a colour space")
        }
        guard let layout = profile.colors else {
            throw Problem("has other colours than RGB, gray or CMYK")
        }
        do throws(UnsupportedFeatureError) {
            try profile.checkRange()
        } catch {
            throw Problem("has \(error.phrase)")
        }
        icc = bytes
        self.layout = layout
        light = LightSpace(profile).flatMap { $0.canBeInverted ? $0 : nil }
    }
}

extension OutputProfile {
    /// The size of the profile, in bytes.
    package var size: Int { icc?.count ?? 0 }

    /// Why colours cannot be converted into this space, as a phrase. Nil if they can.
    package var problem: String? {
        do throws(Problem) {
            _ = try ColorConversion(from: nil, of: .rgb, to: self, intent: .relative, blackPoint: true)
            return nil
        } catch {
            return error.description
        }
    }
}

extension ImageFormat {
    /// Why outputs in this format cannot have these colours, as a phrase. Nil if they can.
    package func objection(to profile: OutputProfile) -> String? {
        guard profile.icc != nil else { return nil }
        if !descriptor.holdsProfile { return "needs a profile, for which \(title) has no place; write 'color: srgb'" }
        switch profile.layout {
        case .cmyk where !holdsCMYK: return "is of CMYK, which \(title) does not hold; JPEG and TIFF do"
        case .gray where !holdsGray: return "is of gray, which \(title) does not hold; write 'color: gray'"
        default: return nil
        }
    }
}

/// An RGB or gray space that is defined by curves and primaries.
enum LightSpace: Hashable {
    case gray(ToneCurve)
    /// One curve for all channels or one for each, and the X, Y and Z of red, green and blue under D50.
    case rgb([ToneCurve], [[Double]])

    static let sRGB: LightSpace = {
        guard let columns = StatedColor.Primaries.sRGB.underD50 else {
            preconditionFailure("the primaries span a colour space")
        }
        return .rgb([.sRGB], columns)
    }()

    /// Nil for a profile of tables.
    init?(_ profile: ICCProfile) {
        if let matrix = profile.matrix {
            self = .rgb(matrix.curves, matrix.primaries)
        } else if let curve = profile.grayCurve {
            self = .gray(curve)
        } else {
            return nil
        }
    }

    var curves: [ToneCurve] {
        switch self {
        case .gray(let curve): [curve]
        case .rgb(let curves, _): curves
        }
    }

    /// Whether colours can be converted into this space.
    var canBeInverted: Bool {
        guard curves.allSatisfy(\.rises) else { return false }
        if case .rgb(_, let columns) = self { return StatedColor.Primaries.inverse(columns) != nil }
        return true
    }

    /// The conversion into a space that can be inverted. Nil for any other space.
    func conversion(to other: LightSpace) -> LightConversion? {
        let matrix: [[Double]]
        switch (self, other) {
        case (.gray, .gray): matrix = [[1]]
        case (.gray, .rgb): matrix = [[1], [1], [1]]
        case (.rgb(_, let columns), .gray): matrix = [columns.map { $0[1] }]
        case (.rgb(_, let columns), .rgb(_, let others)):
            guard let inverse = StatedColor.Primaries.inverse(others) else { return nil }
            matrix = (0..<3).map { channel in
                columns.map { column in (0..<3).reduce(0) { $0 + column[$1] * inverse[$1][channel] } }
            }
        }
        return LightConversion(from: TransferCurve(curves), matrix: matrix, to: TransferCurve(other.curves))
    }
}

extension ToneCurve {
    /// The curve of a profile that ``ProfileWriter`` writes.
    fileprivate init(_ curve: StatedColor.Curve) {
        switch curve {
        case .sRGB: self = .sRGB
        case .power(let power): self = .power(g: power)
        case .st240: self = .power(g: 1 / 0.45, a: 1 / 1.1115, b: 0.1115 / 1.1115, c: 0.25, d: 0.0912)
        }
    }
}
