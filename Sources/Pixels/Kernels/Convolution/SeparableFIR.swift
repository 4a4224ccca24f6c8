import Catalogs
package import Geometry

/// A convolution with symmetric taps along the rows and then along the columns.
///
/// Cost: (rx + ry + 2) multiplications and twice as many additions per sample, in double precision. Memory: the
/// working rows of one strip, 2·ry + 1 rows of about 1 MB together, and never less than 64 pixels of each.
package struct SeparableFIR: WorkingKernel {
    private let horizontal: SymmetricTaps
    private let vertical: SymmetricTaps

    package init(horizontal: SymmetricTaps, vertical: SymmetricTaps) {
        self.horizontal = horizontal
        self.vertical = vertical
    }

    package var halo: Halo { Halo(horizontal: horizontal.radius, vertical: vertical.radius) }

    package func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
        let channels = reader.layout.channels
        let height = 2 * vertical.radius + 1
        for strip in Strips.cut(area.columns, channels: channels, rows: height) {
            let rowFilter = HorizontalFIR(horizontal, strip: strip, reader: reader)
            let columnFilter = VerticalFIR(vertical)
            var padded = [Double](repeating: 0, count: rowFilter.paddedCount)
            var sums = [Double](repeating: 0, count: strip.count * channels)
            var window = RowWindow(reader.source.rows, height: height, width: sums.count)
            for y in area.rows {
                window.slide(to: y - vertical.radius..<y + vertical.radius + 1) { position, row in
                    rowFilter.apply(position, padded: &padded, into: &row)
                }
                columnFilter.apply(window, y: y, into: &sums)
                sink.write(sums.span, x: strip.lowerBound, y: y)
            }
        }
    }
}

/// Filters a strip of one row, which it reads with a margin on both sides.
private struct HorizontalFIR {
    private let reader: PixelReader
    private let columns: Range<Int>
    private let center: Double
    private let weights: [Double]
    /// Where the two views of each weight start in the padded row.
    private let pairs: [Int]
    private let start: Int

    init(_ taps: SymmetricTaps, strip: Range<Int>, reader: PixelReader) {
        let channels = reader.layout.channels
        self.reader = reader
        columns = strip.lowerBound - taps.radius..<strip.upperBound + taps.radius
        center = taps.half[0]
        weights = Array(taps.half.dropFirst())
        start = taps.radius * channels
        pairs = weights.indices.flatMap {
            [(taps.radius - $0 - 1) * channels, (taps.radius + $0 + 1) * channels]
        }
    }

    /// Values in the strip with its margins.
    var paddedCount: Int { columns.count * reader.layout.channels }

    /// - Parameter padded: scratch space of ``paddedCount`` values.
    func apply(_ position: Int, padded: inout [Double], into row: inout MutableSpan<Double>) {
        var target = padded.mutableSpan
        reader.read(columns: columns, atPosition: position, into: &target)
        WeightedSums.set(&row, to: padded.span, from: start, times: center)
        WeightedSums.addPairs(pairs.span, of: padded.span, weights: weights.span, to: &row)
    }
}

/// Filters across the rows of a window.
private struct VerticalFIR {
    private let center: Double
    private let weights: [Double]

    init(_ taps: SymmetricTaps) {
        center = taps.half[0]
        weights = Array(taps.half.dropFirst())
    }

    func apply(_ window: RowWindow, y: Int, into sums: inout [Double]) {
        var pairs: [Int] = []
        pairs.reserveCapacity(2 * weights.count)
        for distance in 1..<weights.count + 1 {
            pairs.append(window.start(of: y - distance))
            pairs.append(window.start(of: y + distance))
        }
        var target = sums.mutableSpan
        WeightedSums.set(&target, to: window.values.span, from: window.start(of: y), times: center)
        WeightedSums.addPairs(pairs.span, of: window.values.span, weights: weights.span, to: &target)
    }
}
