import Arithmetic
import Catalogs
import Raster
import Synchronization

/// The curves from the stored colours of a picture to linear light, one for each channel. Kernels that work in linear light
/// convert with them in both directions.
///
/// The tables of the curves are computed on first use, once for all copies of this value.
public struct TransferCurve: Sendable {
    /// The curve of pictures without an embedded profile.
    public static let sRGB = TransferCurve([.sRGB])

    /// One curve for each colour channel, or one for all of them.
    package let curves: [ToneCurve]
    private let tables = TransferTables()

    /// - Parameter curves: one for all channels, or one for each colour channel.
    package init(_ curves: [ToneCurve]) {
        precondition(!curves.isEmpty, "a channel has a curve")
        self.curves = curves.allSatisfy { $0 == curves[0] } ? [curves[0]] : curves
    }

    func decoding(_ format: SampleFormat) -> DecodingTones {
        tables.decoding.withLock { known in
            let tones = known[format] ?? DecodingTones(curves, format)
            known[format] = tones
            return tones
        }
    }

    func encoding(_ format: SampleFormat) -> EncodingTones {
        tables.encoding.withLock { known in
            let tones = known[format] ?? EncodingTones(curves, format)
            known[format] = tones
            return tones
        }
    }
}

private final class TransferTables: Sendable {
    let decoding = Mutex<[SampleFormat: DecodingTones]>([:])
    let encoding = Mutex<[SampleFormat: EncodingTones]>([:])
}

/// Converts samples into linear light on their own scale: 0…255, 0…65535, 0…1.
struct DecodingTones: Sendable {
    /// The light of every value of an integer format, channel by channel.
    let table: [Double]
    /// The distance from one channel's part of the table to the next one's; 0 if all channels share one.
    let step: Int
    private let curves: [ToneCurve]

    /// The tables for floats and no curve, which are empty.
    static let none = DecodingTones([.sRGB], .f32)

    fileprivate init(_ curves: [ToneCurve], _ format: SampleFormat) {
        let last = Int(format.full)
        self.curves = curves
        step = curves.count > 1 ? last + 1 : 0
        table =
            format == .f32
            ? []
            : curves.flatMap { curve in
                (0...last).map { curve.decode(Double($0) / Double(last)) * Double(last) }
            }
    }

    func curve(_ channel: Int) -> ToneCurve { curves.count == 1 ? curves[0] : curves[channel] }
}

/// Converts linear light on the samples' scale into the nearest samples.
struct EncodingTones: Sendable {
    /// Whether all channels have the curve of sRGB.
    let isSRGB: Bool
    /// The bytes of sRGB for all 16-bit values of light. A step of 16 bits is at most 1/20 of a step of bytes, even in the
    /// shadows.
    let bytes: [UInt8]
    private let curves: [ToneCurve]
    private let scales: [LightScale]

    /// The tables for floats and no curve, which are empty.
    static let none = EncodingTones([.sRGB], .f32)

    fileprivate init(_ curves: [ToneCurve], _ format: SampleFormat) {
        self.curves = curves
        isSRGB = curves == [.sRGB]
        bytes =
            isSRGB && format == .u8
            ? (0...65535).map { UInt8(rounding: ToneCurve.sRGB.encode(Double($0) / 65535) * 255) } : []
        scales = isSRGB || format == .f32 ? [] : curves.map { LightScale($0, full: format.full) }
    }

    func curve(_ channel: Int) -> ToneCurve { curves.count == 1 ? curves[0] : curves[channel] }

    /// The integer sample nearest to `light`; 0 for NaN.
    ///
    /// - Precondition: the format is an integer format, and ``isSRGB`` is false.
    func nearest(_ light: Double, _ channel: Int) -> Int {
        scales.count == 1 ? scales[0].nearest(light) : scales[channel].nearest(light)
    }
}

/// The light of an integer format's values by a curve. (For steep curves, no table over light is fine enough in the shadows.)
private struct LightScale: Sendable {
    /// For each value except the first: the smallest light that is nearer to it than to the value before.
    private let thresholds: [Double]
    /// For each multiple of 1/65536 of light: the number of thresholds that are not above it.
    private let starts: [Int32]
    private let scale: Double

    init(_ curve: ToneCurve, full: Double) {
        scale = 65536 / full
        thresholds = (0..<Int(full)).map { curve.decode((Double($0) + 0.5) / full) * full }
        var counts: [Int32] = []
        counts.reserveCapacity(65537)
        var count = 0
        for position in 0...65536 {
            while count < thresholds.count, thresholds[count] * scale <= Double(position) { count += 1 }
            counts.append(Int32(count))
        }
        starts = counts
    }

