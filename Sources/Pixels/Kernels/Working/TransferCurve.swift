import Catalogs
import Raster
import Synchronization

/// How much linear light the stored colours of a picture stand for, channel by channel. Kernels that work in linear light
/// convert by it, both ways.
///
/// The tables of the curves are made when they are first needed, and once for all that share this value.
public struct TransferCurve: Sendable {
    /// Of pictures without a profile of their own.
    public static let sRGB = TransferCurve([.sRGB])

    /// Of each colour channel, or one of all of them.
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

/// Turns samples into linear light on their own scale: 0…255, 0…65535, 0…1.
struct DecodingTones: Sendable {
    /// The light of every value of an integer format, channel by channel.
    let table: [Double]
    /// From a channel's part of the table to the next one's; 0 where all have one.
    let step: Int
    private let curves: [ToneCurve]

    /// Of nothing.
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

/// Turns linear light on the samples' scale into the nearest samples.
struct EncodingTones: Sendable {
    /// True when all channels have sRGB's curve.
    let isSRGB: Bool
    /// sRGB's bytes of all 16-bit values of light: a step of those is at most 1/20 of a step of bytes, even in the shadows.
    let bytes: [UInt8]
    private let curves: [ToneCurve]
    private let scales: [LightScale]

    /// Of nothing.
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

    /// The integer sample that is nearest to `light`; NaN gives 0.
    ///
    /// - Precondition: an integer format, and not ``isSRGB``.
    func nearest(_ light: Double, _ channel: Int) -> Int {
        scales.count == 1 ? scales[0].nearest(light) : scales[channel].nearest(light)
    }
}

/// The light of an integer format's values by a curve. (A steep one has no table of light that is fine enough in the shadows.)
private struct LightScale: Sendable {
    /// For each value but the first: the least light that is nearer to it than to the value before.
    private let thresholds: [Double]
    /// For each whole 65536th of light: how many thresholds are not above it.
    private let starts: [Int32]
    private let scale: Double

    init(_ curve: ToneCurve, full: Double) {
        scale = 65536 / full
        thresholds = (0..<Int(full)).map { curve.decode((Double($0) + 0.5) / full) * full }
        var counts: [Int32] = []
        counts.reserveCapacity(65537)
        var count = 0
        for place in 0...65536 {
            while count < thresholds.count, thresholds[count] * scale <= Double(place) { count += 1 }
            counts.append(Int32(count))
        }
        starts = counts
    }

    func nearest(_ light: Double) -> Int {
        let place = light * scale
        guard place > 0 else { return Int(starts[0]) }
        guard place < 65536 else { return thresholds.count }
        var (low, high) = (Int(starts[Int(place)]), Int(starts[Int(place) + 1]))
        while low < high {
            let middle = (low + high) / 2
            if thresholds[middle] <= light { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
