import Catalogs
import Geometry

/// What a kernel of 8-bit samples writes.
struct ByteOutput {
    /// The rectangle of all rows.
    let rect: PixelRect
    let layout: PixelLayout
    let operations: RowOperations
}

extension RowWriter<UInt8> {
    var output: ByteOutput { ByteOutput(rect: rect, layout: layout, operations: operations) }
}

/// A strip of columns of a kernel of 8-bit samples. It writes its rows from the top down, and keeps its state between two calls.
protocol ByteStrip: AnyObject {
    /// Stores the rows that are read, through the coordinate `y`. They need not be in the source afterwards.
    func makeRows(through y: Int)
    /// Writes the strip's columns of some rows: the first ones, or those below the rows of the previous call.
    func render(_ rows: Range<Int>, to target: RowWriter<UInt8>)
}

/// A kernel of 8-bit samples that works in strips of columns. The division does not affect any pixel.
struct ByteStrips {
    /// The number of pixels that are read on each side.
    let reach: (x: Int, y: Int)
    /// The number of rows above a new one that strips read again from the source. Strips that store their rows need none.
    var rereadRows = 0
    /// Divides columns of so many channels.
    let divide: (_ columns: Range<Int>, _ channels: Int) -> [Range<Int>]
    let make: (ByteSource, Range<Int>, ByteOutput) -> any ByteStrip

    /// Writes all rows, one strip after the other.
    func render(_ source: ByteSource, to target: RowWriter<UInt8>) {
        for columns in divide(target.rect.columns, target.layout.channels) {
            make(source, columns, target.output).render(target.rect.rows, to: target)
        }
    }

    /// Keeps all strips from band to band.
    ///
    /// - Parameter bytesOfValue: the memory of a strip for each value of a row that it reads.
    func runningForm(of output: RunningOutput, _ operations: RowOperations, bytesOfValue: Int) -> RunningForm? {
        let (columns, channels) = (output.rect.columns, output.layout.channels)
        let strips = divide(columns, channels)
        let values = (columns.count + strips.count * (2 * reach.x + 512)) * channels
        let rows = RunningStrips.rowsAtOnce + rereadRows
        guard values * bytesOfValue <= Self.mostBytes else { return nil }
        return RunningForm(rows: rows, bytes: values * bytesOfValue) {
            RunningBytes($0, output, operations) { source in
                let whole = ByteOutput(rect: output.rect, layout: output.layout, operations: operations)
                return RunningStrips(source, whole, self).render
            }
        }
    }

    /// If the state of all strips needs more memory, each band is rendered by itself: the rows of very wide pictures take enough.
    private static let mostBytes = 64 << 20
}

/// The strips of an output whose input arrives from the top down.
private final class RunningStrips {
    private let source: ByteSource
    private let strips: [any ByteStrip]
    private let reach: Int
    private let rereadRows: Int
    /// The first row that was not requested.
    private var next: Int

    /// The number of rows that all strips write before the first strip writes the next ones.
    static let rowsAtOnce = 64

    init(_ source: ByteSource, _ output: ByteOutput, _ strips: ByteStrips) {
        self.source = source
        self.strips = strips.divide(output.rect.columns, output.layout.channels).map {
            strips.make(source, $0, output)
        }
        reach = strips.reach.y
        rereadRows = strips.rereadRows
        next = output.rect.y - reach
    }

    /// Writes all rows of the target, which lie below those of the previous call.
    func render(to target: RowWriter<UInt8>) {
        for rows in target.rect.rows.pieces(of: Self.rowsAtOnce) {
            // The rows of the first window arrive in pieces, too, so that few are held.
            while next < rows.lowerBound + reach {
                require(through: min(next + Self.rowsAtOnce, rows.lowerBound + reach))
                for strip in strips { strip.makeRows(through: next - 1) }
            }
            require(through: rows.upperBound + reach)
            for strip in strips { strip.render(rows, to: target) }
        }
    }

    private func require(through end: Int) {
        source.require(next - rereadRows..<end)
        next = end
    }
}

extension RunningOutput {
    /// Whether loops for 8-bit samples write it.
    var isBytes: Bool { format == .u8 && light == .encoded }
}
