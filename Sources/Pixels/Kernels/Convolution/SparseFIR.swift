import Catalogs
package import Geometry

/// A convolution with few taps that lie anywhere.
///
/// Cost: one multiplication and one addition per tap and sample, in double precision. Memory: the working rows of one
/// strip, 2·reachY + 1 rows of at least 64 pixels and the reach on both sides.
package struct SparseFIR: WorkingKernel {
    private let taps: SparseTaps
    private let weights: [Double]

    package init(_ taps: SparseTaps) {
        self.taps = taps
        weights = taps.taps.map(\.weight)
    }

    package var halo: Halo { Halo(horizontal: taps.reachX, vertical: taps.reachY) }

    package func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
        let channels = reader.layout.channels
        let height = 2 * taps.reachY + 1
        for strip in Strips.cut(area.columns, channels: channels, rows: height, margin: 2 * taps.reachX) {
            let columns = strip.lowerBound - taps.reachX..<strip.upperBound + taps.reachX
            var window = RowWindow(reader.source.rows, height: height, width: columns.count * channels)
            var sums = [Double](repeating: 0, count: strip.count * channels)
            for y in area.rows {
                window.slide(to: y - taps.reachY..<y + taps.reachY + 1) { position, row in
                    reader.read(columns: columns, atPosition: position, into: &row)
                }
                sum(window, y: y, channels: channels, into: &sums)
                sink.write(sums.span, x: strip.lowerBound, y: y)
            }
        }
    }

    private func sum(_ window: RowWindow, y: Int, channels: Int, into sums: inout [Double]) {
        let starts = taps.taps.map { window.start(of: y + $0.dy) + ($0.dx + taps.reachX) * channels }
        var target = sums.mutableSpan
        for index in target.indices { target[index] = 0 }
        WeightedSums.addSingles(starts.span, of: window.values.span, weights: weights.span, to: &target)
    }
}
