package import Catalogs
package import Geometry
package import Kernels
package import Raster

/// A picture of independent samples, the same on every machine. A third of its pixels is clear and a third is opaque, unless all are.
package struct NoisePicture {
    package let raster: AnyRaster

    package init(_ rect: PixelRect, _ layout: PixelLayout, _ format: SampleFormat, isOpaque: Bool) {
        raster =
            switch format {
            case .u8: .u8(Self.raster(rect, layout, isOpaque))
            case .u16: .u16(Self.raster(rect, layout, isOpaque))
            case .f32: .f32(Self.raster(rect, layout, isOpaque))
            }
    }

    /// The picture as a kernel reads it, with repeated edges up to `reach` pixels outside.
    package func source(reach: Int = 400) -> KernelSource {
        func table(_ range: Range<Int>) -> AxisTable {
            let wide = range.lowerBound - reach..<range.upperBound + reach
            return AxisTable(
                range: wide, positions: wide.map { Int32(min(max($0 - range.lowerBound, 0), range.count - 1)) })
        }
        return KernelSource(
            raster: raster, columns: table(raster.rect.columns), rows: table(raster.rect.rows),
            // Bytes without alpha have a loop of their own for sRGB.
            curve: raster.layout == .gray ? .sRGB : TransferCurve([.power(g: 1.8), .power(g: 2.2), .sRGB]))
    }

    private static func raster<Sample: PixelSample>(
        _ rect: PixelRect, _ layout: PixelLayout, _ isOpaque: Bool
    ) -> Raster<Sample> {
        // A linear congruential generator (Knuth). Its high bits are random enough.
        var state: UInt64 = 1
        func share() -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 40) / Double(1 << 24)
        }
        var samples: [Sample] = []
        samples.reserveCapacity(rect.area * layout.channels)
        for _ in 0..<rect.area {
            for _ in 0..<layout.removingAlpha.channels { samples.append(Sample(rounding: share() * Sample.full)) }
            if layout.hasAlpha {
                let alpha = isOpaque ? 1 : min(max(share() * 3 - 1, 0), 1)
                samples.append(Sample(rounding: alpha * Sample.full))
            }
        }
        return Raster(rect: rect, layout: layout, samples: samples)
    }
}
