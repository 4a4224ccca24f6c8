import Catalogs
import Geometry
import Raster

extension KernelSource {
    /// Renders with loops for 8-bit samples into every pixel of a destination, or into the pixels that a mask covers.
    ///
    /// - Parameter body: writes all rows.
    func renderBytes(
        within mask: Mask?, on level: CPULevel, into destination: inout AnyRaster,
        _ body: (ByteSource, RowWriter<UInt8>) -> Void
    ) {
        render(within: mask, into: &destination) { renderBytes(on: level, into: &$0, body) }
    }

    /// Lends the 8-bit samples to `body`.
    func withBytes(columns: Range<Int>, _ body: (ByteSource) -> Void) {
        guard case .u8(let own) = raster else { preconditionFailure("8-bit samples") }
        own.samples.withRow { body(ByteSource(self, samples: $0, wanted: columns)) }
    }

    private func renderBytes(
        on level: CPULevel, into destination: inout AnyRaster, _ body: (ByteSource, RowWriter<UInt8>) -> Void
    ) {
        // A raster without pixels is lent, too, because its tables are transparent everywhere.
        withBytes(columns: destination.rect.columns) { bytes in
            destination.writeBytes(.of(level)) { body(bytes, $0) }
        }
    }
}

extension AnyRaster {
    /// Writes 8-bit samples. There is no call for a rectangle without pixels.
    mutating func writeBytes(_ operations: RowOperations, _ body: (RowWriter<UInt8>) -> Void) {
        modifyU8 { $0.write(operations, body) }
    }

    /// Writes 16-bit samples. There is no call for a rectangle without pixels.
    mutating func writeWords(_ operations: RowOperations, _ body: (RowWriter<UInt16>) -> Void) {
        modifyU16 { $0.write(operations, body) }
    }
}

extension Raster {
    fileprivate mutating func write(_ operations: RowOperations, _ body: (RowWriter<Sample>) -> Void) {
        let (layout, rect) = (layout, rect)
        guard !rect.isEmpty else { return }
        samples.withMutableRow { samples in
            let writer = RowWriter<Sample>(samples, rect: rect, layout: layout, operations)
            body(writer)
            writer.finish()
        }
    }
}

/// Writes finished rows of samples into a raster.
///
/// Rows are finished in a buffer in the first-level cache, where loops may write whole vectors, and are then copied. If the
/// picture is larger than the caches, the copy bypasses them. That avoids reading each cache line before it is written.
final class RowWriter<Sample: BitwiseCopyable> {
    let rect: PixelRect
    let layout: PixelLayout
    let operations: RowOperations
    private let target: MutableRow<Sample>
    private let rows: RowBuffer<Sample>
    /// Whether rows that are written in place may bypass the caches.
    let streams: Bool

    /// The rows of a picture of this size, or of a larger one, bypass the caches. It is the size of a second-level cache. (With 16 MB,
    /// a gray picture of 12 megapixels took a quarter longer.)
    private static var streamedBytes: Int { 4 << 20 }

    /// - Parameter target: all samples of the rectangle, rows without padding.
    init(_ target: MutableRow<Sample>, rect: PixelRect, layout: PixelLayout, _ operations: RowOperations) {
        self.target = target
        self.rect = rect
        self.layout = layout
        self.operations = operations
        streams = rect.area * layout.channels * MemoryLayout<Sample>.stride >= Self.streamedBytes
        rows = RowBuffer(count: 2 * Self.bufferSize(rect, layout))
    }

    private static func bufferSize(_ rect: PixelRect, _ layout: PixelLayout) -> Int {
        (rect.width * layout.channels + 256 + 63) & ~63
    }

    /// A buffer for a row and 192 values after it.
    var row: MutableRow<Sample> { rows.start }
    /// A buffer for a second row.
    var secondRow: MutableRow<Sample> { rows.start + rows.count / 2 }

    /// The row's position in the raster, for loops that write nothing beyond its end.
    func inPlace(y: Int) -> MutableRow<Sample> { target + (y - rect.y) * rect.width * layout.channels }

