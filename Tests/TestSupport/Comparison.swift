package import Catalogs
package import Kernels
package import Raster

/// How far a rendered picture is from the truth at worst: in premultiplied colours and in alpha, on the samples' scale.
package func worstError(_ picture: AnyRaster, _ truth: TruePixels, light: Light = .encoded) -> Double {
    let actual = TruePixels(picture, light: light)
    precondition(actual.rect == truth.rect && actual.channels == truth.channels, "pictures of one shape are compared")
    return zip(actual.values, truth.values).reduce(0) { worst, pair in
        let error = abs(pair.0 - pair.1)
        return error <= worst ? worst : error  // NaN is the worst
    }
}

extension SampleFormat {
    /// The error that the design allows, on the samples' scale.
    package var allowedError: Double {
        switch self {
        case .u8: 0.75
        case .u16: 8
        case .f32: 1e-4
        }
    }

    /// What is blurred keeps 16 bits, so that all of it is rounded once.
    package var allowedEffectError: Double {
        switch self {
        case .u8: 1
        case .u16: 20  // saturations multiply the blur's error
        case .f32: 3e-4
        }
    }
}

extension AnyRaster {
    /// True when both have the same rectangle, layout and bytes; unlike `==` it also tells NaNs apart.
    package func hasSameBytes(as other: AnyRaster) -> Bool {
        guard rect == other.rect, layout == other.layout, format == other.format else { return false }
        return bytes == other.bytes
    }

    package var bytes: [UInt8] {
        withBytes { span in span.withUnsafeBytes { Array($0) } }
    }
}