    func nearest(_ light: Double) -> Int {
        let position = light * scale
        guard position > 0 else { return Int(starts[0]) }
        guard position < 65536 else { return thresholds.count }
        var (low, high) = (Int(starts[Int(position)]), Int(starts[Int(position) + 1]))
        while low < high {
            let middle = (low + high) / 2
            if thresholds[middle] <= light { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The linear light of a colour channel's stored values: a rising curve, on a scale where 1 is full intensity.
///
/// Negative values use the curve of their magnitude, and values above 1 extend it, as in ``SRGBCurve``. The results have the
/// same bits on every CPU.
package enum ToneCurve: Hashable, Sendable {
    case sRGB
    /// Light at equidistant stored values from 0 to 1, at least two of them, with linear interpolation.
    case table([Double])
    /// The function `(a·x + b)^g + e` from `d` on, and `c·x + f` below.
    case power(g: Double, a: Double = 1, b: Double = 0, c: Double = 0, d: Double = 0, e: Double = 0, f: Double = 0)

    /// The linear light of a stored value.
    package func decode(_ value: Double) -> Double {
        if case .sRGB = self { return SRGBCurve.decode(value) }
        guard value.isFinite else { return value }
        let light = lightOfPositive(value.magnitude)
        return value < 0 ? -light : light
    }

    /// The stored value of linear light; the smallest one if several have that light.
    package func encode(_ light: Double) -> Double {
        if case .sRGB = self { return SRGBCurve.encode(light) }
        guard light.isFinite else { return light }
        let value = positiveValue(of: light.magnitude)
        return light < 0 ? -value : value
    }

    private func lightOfPositive(_ value: Double) -> Double {
        switch self {
        case .sRGB: return SRGBCurve.decode(value)
        case .table(let lights):
            let position = value * Double(lights.count - 1)
            let index = position < Double(lights.count - 2) ? Int(position) : lights.count - 2
            return lights[index] + (lights[index + 1] - lights[index]) * (position - Double(index))
        case .power(let g, let a, let b, let c, let d, let e, let f):
            return value >= d ? DeterministicMath.power(max(0, a * value + b), g) + e : c * value + f
        }
    }

    private func positiveValue(of light: Double) -> Double {
        switch self {
        case .sRGB: return SRGBCurve.encode(light)
        case .table(let lights):
            let index = Self.lastBelow(light, lights)
            let step = lights[index + 1] - lights[index]
            guard step > 0 else { return index == 0 ? 0 : 1 }
            return max(0, (Double(index) + (light - lights[index]) / step) / Double(lights.count - 1))
        case .power(let g, let a, let b, let c, let d, let e, let f):
            if light >= lightOfPositive(max(0, d)) {
                return max(0, (DeterministicMath.power(max(0, light - e), 1 / g) - b) / a)
            }
            return c > 0 ? max(0, min(d, (light - f) / c)) : 0
        }
    }

    /// The last linear segment that begins below `light`, or the first one if none does.
    private static func lastBelow(_ light: Double, _ lights: [Double]) -> Int {
        var (low, high) = (0, lights.count - 2)
        while low < high {
            let middle = (low + high + 1) / 2
            if lights[middle] < light { low = middle } else { high = middle - 1 }
        }
        return low
    }

    /// Whether light never falls and is not constant, so that the curve can be inverted.
    package var rises: Bool {
        if case .power(let g, let a, _, let c, _, _, _) = self, !(g > 0 && a > 0 && c >= 0) { return false }
        let lights = (0...1024).map { decode(Double($0) / 1024) }
        return zip(lights, lights.dropFirst()).allSatisfy { $0 <= $1 } && lights[1024] - lights[0] > 0.1
            && lights.allSatisfy(\.isFinite)
    }

    var isSRGB: Bool { if case .sRGB = self { true } else { false } }

    /// Whether the curve is that of sRGB, within the precision of profiles.
    package var isCloseToSRGB: Bool {
        (0...255).allSatisfy { abs(decode(Double($0) / 255) - SRGBCurve.decode(Double($0) / 255)) <= 1e-4 }
    }
}

/// A sample that can be converted to linear light and back.
///
/// Both directions keep the sample's scale: 0…255 for u8, 0…65535 for u16, 0…1 for f32.
protocol TransferSample: PixelSample {
    func linear(_ tones: borrowing DecodingTones, _ channel: Int) -> Double

    /// The sample nearest to linear light, clamped to the range of integer formats.
    init(linear: Double, _ tones: borrowing EncodingTones, _ channel: Int)
}

extension UInt8: TransferSample {
    @inline(__always) func linear(_ tones: borrowing DecodingTones, _ channel: Int) -> Double {
        tones.table[channel * tones.step + Int(self)]
    }

    @inline(__always) init(linear: Double, _ tones: borrowing EncodingTones, _ channel: Int) {
        self =
            tones.isSRGB
            ? tones.bytes[Int(UInt16(rounding: linear * 257))]
            : UInt8(truncatingIfNeeded: tones.nearest(linear, channel))
    }
}

extension UInt16: TransferSample {
    @inline(__always) func linear(_ tones: borrowing DecodingTones, _ channel: Int) -> Double {
        tones.table[channel * tones.step + Int(self)]
    }

    @inline(__always) init(linear: Double, _ tones: borrowing EncodingTones, _ channel: Int) {
        self =
            tones.isSRGB
            ? UInt16(rounding: SRGBCurve.encode(linear / UInt16.full) * UInt16.full)
            : UInt16(truncatingIfNeeded: tones.nearest(linear, channel))
    }
}

extension Float: TransferSample {
    @inline(__always) func linear(_ tones: borrowing DecodingTones, _ channel: Int) -> Double {
        tones.curve(channel).decode(Double(self))
    }

    @inline(__always) init(linear: Double, _ tones: borrowing EncodingTones, _ channel: Int) {
        self.init(rounding: tones.isSRGB ? SRGBCurve.encode(linear) : tones.curve(channel).encode(linear))
    }
}