    func store(_ row: MutableRow<Sample>, y: Int) { store(row, columns: rect.columns, y: y) }

    /// Copies a part of a row into the raster.
    func store(_ row: MutableRow<Sample>, columns: Range<Int>, y: Int) {
        let start = ((y - rect.y) * rect.width + columns.lowerBound - rect.x) * layout.channels
        operations.storeRow(Row(row), count: columns.count * layout.channels, streams: streams, out: target + start)
    }

    /// Makes all rows visible to other threads.
    func finish() {
        if streams { operations.endStreaming() }
    }
}

extension RowWriter<UInt8> {
    /// Copies a part of a row of words in 8.7 fixed point into the raster, as samples.
    ///
    /// - Parameter isOpaque: whether all pixels have full alpha, so that no division by alpha is needed.
    func storeWords(_ words: MutableRow<UInt16>, isOpaque: Bool, columns: Range<Int>, y: Int) {
        if isOpaque {
            operations.roundWords(Row(words), count: columns.count * layout.channels, bytes: row)
        } else {
            operations.unpremultiply(
                Row(words), zero: 0, colors: layout.channels - 1, pixels: columns.count, out: row)
        }
        store(row, columns: columns, y: y)
    }
}

/// The 8-bit samples that a kernel reads, at any coordinate.
///
/// Rows are read in place if their columns are contiguous in the raster. At an edge, and where a vector would read beyond a
/// row, copies of a few columns are read.
final class ByteSource {
    let channels: Int
    let columns: AxisTable
    let rows: AxisTable
    /// The coordinates beyond which the tables repeat their first and last entries.
    let columnCore: Range<Int>
    let rowCore: Range<Int>

    private var samples: Row<UInt8>
    /// Pixels in a row of the raster.
    let rasterWidth: Int
    private let stride: Int
    private let run: (coordinates: Range<Int>, shift: Int)
    private let zeroRow: RowBuffer<UInt8>
    private var opacity: [Bool?]
    /// The rows of a picture that is still arriving; nil if the raster has all rows.
    private let arriving: ArrivingSamples<UInt8>?
    /// The rows that vectors can overread without leaving the raster. Other rows are copied.
    private let innerRows: Range<Int>
    private let outerRows: RowBuffer<UInt8>
    /// The table of row positions over the core, for loops that look up a window's rows.
    private let positions: RowBuffer<Int32>

    /// - Parameters:
    ///   - samples: the raster's samples, which must outlive this object.
    ///   - wanted: the output's columns. As many of them as possible are read in place.
    convenience init(_ source: KernelSource, samples: Row<UInt8>, wanted: Range<Int>) {
        self.init(
            source.raster.rect.width, source.raster.layout, source.columns, source.rows, samples: samples,
            wanted: wanted, copiesFrom: source.raster.rect.height)
        for position in 0..<source.raster.rect.height where !innerRows.contains(position) {
            outerRow(position).update(from: rasterRow(position), count: stride)
        }
    }

    /// A source whose rows are still arriving. ``require(_:)`` waits for them.
    convenience init(_ input: ArrivingInput, wanted: Range<Int>) {
        let arriving = ArrivingSamples<UInt8>(input)
        self.init(
            input.extent.width, input.layout, input.columns, input.rows, samples: arriving.samples, wanted: wanted,
            copiesFrom: nil, arriving)
    }

