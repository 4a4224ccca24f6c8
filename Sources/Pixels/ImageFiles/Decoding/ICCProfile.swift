import Arithmetic
import Catalogs
package import Kernels
import Raster

/// The fields of an ICC profile that decide for which pictures it is valid.
struct ICCProfile: Hashable {
    /// The colour space of the device: `RGB`, `GRAY`, `CMYK`, `Lab`, …
    let space: String
    /// The matrix and curves of an RGB profile. Nil for other profiles.
    let matrix: MatrixProfile?
    /// The curve of a gray profile. Nil for other profiles.
    let grayCurve: ToneCurve?
    /// The curves of red, green and blue, or of gray. Nil if the profile has only tables of colours.
    let toneCurves: [ToneCurve]?

    /// The colours as code points of ITU-T H.273, if the profile states them in addition to its curves.
    private let codes: ColorCodes?

    /// Returns nil if the bytes are no profile.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 128, bytes[36..<40].elementsEqual("acsp".utf8) else { return nil }
        space = String(decoding: bytes[16..<20], as: UTF8.self).filter { $0 != " " }
        matrix = space == "RGB" ? MatrixProfile(bytes) : nil
        grayCurve = space == "GRAY" ? MatrixProfile.grayCurve(bytes) : nil
        toneCurves = space == "RGB" ? MatrixProfile.toneCurves(bytes) : grayCurve.map { [$0] }
        codes = ColorCodes(profile: bytes)
    }

    /// The HDR colours that the profile states. Nil for profiles of other ranges.
    ///
    /// - Throws: an error for HDR samples that Penumbra does not convert.
    func statedHDR() throws(UnsupportedFeatureError) -> StatedColor? {
        guard let codes, let curve = StatedColor.hdr(transfer: codes.transfer) else { return nil }
        guard codes.isFullRange else { throw UnsupportedFeatureError("HDR samples of video range (cicp)") }
        guard codes.matrix == 0 else { throw UnsupportedFeatureError("HDR samples that are not RGB (cicp)") }
        return try StatedColor.codedHDR(codes.primaries, curve)
    }

    /// Throws an error for HDR profiles.
    func checkRange() throws(UnsupportedFeatureError) {
        if let codes, let curve = StatedColor.hdr(transfer: codes.transfer) { throw .hdr(curve) }
    }

    /// Whether the profile is valid for pixels of this layout.
    func fits(_ layout: PixelLayout) -> Bool { colors == layout.removingAlpha }

    /// The colours of its pixels. Nil for others than pictures have.
    var colors: PixelLayout? {
        switch space {
        case "RGB": .rgb
        case "GRAY": .gray
        case "CMYK": .cmyk
        default: nil
        }
    }
}

/// Code points of ITU-T H.273.
private struct ColorCodes: Hashable {
    let primaries: Int
    let transfer: Int
    let matrix: Int
    let isFullRange: Bool

    /// Reads the tag `cicp`: ICC.1:2022, 9.2.17. Returns nil if there is none.
    init?(profile bytes: [UInt8]) {
        guard let tag = MatrixProfile.tags(of: ICCData(bytes[...]))?["cicp"], tag.word(at: 0) == "cicp",
            let primaries = tag.integer(at: 8, length: 1), let transfer = tag.integer(at: 9, length: 1),
            let matrix = tag.integer(at: 10, length: 1), let range = tag.integer(at: 11, length: 1)
        else { return nil }
        (self.primaries, self.transfer, self.matrix, isFullRange) = (primaries, transfer, matrix, range == 1)
    }
}

extension TransferCurve {
    /// The curve of pixels with this profile. It is that of sRGB for pixels without a profile, for profiles with tables only,
    /// and for curves that do not rise, because those cannot be inverted.
    package init(profile bytes: [UInt8]?) {
        guard let curves = bytes.flatMap(ICCProfile.init)?.toneCurves, curves.allSatisfy(\.rises) else {
            self = .sRGB
            return
        }
        let known = curves.map { $0.isCloseToSRGB ? .sRGB : $0 }
        self = known.allSatisfy { $0 == .sRGB } ? .sRGB : TransferCurve(known)
    }
}

/// Curves of ICC profiles: `curv` and `para` (ICC.1:2010, 10.5 and 10.15).
extension ToneCurve {
    /// Returns nil if the data are neither type.
    init?(_ data: ICCData) {
        switch data.word(at: 0) {
        case "curv":
            guard let count = data.integer(at: 8, length: 4) else { return nil }
            self.init(curve: data, count: count)
        case "para":
            guard let kind = data.integer(at: 8, length: 2) else { return nil }
            self.init(parametric: data, kind: kind)
        default:
            return nil
        }
    }

