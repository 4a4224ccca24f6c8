import Catalogs
import Geometry
import Raster

/// The 8-bit samples that a kernel reads, at any coordinate.
///
/// Rows are read in place wherever their columns lie side by side in the raster; at an edge, and where a vector would
/// read beyond a row, from copies of the few columns there.
final class ByteSource {
    let channels: Int
    let columns: AxisTable
    let rows: AxisTable
    /// Coordinates beyond which everything repeats.
    let columnCore: Range<Int>
    let rowCore: Range<Int>

    private let samples: UnsafePointer<UInt8>
    /// Pixels in a row of the raster.
    let rasterWidth: Int
    private let stride: Int
    private let run: (coordinates: Range<Int>, shift: Int)
    private let zeroRow: WorkBuffer<UInt8>

    /// - Parameter samples: the raster's; they outlive this object.
    init(_ source: KernelSource, samples: UnsafePointer<UInt8>) {
        channels = source.raster.layout.channels
        columns = source.columns
        rows = source.rows
        columnCore = columns.core
        rowCore = rows.core
        self.samples = samples
        rasterWidth = source.raster.rect.width
        stride = rasterWidth * channels
        run = columns.longestRun
        zeroRow = WorkBuffer(count: columns.range.count * channels + 2 * Reading.slack)
    }

    /// The columns that are read in place.
    var inPlaceColumns: Range<Int> { run.coordinates }

    /// Whether columns can be read in place, and a vector's width behind them.
    func isSafeInPlace(_ wanted: Range<Int>) -> Bool {
        run.coordinates.lowerBound <= wanted.lowerBound && wanted.upperBound + 64 <= run.coordinates.upperBound
    }

    /// A row of nothing, long enough for every column that is read in place.
    var zeros: UnsafePointer<UInt8> { UnsafePointer(zeroRow.base + Reading.slack) }

    /// The raster's row at a coordinate; negative where nothing is.
    func position(ofRow y: Int) -> Int {
        rows[min(max(y, rowCore.lowerBound), rowCore.upperBound - 1)]
    }

    /// The raster's samples of a row that has them.
    func rasterRow(_ position: Int) -> UnsafePointer<UInt8> { samples + position * stride }

    /// A pixel that lies in ``ColumnSegment/outputs`` of a segment read in place.
    @inline(__always)
    func inPlace(x: Int, position: Int) -> UnsafePointer<UInt8> {
        samples + (position &* stride &+ (x &+ run.shift) &* channels)
    }

    /// Copies the pixels of `wanted` columns; they may lie anywhere.
    func copy(_ wanted: Range<Int>, position: Int, to target: UnsafeMutablePointer<UInt8>) {
        let inside = wanted.clamped(to: run.coordinates)
        guard position >= 0, !inside.isEmpty else {
            return copyOneByOne(wanted, position, from: wanted.lowerBound, to: target)
        }
        copyOneByOne(wanted.lowerBound..<inside.lowerBound, position, from: wanted.lowerBound, to: target)
        (target + (inside.lowerBound - wanted.lowerBound) * channels).update(
            from: inPlace(x: inside.lowerBound, position: position), count: inside.count * channels)
        copyOneByOne(inside.upperBound..<wanted.upperBound, position, from: wanted.lowerBound, to: target)
    }

    private func copyOneByOne(
        _ wanted: Range<Int>, _ position: Int, from start: Int, to target: UnsafeMutablePointer<UInt8>
    ) {
        for x in wanted {
            let place = columns[min(max(x, columnCore.lowerBound), columnCore.upperBound - 1)]
            let pixel = target + (x - start) * channels
            guard position >= 0, place >= 0 else {
                pixel.update(repeating: 0, count: channels)
                continue
            }
            let from = samples + (position * stride + place * channels)
            for channel in 0..<channels { pixel[channel] = from[channel] }
        }
    }

