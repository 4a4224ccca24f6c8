import Arithmetic
import Raster

/// A sample that can be turned into linear light and back.
///
/// Both ways keep the sample's scale: 0…255 for u8, 0…65535 for u16, 0…1 for f32.
protocol TransferSample: PixelSample {
    func linear(_ tone: ToneDecoder) -> Double

    /// The nearest sample to linear light, clamped to the range of integer formats.
    init(linear: Double, _ tone: ToneEncoder)
}

extension UInt8: TransferSample {
    func linear(_ tone: ToneDecoder) -> Double { tone.table[Int(self)] }

    init(linear: Double, _ tone: ToneEncoder) {
        self =
            tone.curve.isSRGB
            ? tone.bytes[Int(UInt16(rounding: linear * 257))] : UInt8(truncatingIfNeeded: tone.nearest(linear))
    }
}

extension UInt16: TransferSample {
    func linear(_ tone: ToneDecoder) -> Double { tone.table[Int(self)] }

    init(linear: Double, _ tone: ToneEncoder) {
        self =
            tone.curve.isSRGB
            ? UInt16(rounding: SRGBCurve.encode(linear / UInt16.full) * UInt16.full)
            : UInt16(truncatingIfNeeded: tone.nearest(linear))
    }
}

extension Float: TransferSample {
    func linear(_ tone: ToneDecoder) -> Double { tone.curve.decode(Double(self)) }

    init(linear: Double, _ tone: ToneEncoder) {
        self.init(rounding: tone.curve.encode(linear))
    }
}

extension [Double] {
    /// Lends the address of the first of a table's values.
    func withBase(_ body: (UnsafePointer<Double>) -> Void) {
        withUnsafeBufferPointer { buffer in
            if let base = buffer.baseAddress { body(base) }
        }
    }
}
