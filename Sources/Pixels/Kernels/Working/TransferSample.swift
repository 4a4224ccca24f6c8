import Arithmetic
import Raster

/// A sample that can be turned into linear light and back.
///
/// Both ways keep the sample's scale: 0…255 for u8, 0…65535 for u16, 0…1 for f32.
protocol TransferSample: PixelSample {
    func linear(_ tones: borrowing DecodingTones, _ channel: Int) -> Double

    /// The nearest sample to linear light, clamped to the range of integer formats.
    init(linear: Double, _ tones: borrowing EncodingTones, _ channel: Int)
}

extension UInt8: TransferSample {
    @inline(__always)
    func linear(_ tones: borrowing DecodingTones, _ channel: Int) -> Double {
        tones.table[channel * tones.step + Int(self)]
    }

    @inline(__always)
    init(linear: Double, _ tones: borrowing EncodingTones, _ channel: Int) {
        self =
            tones.isSRGB
            ? tones.bytes[Int(UInt16(rounding: linear * 257))]
            : UInt8(truncatingIfNeeded: tones.nearest(linear, channel))
    }
}

extension UInt16: TransferSample {
    @inline(__always)
    func linear(_ tones: borrowing DecodingTones, _ channel: Int) -> Double {
        tones.table[channel * tones.step + Int(self)]
    }

    @inline(__always)
    init(linear: Double, _ tones: borrowing EncodingTones, _ channel: Int) {
        self =
            tones.isSRGB
            ? UInt16(rounding: SRGBCurve.encode(linear / UInt16.full) * UInt16.full)
            : UInt16(truncatingIfNeeded: tones.nearest(linear, channel))
    }
}

extension Float: TransferSample {
    @inline(__always)
    func linear(_ tones: borrowing DecodingTones, _ channel: Int) -> Double {
        tones.curve(channel).decode(Double(self))
    }

    @inline(__always)
    init(linear: Double, _ tones: borrowing EncodingTones, _ channel: Int) {
        self.init(rounding: tones.isSRGB ? SRGBCurve.encode(linear) : tones.curve(channel).encode(linear))
    }
}