    private init?(curve data: ICCData, count: Int) {
        switch count {
        case 0: self = .power(g: 1)
        case 1:
            guard let gamma = data.integer(at: 12, length: 2) else { return nil }
            self = .power(g: Double(gamma) / 256)
        default:
            guard count <= 65536 else { return nil }
            let values = (0..<count).compactMap { data.integer(at: 12 + 2 * $0, length: 2) }
            guard values.count == count else { return nil }
            self = .table(values.map { Double($0) / 65535 })
        }
    }

    private init?(parametric data: ICCData, kind: Int) {
        let counts = [1, 3, 4, 5, 7]
        guard counts.indices.contains(kind) else { return nil }
        let p = (0..<counts[kind]).compactMap { data.fixed(at: 12 + 4 * $0) }
        guard p.count == counts[kind], kind == 0 || kind > 2 || p[1] > 0 else { return nil }
        switch kind {
        case 0: self = .power(g: p[0])
        case 1: self = .power(g: p[0], a: p[1], b: p[2], d: -p[2] / p[1])
        case 2: self = .power(g: p[0], a: p[1], b: p[2], d: -p[2] / p[1], e: p[3], f: p[3])
        case 3: self = .power(g: p[0], a: p[1], b: p[2], c: p[3], d: p[4])
        default: self = .power(g: p[0], a: p[1], b: p[2], c: p[3], d: p[4], e: p[5], f: p[6])
        }
    }

    /// The light of a value, 0–1.
    ///
    /// - Parameter value: the stored value, 0–1.
    func light(of value: Double) -> Double {
        let light = decode(value)
        return light.isFinite ? min(1, max(0, light)) : 0
    }
}

/// The bytes of an ICC profile, with big-endian numbers. Reading beyond the end returns nil.
struct ICCData: Hashable {
    private let bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    func part(at offset: Int, length: Int) -> ICCData? {
        guard offset >= 0, length >= 0, offset <= bytes.count, length <= bytes.count - offset else { return nil }
        let start = bytes.startIndex + offset
        return ICCData(bytes[start..<start + length])
    }

    func integer(at offset: Int, length: Int) -> Int? {
        part(at: offset, length: length)?.bytes.reduce(0) { $0 << 8 | Int($1) }
    }

    /// A fixed-point number with 16 bits before the point and 16 after it.
    func fixed(at offset: Int) -> Double? {
        integer(at: offset, length: 4).map { Double(Int32(truncatingIfNeeded: $0)) / 65536 }
    }

    /// A signature of four letters.
    func word(at offset: Int) -> String? {
        part(at: offset, length: 4).map { String(decoding: $0.bytes, as: UTF8.self) }
    }
}

/// An RGB profile of three curves and three primaries, like those of displays and cameras.
///
/// libvips converts 16 bits through tables of 33 points a side. Their error is up to 15 of 255 in dark, saturated colours.
/// This type computes the conversion by its definition.
struct MatrixProfile: Hashable {
    let curves: [ToneCurve]
    /// The X, Y and Z under D50 of red, green and blue.
    let primaries: [[Double]]

    /// Returns nil for profiles with more than that: tables take precedence in a profile that has both.
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

    /// The curves of red, green and blue, also in profiles that have tables of colours as well.
    static func toneCurves(_ bytes: [UInt8]) -> [ToneCurve]? { tags(of: ICCData(bytes[...])).flatMap(toneCurves) }

    private static func toneCurves(_ tags: [String: ICCData]) -> [ToneCurve]? {
        let curves = ["rTRC", "gTRC", "bTRC"].compactMap { tags[$0].flatMap(ToneCurve.init) }
        return curves.count == 3 ? curves : nil
    }

    /// The curve of a gray profile that has nothing else.
    static func grayCurve(_ bytes: [UInt8]) -> ToneCurve? {
        let data = ICCData(bytes[...])
        guard data.word(at: 20) == "XYZ ", let tags = tags(of: data),
            !["A2B0", "A2B1"].contains(where: { tags[$0] != nil })
        else { return nil }
        return tags["kTRC"].flatMap(ToneCurve.init)
    }