    /// Whether there is a column at a coordinate.
    func isThere(_ x: Int) -> Bool { columns[min(max(x, columnCore.lowerBound), columnCore.upperBound - 1)] >= 0 }
}

/// What an inner loop reads around its outputs.
struct Reading {
    /// Source pixels from one output pixel to the next: 1 or 2.
    let scale: Int
    /// Source pixels before `scale` times the output, and behind it.
    let before: Int
    let after: Int
    /// Values that vectors read behind those.
    static let slack = 160
}

/// A part of the output's columns whose source rows are all read in the same way.
final class ColumnSegment {
    let outputs: Range<Int>
    private let source: ByteSource
    /// Nil when rows are read in place.
    private let copies: CopiedRows?

    private init(_ outputs: Range<Int>, _ source: ByteSource, copying: Reading?, window: Int) {
        self.outputs = outputs
        self.source = source
        copies = copying.map { reading in
            let columns =
                reading.scale * outputs.lowerBound - reading.before
                ..< reading.scale * (outputs.upperBound - 1) + reading.after + 1
            return CopiedRows(columns: columns, channels: source.channels, capacity: window)
        }
    }

    /// Cuts `outputs` into a middle part that can be read in place and what is left of it on both sides.
    static func cut(_ outputs: Range<Int>, of source: ByteSource, reading: Reading, window: Int) -> [ColumnSegment] {
        let beyond = (Reading.slack + source.channels - 1) / source.channels
        let run = source.inPlaceColumns
        let first = (run.lowerBound + reading.before).dividedRoundingUp(by: reading.scale)
        let end = (run.upperBound - beyond - reading.after).dividedRoundingDown(by: reading.scale)
        let middle = max(first, outputs.lowerBound)..<max(first, outputs.lowerBound, min(end, outputs.upperBound))
        guard middle.count >= 64 else { return [ColumnSegment(outputs, source, copying: reading, window: window)] }
        return [
            ColumnSegment(outputs.lowerBound..<middle.lowerBound, source, copying: reading, window: window),
            ColumnSegment(middle, source, copying: nil, window: window),
            ColumnSegment(middle.upperBound..<outputs.upperBound, source, copying: reading, window: window),
        ].filter { !$0.outputs.isEmpty }
    }

    /// The source pixel at the column `x` of the row at the coordinate `y`.
    func pixel(x: Int, y: Int) -> UnsafePointer<UInt8> {
        guard let copies else {
            let position = source.position(ofRow: y)
            return position < 0 ? source.zeros : source.inPlace(x: x, position: position)
        }
        let row = copies.row(y) { source.copy($0, position: source.position(ofRow: y), to: $1) }
        return UnsafePointer(row + (x - copies.columns.lowerBound) * source.channels)
    }
}

/// The latest rows of a few columns, copied when they are first asked for.
final class CopiedRows {
    let columns: Range<Int>
    private let memory: WorkBuffer<UInt8>
    private let stride: Int
    private let mask: Int
    private var held: [Int]

    init(columns: Range<Int>, channels: Int, capacity: Int) {
        self.columns = columns
        var count = 1
        while count < capacity { count *= 2 }
        stride = (columns.count * channels + 2 * Reading.slack + 63) & ~63
        mask = count - 1
        held = Array(repeating: Int.min, count: count)
        memory = WorkBuffer(count: stride * count)
    }

    func row(_ y: Int, fill: (Range<Int>, UnsafeMutablePointer<UInt8>) -> Void) -> UnsafeMutablePointer<UInt8> {
        let slot = y & mask
        let row = memory.base + (slot * stride + Reading.slack)
        if held[slot] != y {
            fill(columns, row)
            held[slot] = y
        }
        return row
    }
}

extension Int {
    fileprivate func dividedRoundingDown(by divisor: Int) -> Int { divisor == 2 ? self >> 1 : self }
    fileprivate func dividedRoundingUp(by divisor: Int) -> Int { divisor == 2 ? (self + 1) >> 1 : self }
}
