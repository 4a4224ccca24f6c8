import Catalogs
package import Geometry
import Raster

/// The guided filter (K. He, J. Sun and X. Tang, "Guided image filtering", 2010) with the picture's own luma as its guide: it
/// smooths what varies little, and keeps edges. Its cost hardly grows with the radius.
///
/// In every square window, a channel p is described by its luma Y as p ≈ a·Y + b, where a = cov(Y, p)/(var(Y) + s²) and
/// b = mean(p) − a·mean(Y). A pixel becomes A·Y + B with the means A and B of all windows around it. Means are weighted by alpha, and
/// the second ones by the alpha that a window has in all. Alpha stays.
package struct GuidedSmoothing: WorkingKernel, LevelChoosing {
    fileprivate let radius: Int
    fileprivate let epsilon: Float
    package var level = CPULevel.current

    /// - Parameters:
    ///   - radius: half the side of a window, without its centre, in pixels; at least 1.
    ///   - strength: s, as a share of full intensity; above 0. Where values vary less than this, they are smoothed.
    package init(radius: Int, strength: Double) {
        precondition(radius >= 1 && strength > 0, "a window has a size, and a strength is positive")
        (self.radius, epsilon) = (radius, Float(strength * strength))
    }

    package var halo: Halo { Halo(horizontal: 2 * radius, vertical: 2 * radius) }

    package func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
        guard !area.isEmpty else { return }
        for columns in strips(area.columns, hasAlpha: reader.layout.hasAlpha) {
            GuidedStrip(self, reader, PixelRect(columns: columns, rows: area.rows)).write(to: &sink)
        }
    }

    /// Divides columns into strips. If the radius is small, both rings of a strip's records stay in the second-level cache: they take
    /// 512 KB each. If it is large, strips are wide instead, so that few pixels are read twice. The division does not affect any pixel.
    private func strips(_ columns: Range<Int>, hasAlpha: Bool) -> [Range<Int>] {
        let size = RecordMeans.size(hasAlpha: hasAlpha) * MemoryLayout<Float>.stride
        let fitting = (1 << 19) / (size * (2 * radius + 1)) - 4 * radius
        return columns.pieces(of: max(fitting, 512, 8 * radius))
    }
}

/// The filter for a strip of columns, row by row.
private final class GuidedStrip {
    private let filter: GuidedSmoothing
    private let operations: RowOperations
    private let area: PixelRect
    private let hasAlpha: Bool
    private let full: Float
    /// The rows with all pixels that windows need, and the one that was read last.
    private let surroundings: FloatSource
    private let read: RowRing<Float>
    /// The rows of the strip, and the one that was read last.
    private let source: FloatSource
    private let row: RowRing<Float>
    private let moments: RecordMeans
    private let lines: RecordMeans
    private let means: RowBuffer<Float>

    init(_ filter: GuidedSmoothing, _ reader: PixelReader, _ area: PixelRect) {
        let operations = RowOperations.of(filter.level)
        let layout = reader.layout
        (self.filter, self.operations, self.area) = (filter, operations, area)
        hasAlpha = layout.hasAlpha
        full = Float(reader.source.raster.format.full)
        func ring(_ rect: PixelRect) -> RowRing<Float> {
            RowRing(
                columns: rect.columns, rows: rect.rows, channels: 1, planes: layout.channels, capacity: 1, margin: 0)
        }
        let whole = area.expanded(by: filter.halo)
        (read, row) = (ring(whole), ring(area))
        surroundings = FloatSource(reader, columns: whole.columns, operations)
        source = FloatSource(reader, columns: area.columns, operations)
        let radius = filter.radius
        let windows = area.expanded(by: Halo(horizontal: radius, vertical: radius))
        moments = RecordMeans(windows, radius: radius, hasAlpha: hasAlpha, operations)
        lines = RecordMeans(area, radius: radius, hasAlpha: hasAlpha, operations)
        means = RowBuffer(count: area.width * lines.size)
    }

    func write(to sink: inout some WorkingRowSink) {
        for y in area.rows {
            while lines.lacks(y + filter.radius) { addLines() }
            lines.average(around: y, into: means.start)
            source.read(y, into: row)
            let pixels = row.planeRow(y, operations)
            operations.applyLines(Row(means.start), to: pixels, scale: 1 / full, full: full)
            sink.write(pixels)
        }
    }

    private func addLines() {
        let y = lines.next
        while moments.lacks(y + filter.radius) {
            surroundings.read(moments.next, into: read)
            operations.writeMoments(read.planeRow(moments.next, operations), scale: 1 / full, records: moments.room)
            moments.add()
        }
        moments.average(around: y, into: lines.room)
        operations.fitLines(lines.room, hasAlpha: hasAlpha, epsilon: filter.epsilon, count: lines.columns.count)
        lines.add()
    }
}

/// The means of pixels' records over square windows, by the sums of ``FloatBox``. Rows are added from the top down.
private final class RecordMeans {
    /// The columns that are read.
    let columns: Range<Int>
    /// The number of values of a record.
    let size: Int
    /// The next row to be added.
    private(set) var next: Int

    private let first: Int
    private let radius: Int
    private let hasAlpha: Bool
    private let operations: RowOperations
    private let stride: Int
    /// The rows of a window: suffix sums of the last complete block, and the rows of the present one.
    private let rows: RowBuffer<Float>
    /// The sum of the rows of the present block.
    private let heads: RowBuffer<Float>
    private let line: RowBuffer<Float>
    private let sums: RowBuffer<Float>

    /// - Parameter area: the centres of the windows.
    init(_ area: PixelRect, radius: Int, hasAlpha: Bool, _ operations: RowOperations) {
        let read = area.expanded(by: Halo(horizontal: radius, vertical: radius))
        columns = read.columns
        (first, next) = (read.y, read.y)
        (self.radius, self.hasAlpha, self.operations) = (radius, hasAlpha, operations)
        size = Self.size(hasAlpha: hasAlpha)
        stride = columns.count * size
        rows = RowBuffer(count: stride * (2 * radius + 1))
        heads = RowBuffer(count: stride)
        line = RowBuffer(count: stride)
        sums = RowBuffer(count: stride)
    }

    static func size(hasAlpha: Bool) -> Int { hasAlpha ? 16 : 8 }

    private var length: Int { 2 * radius + 1 }

    func lacks(_ y: Int) -> Bool { next <= y }

    /// The place of the next row, which is written there before it is added. No window needs the row that was there.
    var room: MutableRow<Float> { row(next) }

    private func row(_ y: Int) -> MutableRow<Float> { rows.start + y.modulo(length) * stride }

    func add() {
        let phase = next.modulo(length)
        if phase == 0 || next == first {
            heads.start.update(from: Row(room), count: stride)
        } else {
            operations.addFloats(Row(room), to: heads.start, count: stride)
        }
        if phase == length - 1 {
            for y in (max(next - length + 1, first)..<next).reversed() {
                operations.addFloats(Row(row(y + 1)), to: row(y), count: stride)
            }
        }
        next += 1
    }

    /// Writes the means of the windows around a row.
    ///
    /// - Precondition: the last row of these windows was added last.
    func average(around y: Int, into target: MutableRow<Float>) {
        precondition(next == y + radius + 1, "the last row of a window was added last")
        let top = y - radius
        operations.slideRecords(
            heads: Row(heads.start), tails: top.modulo(length) == 0 ? nil : Row(row(top)), hasAlpha: hasAlpha,
            weight: Float(1 / Double(length)), phase: columns.lowerBound.modulo(length), length: length,
            count: columns.count, line: line.start, sums: sums.start, out: target)
    }
}