    /// - Parameter height: the number of rows of the raster; nil if vectors may overread all of its rows.
    private init(
        _ width: Int, _ layout: PixelLayout, _ columns: AxisTable, _ rows: AxisTable, samples: Row<UInt8>,
        wanted: Range<Int>, copiesFrom height: Int?, _ arriving: ArrivingSamples<UInt8>? = nil
    ) {
        channels = layout.channels
        self.columns = columns
        self.rows = rows
        columnCore = columns.core
        rowCore = rows.core
        self.samples = samples
        self.arriving = arriving
        rasterWidth = width
        stride = width * channels
        run = columns.longestRun(in: wanted)
        opacity = Array(repeating: nil, count: height ?? 0)
        positions = RowBuffer(count: rowCore.count)
        for (index, y) in rowCore.enumerated() { positions[index] = Int32(rows[y]) }
        if let height {
            let outer = stride == 0 ? 0 : (Reading.slack + stride - 1) / stride
            innerRows = min(outer, height)..<max(min(outer, height), height - outer)
            outerRows = RowBuffer(count: (height - innerRows.count) * (stride + 2 * Reading.slack))
        } else {
            innerRows = 0..<Int.max
            outerRows = RowBuffer(count: 0)
        }
        zeroRow = RowBuffer(count: columns.range.count * channels + 2 * Reading.slack)
    }

    /// Waits until the rows `y` (coordinates) have arrived; see ``Arrival/require(_:store:)``.
    func require(_ y: Range<Int>) {
        guard let arriving, arriving.require(y) else { return }
        samples = arriving.samples
        opacity = Array(repeating: nil, count: arriving.capacity)
    }

    /// Keeps the rows from a coordinate on, although rows below them are asked for.
    func keep(from y: Int) { arriving?.kept = y }

    /// The error of the input. After it, the samples of rows are unspecified.
    var failure: (any Error)? { arriving?.failure }

    /// See ``RunningKernel/heldRows``.
    var heldRows: Int { arriving?.heldRows ?? 0 }

    /// A row of zeros that is long enough for every column that is read in place.
    private var zeros: Row<UInt8> { Row(zeroRow.start.moved(unchecked: Reading.slack)) }

    /// The columns that can be read in place.
    var inPlaceColumns: Range<Int> { run.coordinates }

    /// Whether columns can be read in place.
    func isSafeInPlace(_ wanted: Range<Int>) -> Bool {
        run.coordinates.lowerBound <= wanted.lowerBound && wanted.upperBound <= run.coordinates.upperBound
    }

    /// The raster's row at a coordinate; negative if the row is transparent.
    @inline(__always) func position(ofRow y: Int) -> Int {
        let inside = min(max(y, rowCore.lowerBound), rowCore.upperBound &- 1)
        let position = Int(positions[unchecked: inside &- rowCore.lowerBound])
        guard let arriving, position >= 0 else { return position }
        return arriving.slot(position)
    }

    /// The samples of a row that is in the raster.
    func rasterRow(_ position: Int) -> Row<UInt8> { samples + position * stride }

    /// A pixel whose column is in ``inPlaceColumns``. Up to ``Reading/slack`` values beyond its row are readable.
    @inline(__always) func inPlace(x: Int, position: Int) -> Row<UInt8> {
        let column = (x &+ run.shift) &* channels
        if innerRows.contains(position) { return samples + (position &* stride &+ column) }
        return Row(outerRow(position) + column)
    }

    /// The same for the row at a coordinate.
    @inline(__always) func row(_ y: Int, inPlace x: Int) -> Row<UInt8> {
        let position = position(ofRow: y)
        return position < 0 ? zeros : inPlace(x: x, position: position)
    }

    /// Points to a column that is read in place, in each of the rows `y` (coordinates).
    func point(to x: Int, rows y: Range<Int>, _ list: borrowing RowList<UInt8>) {
        var index = 0
        for row in y {
            list.set(index, self.row(row, inPlace: x))
            index &+= 1
        }
    }

    /// A copy of a row that lies so near to an end of the raster that vectors would read beyond it.
    private func outerRow(_ position: Int) -> MutableRow<UInt8> {
        let index = position < innerRows.lowerBound ? position : position &- innerRows.count
        return outerRows.start.moved(unchecked: Reading.slack &+ index &* (stride &+ 2 &* Reading.slack))
    }

