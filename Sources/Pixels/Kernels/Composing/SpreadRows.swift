import Catalogs
import Raster

/// Rows of working values in a layout that has as many colours as the source, or three in place of one, and alpha where
/// that is wished.
struct SpreadRows {
    /// What was read last.
    private(set) var row: [Double]
    private let reader: PixelReader
    private let columns: Range<Int>
    private let layout: PixelLayout
    private var stored: [Double]

    init(_ source: KernelSource, _ layout: PixelLayout, _ columns: Range<Int>) {
        let own = layout.hasAlpha ? source.raster.layout.addingAlpha : source.raster.layout
        reader = PixelReader(source, layout: own, light: .encoded)
        self.layout = layout
        self.columns = columns
        stored = [Double](repeating: 0, count: columns.count * own.channels)
        row = [Double](repeating: 0, count: columns.count * layout.channels)
    }

    /// Reads the source's row at a coordinate.
    mutating func read(_ y: Int) {
        guard reader.layout != layout else { return read(y, into: &row) }
        read(y, into: &stored)
        let (from, to) = (reader.layout.channels, layout.channels)
        for pixel in 0..<columns.count {
            for color in 0..<layout.removingAlpha.channels { row[pixel * to + color] = stored[pixel * from] }
            if layout.hasAlpha { row[pixel * to + to - 1] = stored[pixel * from + from - 1] }
        }
    }

    private func read(_ y: Int, into values: inout [Double]) {
        let position = reader.source.rows[y]
        guard position >= 0 else {
            for index in values.indices { values[index] = 0 }
            return
        }
        var span = values.mutableSpan
        reader.read(columns: columns, atPosition: position, into: &span)
    }
}
