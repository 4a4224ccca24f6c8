import Catalogs
import Geometry
import ImageFiles
import JobModel
import Raster

/// Made-up pictures.
enum Pictures {
    /// Every sample differs from its neighbours, and high and low bytes differ; alpha covers all values, 0 included.
    static func busy(
        width: Int = 37, height: Int = 29, layout: PixelLayout = .rgb, format: SampleFormat = .u8
    ) -> AnyRaster {
        picture(width: width, height: height, layout: layout, format: format) { x, y, channel in
            let hash = (x &* 73_856_093 ^ y &* 19_349_663 ^ channel &* 83_492_791) & 0xFFFF
            return Double((hash ^ hash >> 7) & 0xFFFF) / 65535
        }
    }

    /// Changes slowly, so that lossy formats keep it nearly as it is.
    static func smooth(
        width: Int = 64, height: Int = 48, layout: PixelLayout = .rgb, format: SampleFormat = .u8
    ) -> AnyRaster {
        picture(width: width, height: height, layout: layout, format: format) { x, y, channel in
            if layout.hasAlpha, channel == layout.channels - 1 { return 1 - Double(y) / Double(4 * height) }
            return (Double(x) / Double(width) + Double(y * (channel + 1)) / Double(height * 3)) / 2
        }
    }

    /// - Parameter value: 0–1 for a column, a row and a channel.
    static func picture(
        width: Int, height: Int, layout: PixelLayout, format: SampleFormat, _ value: (Int, Int, Int) -> Double
    ) -> AnyRaster {
        let rect = PixelRect(x: 0, y: 0, width: width, height: height)
        func raster<Sample: PixelSample>(_ type: Sample.Type) -> AnyRaster {
            var samples: [Sample] = []
            for y in 0..<height {
                for x in 0..<width {
                    for channel in 0..<layout.channels {
                        samples.append(Sample(rounding: value(x, y, channel) * Sample.full))
                    }
                }
            }
            return Sample.erase(Raster(rect: rect, layout: layout, samples: samples))
        }
        return switch format {
        case .u8: raster(UInt8.self)
        case .u16: raster(UInt16.self)
        case .f32: raster(Float.self)
        }
    }
}

extension AnyRaster {
    var shape: ImageShape {
        ImageShape(width: rect.width, height: rect.height, layout: layout, sampleFormat: format)
    }

    /// All samples as numbers, 0–1 for integers.
    var values: [Double] {
        switch self {
        case .u8(let raster): raster.samples.map { $0.double / 255 }
        case .u16(let raster): raster.samples.map { $0.double / 65535 }
        case .f32(let raster): raster.samples.map(\.double)
        }
    }

    func largestDifference(from other: AnyRaster) -> Double {
        zip(values, other.values).reduce(0) { max($0, abs($1.0 - $1.1)) }
    }
}

extension AnyRaster {
    /// The samples in memory order.
    var bytes: [UInt8] {
        withBytes { span in span.withUnsafeBytes { [UInt8]($0) } }
    }

    /// The samples, each with its highest byte first.
    var bigEndianBytes: [UInt8] {
        let size = format.bytes
        let bytes = self.bytes
        return stride(from: 0, to: bytes.count, by: size).flatMap { bytes[$0..<$0 + size].reversed() }
    }
}
