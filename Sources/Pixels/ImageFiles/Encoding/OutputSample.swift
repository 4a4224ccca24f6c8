import Raster

/// The arithmetic that output conversion needs of each sample type.
protocol OutputSample: PixelSample {
    /// The sample for `value` of 255.
    static func from255(_ value: Int) -> Self
    /// `color` at opacity `alpha`, in front of `background`.
    static func blend(_ color: Self, _ alpha: Self, over background: Self) -> Self
    static func toU8(_ sample: Self) -> UInt8
    static func toU16(_ sample: Self) -> UInt16
}

extension UInt8: OutputSample {
    static func from255(_ value: Int) -> UInt8 { UInt8(clamping: value) }

    static func blend(_ color: UInt8, _ alpha: UInt8, over background: UInt8) -> UInt8 {
        let sum = UInt32(color) * UInt32(alpha) + UInt32(background) * UInt32(255 - alpha)
        return UInt8((2 * sum + 255) / 510)
    }

    static func toU8(_ sample: UInt8) -> UInt8 { sample }

    /// Exact: 65535 is 257 times 255.
    static func toU16(_ sample: UInt8) -> UInt16 { UInt16(sample) * 257 }
}

extension UInt16: OutputSample {
    static func from255(_ value: Int) -> UInt16 { UInt16(UInt8(clamping: value)) * 257 }

    static func blend(_ color: UInt16, _ alpha: UInt16, over background: UInt16) -> UInt16 {
        let sum = UInt64(color) * UInt64(alpha) + UInt64(background) * UInt64(65535 - alpha)
        return UInt16((2 * sum + 65535) / 131070)
    }

    static func toU8(_ sample: UInt16) -> UInt8 { UInt8((UInt32(sample) * 510 + 65535) / 131070) }

    static func toU16(_ sample: UInt16) -> UInt16 { sample }
}

extension Float: OutputSample {
    static func from255(_ value: Int) -> Float { Float(UInt8(clamping: value)) / 255 }

    /// In double precision, with the opacity clamped to 0–1.
    static func blend(_ color: Float, _ alpha: Float, over background: Float) -> Float {
        let opacity = max(0, min(1, alpha.double))
        return Float(color.double * opacity + background.double * (1 - opacity))
    }

    static func toU8(_ sample: Float) -> UInt8 { UInt8(rounding: sample.double * 255) }

    static func toU16(_ sample: Float) -> UInt16 { UInt16(rounding: sample.double * 65535) }
}
