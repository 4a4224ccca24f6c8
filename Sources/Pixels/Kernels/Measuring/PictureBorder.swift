package import Catalogs
package import Geometry
package import Raster

/// The border of one colour around the contents of a picture.
///
/// One pass over the rows is enough, whatever colour the border turns out to have. An outer row belongs to a border of one
/// colour exactly if its smallest and its largest samples are near that colour. So this class keeps the extremes of each
/// row and of each column. They need less memory than the picture if that is at least 8 pixels wide and high.
package final class PictureBorder {
    private enum Store {
        case u8(Extremes<UInt8>)
        case u16(Extremes<UInt16>)
        case f32(Extremes<Float>)
    }

    private let store: Store
    private let layout: PixelLayout
    private let format: SampleFormat

    /// - Parameters:
    ///   - width, height: the size of the picture.
    package init(width: Int, height: Int, layout: PixelLayout, format: SampleFormat) {
        (self.layout, self.format) = (layout, format)
        store =
            switch format {
            case .u8: .u8(Extremes(width, height, layout))
            case .u16: .u16(Extremes(width, height, layout))
            case .f32: .f32(Extremes(width, height, layout))
            }
    }

    /// Takes rows of the picture, in its full width and in coordinates that begin at (0, 0). The frames of an animation are
    /// taken one after the other; a pixel of the border has its colour in all of them.
    package func add(_ rows: AnyRaster) {
        switch (store, rows) {
        case (.u8(let extremes), .u8(let raster)): extremes.add(raster)
        case (.u16(let extremes), .u16(let raster)): extremes.add(raster)
        case (.f32(let extremes), .f32(let raster)): extremes.add(raster)
        default: preconditionFailure("the rows of a picture have its samples")
        }
    }

    /// The smallest rectangle with all pixels that differ from the colour of the border. Empty if no pixel does.
    ///
    /// Colours are compared premultiplied with their alpha, so that all transparent pixels are alike. NaN differs from every
    /// colour.
    ///
    /// - Parameters:
    ///   - color: nil for the colour of the corner whose border is the largest.
    ///   - tolerance: the largest difference of a channel within the border, as a part of full intensity.
    package func content(within color: BackgroundColor?, tolerance: Double) -> PixelRect {
        let allowed = tolerance * format.full
        let colors = color.map { [$0.premultiplied(layout, full: format.full)] } ?? corners
        // Of equal borders, the first one.
        return colors.map { content(near: $0, allowed) }.min { $0.area < $1.area } ?? .empty
    }

    private var corners: [[Double]] {
        switch store {
        case .u8(let extremes): extremes.corners
        case .u16(let extremes): extremes.corners
        case .f32(let extremes): extremes.corners
        }
    }

    private func content(near color: [Double], _ allowed: Double) -> PixelRect {
        switch store {
        case .u8(let extremes): extremes.content(near: color, allowed)
        case .u16(let extremes): extremes.content(near: color, allowed)
        case .f32(let extremes): extremes.content(near: color, allowed)
        }
    }
}

extension BackgroundColor {
    fileprivate func premultiplied(_ layout: PixelLayout, full: Double) -> [Double] {
        let straight = pixel(layout, full: full)
        guard layout.hasAlpha, let alpha = straight.last else { return straight }
        return straight.dropLast().map { $0 * alpha / full } + [alpha]
    }
}

/// The smallest and largest samples of each row and each column, by channel, premultiplied.
private final class Extremes<Sample: PixelSample> {
    private let width: Int
    private let height: Int
    private let channels: Int
    private let hasAlpha: Bool
    private var rowLows: [Sample]
    private var rowHighs: [Sample]
    private var columnLows: [Sample]
    private var columnHighs: [Sample]
    /// The pixels at the corners: top left, top right, bottom left, bottom right.
    private(set) var corners: [[Double]]

    init(_ width: Int, _ height: Int, _ layout: PixelLayout) {
        (self.width, self.height, channels, hasAlpha) = (width, height, layout.channels, layout.hasAlpha)
        let (lowest, highest) = (Sample(rounding: -.infinity), Sample(rounding: .infinity))
        rowLows = Array(repeating: highest, count: height * channels)
        rowHighs = Array(repeating: lowest, count: height * channels)
        columnLows = Array(repeating: highest, count: width * channels)
        columnHighs = Array(repeating: lowest, count: width * channels)
        corners = Array(repeating: Array(repeating: 0, count: channels), count: 4)
    }

    func add(_ raster: Raster<Sample>) {
        precondition(raster.rect.width == width && raster.rect.x == 0, "rows have the width of the picture")
        let highest = Sample(rounding: .infinity)
        var row = [Sample](repeating: highest, count: width * channels)
        for y in raster.rect.rows {
            let start = raster.index(x: 0, y: y)
            // NaN is as far away from every colour as a sample can be.
            for index in row.indices {
                let sample = raster.samples[start + index]
                row[index] = sample == sample ? sample : highest
            }
            if hasAlpha { premultiply(&row, highest) }
            for index in row.indices {
                columnLows[index] = min(columnLows[index], row[index])
                columnHighs[index] = max(columnHighs[index], row[index])
            }
            for channel in 0..<channels {
                var (low, high) = (rowLows[y * channels + channel], rowHighs[y * channels + channel])
                for index in stride(from: channel, to: row.count, by: channels) {
                    low = min(low, row[index])
                    high = max(high, row[index])
                }
                (rowLows[y * channels + channel], rowHighs[y * channels + channel]) = (low, high)
            }
            if y == 0 { noteCorners(of: row, from: 0) }
            if y == height - 1 { noteCorners(of: row, from: 2) }
        }
    }

    private func premultiply(_ row: inout [Sample], _ highest: Sample) {
        for pixel in stride(from: 0, to: row.count, by: channels) {
            let alpha = row[pixel + channels - 1].double
            for index in pixel..<pixel + channels - 1 {
                let product = Sample(rounding: row[index].double * alpha / Sample.full)
                row[index] = product == product ? product : highest
            }
        }
    }

    private func noteCorners(of row: [Sample], from first: Int) {
        corners[first] = row.prefix(channels).map(\.double)
        corners[first + 1] = row.suffix(channels).map(\.double)
    }

    /// The rectangle of the pixels with a channel that differs from the colour's by more than `allowed`.
    func content(near color: [Double], _ allowed: Double) -> PixelRect {
        let ranges = color.map { ($0 - allowed, $0 + allowed) }
        func isBorder(_ line: Int, _ lows: [Sample], _ highs: [Sample]) -> Bool {
            ranges.indices.allSatisfy { channel in
                lows[line * channels + channel].double >= ranges[channel].0
                    && highs[line * channels + channel].double <= ranges[channel].1
            }
        }
        func lines(_ count: Int, _ lows: [Sample], _ highs: [Sample]) -> Range<Int> {
            guard let first = (0..<count).first(where: { !isBorder($0, lows, highs) }),
                let last = (0..<count).last(where: { !isBorder($0, lows, highs) })
            else { return 0..<0 }
            return first..<last + 1
        }
        let (columns, rows) = (lines(width, columnLows, columnHighs), lines(height, rowLows, rowHighs))
        return columns.isEmpty || rows.isEmpty ? .empty : PixelRect(columns: columns, rows: rows)
    }
}
