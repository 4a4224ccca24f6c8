import Catalogs
import Raster
import Synchronization

/// How much linear light the stored colours of a picture stand for, channel by channel. Kernels that work in linear light convert by
/// it, both ways.
///
/// The tables of a curve are made when they are first needed, and once for all that share this value.
public struct TransferCurve: Sendable {
    /// Of pictures without a profile of their own.
    public static let sRGB = TransferCurve([.sRGB])

    private let tables: [ToneTables]

    /// - Parameter curves: one for all channels, or one for each colour channel.
    package init(_ curves: [ToneCurve]) {
        precondition(!curves.isEmpty, "a channel has a curve")
        let isShared = curves.allSatisfy { $0 == curves[0] }
        tables = (isShared ? [curves[0]] : curves).map(ToneTables.init)
    }

    /// Of each channel, or one of all of them.
    package var curves: [ToneCurve] { tables.map(\.curve) }

    func decoders(_ format: SampleFormat) -> ChannelTones<ToneDecoder> {
        ChannelTones(tones: tables.map { $0.decoder(format) })
    }

    func encoders(_ format: SampleFormat) -> ChannelTones<ToneEncoder> {
        ChannelTones(tones: tables.map { $0.encoder(format) })
    }
}

/// What converts the samples of each colour channel: one for all, or one for each.
struct ChannelTones<Tone: Sendable>: Sendable {
    let tones: [Tone]

    @inline(__always)
    subscript(channel: Int) -> Tone { tones.count == 1 ? tones[0] : tones[channel] }
}

/// The tables of one curve.
private final class ToneTables: Sendable {
    let curve: ToneCurve
    private let decoders = Mutex<[SampleFormat: ToneDecoder]>([:])
    private let encoders = Mutex<[SampleFormat: ToneEncoder]>([:])

    init(_ curve: ToneCurve) { self.curve = curve }

    func decoder(_ format: SampleFormat) -> ToneDecoder {
        decoders.withLock { known in
            if let decoder = known[format] { return decoder }
            let decoder = ToneDecoder(curve, format)
            known[format] = decoder
            return decoder
        }
    }

    func encoder(_ format: SampleFormat) -> ToneEncoder {
        encoders.withLock { known in
            if let encoder = known[format] { return encoder }
            let encoder = ToneEncoder(curve, format)
            known[format] = encoder
            return encoder
        }
    }
}

/// Turns samples into linear light on their own scale: 0…255, 0…65535, 0…1.
struct ToneDecoder: Sendable {
    let curve: ToneCurve
    /// The light of every value of an integer format.
    let table: [Double]

    init(_ curve: ToneCurve, _ format: SampleFormat) {
        self.curve = curve
        let last = format == .f32 ? 0 : Int(format.full)
        table = format == .f32 ? [] : (0...last).map { curve.decode(Double($0) / Double(last)) * Double(last) }
    }
}

/// Turns linear light on the samples' scale into the nearest samples.
struct ToneEncoder: Sendable {
    let curve: ToneCurve
    /// sRGB's bytes of all 16-bit values of light: a step of those is at most 1/20 of a step of bytes, even in the shadows.
    let bytes: [UInt8]
    /// Of an integer format with another curve: for each value but the first, the least light that is nearer to it than to the value
    /// before. A steep curve has no table of light that is fine enough in the shadows.
    private let thresholds: [Double]
    /// For each whole 65536th of light: how many thresholds are not above it.
    private let starts: [Int32]
    private let scale: Double

    init(_ curve: ToneCurve, _ format: SampleFormat) {
        self.curve = curve
        let full = format.full
        scale = 65536 / full
        if case .sRGB = curve {
            bytes = format == .u8 ? (0...65535).map { UInt8(rounding: curve.encode(Double($0) / 65535) * 255) } : []
            (thresholds, starts) = ([], [])
            return
        }
        bytes = []
        let limits = format == .f32 ? [] : (0..<Int(full)).map { curve.decode((Double($0) + 0.5) / full) * full }
        var counts: [Int32] = []
        var count = 0
        if format != .f32 {
            counts.reserveCapacity(65537)
            for place in 0...65536 {
                while count < limits.count, limits[count] * scale <= Double(place) { count += 1 }
                counts.append(Int32(count))
            }
        }
        (thresholds, starts) = (limits, counts)
    }

    /// The integer sample that is nearest to `light`; NaN gives 0.
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