    fileprivate static func tags(of data: ICCData) -> [String: ICCData]? {
        guard let count = data.integer(at: 128, length: 4), count <= 1000 else { return nil }
        var tags: [String: ICCData] = [:]
        for entry in 0..<count {
            let position = 132 + 12 * entry
            guard let name = data.word(at: position), let offset = data.integer(at: position + 4, length: 4),
                let length = data.integer(at: position + 8, length: 4), let part = data.part(at: offset, length: length)
            else { return nil }
            tags[name] = part
        }
        return tags
    }

    /// The light of every 16-bit value, for red, green, blue and, if present, alpha in turn. Alpha does not change.
    func light(hasAlpha: Bool) -> [Float] {
        (0...65535).flatMap { value in
            curves.map { Float($0.light(of: Double(value) / 65535)) } + (hasAlpha ? [Float(value) / 65535] : [])
        }
    }

    /// The matrix from the light of these primaries to that of sRGB times `full`, row by row. Alpha is only scaled.
    func matrix(hasAlpha: Bool, full: Double) -> [[Double]] {
        let channels = hasAlpha ? 4 : 3
        return (0..<channels).map { row in
            (0..<channels).map { column in
                guard row < 3, column < 3 else { return row == column ? full : 0 }
                return full * (0..<3).reduce(0) { $0 + Self.toSRGB[row][$1] * primaries[column][$1] }
            }
        }
    }

    /// The matrix from X, Y and Z under D50 to the light of sRGB: the inverse of the primaries in sRGB's own profile.
    private static let toSRGB: [[Double]] = {
        let (r, g, b) = ([0.43607, 0.22249, 0.01392], [0.38515, 0.71687, 0.09708], [0.14307, 0.06061, 0.71410])
        let (x, y, z) = (cross(g, b), cross(b, r), cross(r, g))
        let volume = r[0] * x[0] + r[1] * x[1] + r[2] * x[2]
        return [x, y, z].map { row in row.map { $0 / volume } }
    }()

    private static func cross(_ a: [Double], _ b: [Double]) -> [Double] {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    }

    /// The number of steps of light, as in libvips' tables. Half a step is 6.5 of 65535 in the dark, where the curve of sRGB
    /// is steepest.
    static let steps = 65535

    /// The 16-bit sRGB value of every step of light, channel by channel as in ``light(hasAlpha:)``.
    static func encoded(hasAlpha: Bool) -> [UInt16] {
        hasAlpha
            ? curve.enumerated().flatMap { [$1, $1, $1, UInt16($0)] } : curve.flatMap { [$0, $0, $0] }
    }

    private static let curve: [UInt16] = (0...steps).map {
        UInt16((SRGBCurve.encode(Double($0) / Double(steps)) * 65535).rounded())
    }
}

extension AnyRaster {
    /// Converts linear light that is premultiplied by alpha into stored values that are not. Colour with an alpha of 0 becomes
    /// 0.
    ///
    /// Only floats are in linear light; other formats do not change. (libvips scales the alpha of such pictures to 255.)
    ///
    /// - Parameter matrix: three rows, for each channel of the result the shares of the picture's channels. Nil for the same
    ///   primaries.
    func encodedFromLinear(_ matrix: [[Double]]?) -> AnyRaster {
        guard case .f32(let raster) = self else { return self }
        let (channels, hasAlpha) = (layout.channels, layout.hasAlpha)
        let columns =
            layout.removingAlpha == .rgb ? matrix.map { m in (0..<3).map { SIMD3(m[0][$0], m[1][$0], m[2][$0]) } } : nil
        // Infinite light has a size, so that sums of it are numbers.
        func known(_ light: Float) -> Double { light.isNaN ? 0 : min(max(Double(light), -1e30), 1e30) }
        var samples = raster.samples
        for pixel in Swift.stride(from: 0, to: samples.count, by: channels) {
            let alpha = hasAlpha ? Double(samples[pixel + channels - 1]) / 255 : 1
            if let columns {
                let (red, green, blue) = (
                    known(samples[pixel]), known(samples[pixel + 1]), known(samples[pixel + 2])
                )
                let light = columns[0] * red + columns[1] * green + columns[2] * blue
                (samples[pixel], samples[pixel + 1], samples[pixel + 2]) = (
                    Float(light.x), Float(light.y), Float(light.z)
                )
            }
            for index in pixel..<pixel + (hasAlpha ? channels - 1 : channels) {
                samples[index] = alpha == 0 ? 0 : Float(SRGBCurve.encode(Double(samples[index]) / alpha))
            }
            if hasAlpha { samples[pixel + channels - 1] = Float(alpha) }
        }
        return .f32(Raster(rect: rect, layout: layout, samples: samples))
    }
}
