package import Catalogs
package import Geometry

/// What a codec takes of one core's time for a picture of 8-bit RGB, in nanoseconds a pixel: measured on photographs
/// with the formats' usual options, and rough; the planner weighs them against filters.
package struct CodecCost: Hashable, Sendable {
    let decode: Double
    let encode: Double

    /// In seconds.
    package func decoding(_ shape: ImageShape) -> Double {
        seconds(decode, pixels: shape.width * shape.height, shape.layout, bytesPerSample: shape.sampleFormat.bytes)
    }

    /// In seconds.
    package func encoding(_ rect: PixelRect, _ layout: PixelLayout, _ format: SampleFormat) -> Double {
        seconds(encode, pixels: rect.area, layout, bytesPerSample: format.bytes)
    }

    private func seconds(_ cost: Double, pixels: Int, _ layout: PixelLayout, bytesPerSample: Int) -> Double {
        cost * Double(pixels) * Double(layout.channels * bytesPerSample) / 3 / 1e9
    }
}
