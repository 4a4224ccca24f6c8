import Catalogs
package import Raster

/// Converts the colours of one RGB or gray space into another's by their definitions: linear light, a matrix, and stored values
/// again. Alpha does not change.
///
/// Integers become the nearest ones of the result, cut off at black and full intensity. Floats are not cut off.
package struct LightConversion: Sendable {
    private let from: TransferCurve
    private let to: TransferCurve
    /// For each channel of the result, the shares of the source's channels.
    private let matrix: [[Double]]

    /// - Parameter matrix: one or three rows, of one or three numbers each.
    package init(from: TransferCurve, matrix: [[Double]], to: TransferCurve) {
        precondition(
            [1, 3].contains(matrix.count) && matrix.allSatisfy { $0.count == matrix[0].count }
                && [1, 3].contains(matrix[0].count), "colours are gray or RGB")
        (self.from, self.matrix, self.to) = (from, matrix, to)
    }

    /// - Parameter raster: gray or RGB, as the matrix has columns, with or without alpha.
    package func convert(_ raster: AnyRaster) -> AnyRaster {
        switch raster {
        case .u8(let raster): .u8(convert(raster))
        case .u16(let raster): .u16(convert(raster))
        case .f32(let raster): .f32(convert(raster))
        }
    }

    private func convert<Sample: TransferSample>(_ raster: Raster<Sample>) -> Raster<Sample> {
        let colors = matrix[0].count
        precondition(raster.layout.removingAlpha.channels == colors, "the matrix has a column for each colour")
        let gray: PixelLayout = raster.layout.hasAlpha ? .grayAlpha : .gray
        let layout: PixelLayout = matrix.count == 1 ? gray : raster.layout.hasAlpha ? .rgba : .rgb
        let (decoding, encoding) = (from.decoding(Sample.format), to.encoding(Sample.format))
        // Missing shares are 0, so that all cases have one loop.
        let rows = matrix.map { row in SIMD3(row[0], colors == 3 ? row[1] : 0, colors == 3 ? row[2] : 0) }
        let samples = raster.samples.span
        var result: [Sample] = []
        result.reserveCapacity(samples.count / raster.layout.channels * layout.channels)
        for pixel in Swift.stride(from: 0, to: samples.count, by: raster.layout.channels) {
            let first = samples[pixel].linear(decoding, 0)
            let (second, third) =
                colors == 3 ? (samples[pixel + 1].linear(decoding, 1), samples[pixel + 2].linear(decoding, 2)) : (0, 0)
            for (channel, row) in rows.enumerated() {
                let light = colors == 3 ? row.x * first + row.y * second + row.z * third : row.x * first
                result.append(Sample(linear: light, encoding, channel))
            }
            if layout.hasAlpha { result.append(samples[pixel + colors]) }
        }
        return Raster(rect: raster.rect, layout: layout, samples: result)
    }
}