    /// Copies the pixels of any columns.
    func copy(_ wanted: Range<Int>, position: Int, to target: MutableRow<UInt8>) {
        let inside = wanted.clamped(to: run.coordinates)
        guard position >= 0, !inside.isEmpty else {
            return copyOneByOne(wanted, position, from: wanted.lowerBound, to: target)
        }
        copyOneByOne(wanted.lowerBound..<inside.lowerBound, position, from: wanted.lowerBound, to: target)
        (target + (inside.lowerBound - wanted.lowerBound) * channels).update(
            from: inPlace(x: inside.lowerBound, position: position), count: inside.count * channels)
        copyOneByOne(inside.upperBound..<wanted.upperBound, position, from: wanted.lowerBound, to: target)
    }

    /// The index of the first sample of each wanted column in a row of the raster; negative if the column is transparent.
    func offsets(of wanted: Range<Int>) -> RowBuffer<Int> {
        let offsets = RowBuffer<Int>(count: wanted.count)
        for (index, x) in wanted.enumerated() {
            offsets[index] = columns[min(max(x, columnCore.lowerBound), columnCore.upperBound - 1)] * channels
        }
        return offsets
    }

    /// Copies the pixels at `offsets` of a row. Those of each of the `runs` follow one another in the row.
    func copy(_ offsets: Row<Int>, count: Int, runs: [Range<Int>], position: Int, to target: MutableRow<UInt8>) {
        guard position >= 0 else { return target.update(repeating: 0, count: count * channels) }
        var (done, index) = (0, 0)
        // A `for` loop would retain the array.
        while index < runs.count {
            let run = runs[index]
            copyPixels(done..<run.lowerBound, position, offsets, target)
            (target + run.lowerBound * channels).update(
                from: rasterRow(position) + offsets[run.lowerBound], count: run.count * channels)
            done = run.upperBound
            index += 1
        }
        copyPixels(done..<count, position, offsets, target)
    }

    private func copyPixels(_ pixels: Range<Int>, _ position: Int, _ offsets: Row<Int>, _ target: MutableRow<UInt8>) {
        guard !pixels.isEmpty else { return }
        switch channels {
        case 1: copyPixels(1, pixels, position, offsets, target)
        case 2: copyPixels(2, pixels, position, offsets, target)
        case 3: copyPixels(3, pixels, position, offsets, target)
        default: copyPixels(4, pixels, position, offsets, target)
        }
    }

    @inline(__always) private func copyPixels(
        _ channels: Int, _ pixels: Range<Int>, _ position: Int, _ offsets: Row<Int>, _ target: MutableRow<UInt8>
    ) {
        precondition(
            pixels.upperBound <= offsets.count && pixels.upperBound * channels <= target.count,
            "every pixel has a place")
        let (row, zeros) = (rasterRow(position), zeros)
        var pixel = target + pixels.lowerBound * channels
        for index in pixels {
            let offset = offsets[unchecked: index]
            let from = offset < 0 ? zeros : row.moved(unchecked: offset)
            for channel in 0..<channels { pixel[unchecked: channel] = from[unchecked: channel] }
            pixel = pixel.moved(unchecked: channels)
        }
    }

    private func copyOneByOne(_ wanted: Range<Int>, _ position: Int, from start: Int, to target: MutableRow<UInt8>) {
        for x in wanted {
            let location = columns[min(max(x, columnCore.lowerBound), columnCore.upperBound - 1)]
            let pixel = target + (x - start) * channels
            guard position >= 0, location >= 0 else {
                pixel.update(repeating: 0, count: channels)
                continue
            }
            let from = samples + (position * stride + location * channels)
            for channel in 0..<channels { pixel[channel] = from[channel] }
        }
    }

    /// Whether all pixels of a row of the raster are opaque. The last channel must be alpha. The answer is cached.
    func isOpaque(_ position: Int, _ operations: RowOperations) -> Bool {
        if let known = opacity[position] { return known }
        let isOpaque = operations.isOpaque(rasterRow(position), channels: channels, pixels: rasterWidth)
        opacity[position] = isOpaque
        return isOpaque
    }

    /// Whether the column at a coordinate is in the raster.
    func hasColumn(_ x: Int) -> Bool { columns[min(max(x, columnCore.lowerBound), columnCore.upperBound - 1)] >= 0 }
}
