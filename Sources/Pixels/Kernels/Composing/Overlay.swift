package import Catalogs
import Geometry
package import Raster

/// Pictures in front of another picture, at any fraction of a pixel: source-over (Porter and Duff, 1984), with the blend modes of the W3C.
package struct Overlay: Sendable, LevelChoosing {
    /// One of the front pictures, and its position.
    package struct Front: Sendable {
        fileprivate let picture: AnyRaster
        fileprivate let opacity: Double
        fileprivate let mode: BlendMode
        /// The distances at which the picture repeats; nil for a single one.
        fileprivate let period: (x: Int, y: Int)?
        /// The shift from the picture's own position to its target: whole pixels, and a rest with 0 ≤ rest < 1.
        fileprivate let shift: (x: Int, y: Int)
        fileprivate let rest: (x: Double, y: Double)

        /// - Parameters:
        ///   - picture: its rectangle begins at 0, 0.
        ///   - x, y: the target of its first corner. Positions between pixels are interpolated linearly.
        ///   - opacity: 0–1.
        package init(_ picture: AnyRaster, x: Double, y: Double, opacity: Double = 1, mode: BlendMode = .normal) {
            self.picture = picture
            self.opacity = opacity
            self.mode = mode
            period = nil
            shift = (Int(x.rounded(.down)), Int(y.rounded(.down)))
            rest = (x - x.rounded(.down), y - y.rounded(.down))
        }

        /// A picture that is repeated in all directions.
        ///
        /// - Parameters:
        ///   - x, y: the place of one of its copies.
        ///   - period: the distances of the copies, at least the picture's size and one pixel.
        package init(
            _ picture: AnyRaster, x: Int, y: Int, repeatedBy period: (x: Int, y: Int), opacity: Double, mode: BlendMode
        ) {
            precondition(
                period.x >= max(1, picture.rect.width) && period.y >= max(1, picture.rect.height),
                "copies do not overlap")
            (self.picture, self.opacity, self.mode, self.period) = (picture, opacity, mode, period)
            (shift, rest) = ((x, y), (0, 0))
        }

        /// The pixels of `area` that the picture may change.
        fileprivate func bounds(in area: PixelRect) -> PixelRect {
            guard opacity > 0, !picture.rect.isEmpty else { return .empty }
            if period != nil { return area }
            return PixelRect(
                x: shift.x, y: shift.y, width: picture.rect.width + (rest.x > 0 ? 1 : 0),
                height: picture.rect.height + (rest.y > 0 ? 1 : 0)
            ).intersection(area)
        }
    }

    private let fronts: [Front]
    package var level = CPULevel.current

    /// - Parameter fronts: the front pictures, the lowest first. The result of all of them is rounded once.
    package init(_ fronts: [Front]) { self.fronts = fronts }

    /// The output's layout: a gray picture becomes a colour picture if a front picture has colours.
    package static func layout(of behind: PixelLayout, under front: PixelLayout) -> PixelLayout {
        guard behind.removingAlpha == .gray, front.removingAlpha != .gray else { return behind }
        return behind.hasAlpha ? .rgba : .rgb
    }

    /// Writes every pixel of `destination`. Pixels that no front picture touches keep their bytes. (The last bits of translucent floats
    /// may change if a gray picture becomes a colour picture.)
    ///
    /// - Precondition: the source's tables cover the destination.
    package func render(_ source: KernelSource, into destination: inout AnyRaster) {
        let isTurningToColors = source.raster.layout.removingAlpha != destination.layout.removingAlpha
        if !isTurningToColors { source.copyPixels(to: &destination) }
        let shown = fronts.filter { !$0.bounds(in: destination.rect).isEmpty }
        let touched = shown.reduce(PixelRect.empty) { $0.union($1.bounds(in: destination.rect)) }
        let changed = isTurningToColors ? destination.rect : touched
        guard !changed.isEmpty else { return }
        let operations = RowOperations.of(level)
        let behind = RowsBehind(source, destination.layout, changed, operations)
        let rows = shown.map { OverlaidRows($0, operations) }
        let full = Float(source.raster.format.full)
        var sink = PixelWriter(destination.take(), light: .encoded)
        for y in changed.rows {
            let row = behind.read(y)
            for front in rows { front.lay(over: row, full: full) }
            for columns in touchedColumns(of: shown, row: y, in: changed, isTurningToColors) {
                sink.write(behind.row(y, columns))
            }
        }
        destination = sink.raster
    }
}

extension Overlay {
    /// The columns to be written, from the left. Pixels that no picture touches keep their bytes, whatever part is rendered.
    private func touchedColumns(
        of fronts: [Front], row y: Int, in changed: PixelRect, _ isTurningToColors: Bool
    ) -> [Range<Int>] {
        guard !isTurningToColors else { return [changed.columns] }
        let touched = fronts.flatMap { $0.columns(ofRow: y, in: changed) }.sorted { $0.lowerBound < $1.lowerBound }
        return touched.reduce(into: []) { merged, columns in
            if let last = merged.last, columns.lowerBound <= last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, columns.upperBound)
            } else {
                merged.append(columns)
            }
        }
    }
}

extension Overlay.Front {
    /// The columns of row `y` that the picture may change.
    fileprivate func columns(ofRow y: Int, in area: PixelRect) -> [Range<Int>] {
        guard let period else {
            let bounds = bounds(in: area)
            return bounds.rows.contains(y) ? [bounds.columns] : []
        }
        guard (y - shift.y).remainder(by: period.y) < picture.rect.height else { return [] }
        let first = area.x - (area.x - shift.x).remainder(by: period.x)
        return stride(from: first, to: area.right, by: period.x).map {
            ($0..<$0 + picture.rect.width).clamped(to: area.columns)
        }.filter { !$0.isEmpty }
    }
}

extension Int {
    /// 0 ≤ remainder < divisor.
    fileprivate func remainder(by divisor: Int) -> Int {
        let rest = self % divisor
        return rest < 0 ? rest + divisor : rest
    }
}

/// The rows of a picture behind others, in a layout that has its colours, or three colours for a gray picture, and alpha if
/// requested.
private final class RowsBehind {
    private let source: FloatSource
    private let operations: RowOperations
    private let own: PixelLayout
    private let stored: RowRing<Float>
    private let spread: RowRing<Float>

    init(_ source: KernelSource, _ layout: PixelLayout, _ rect: PixelRect, _ operations: RowOperations) {
        own = layout.hasAlpha ? source.raster.layout.addingAlpha : source.raster.layout
        self.operations = operations
        let reader = PixelReader(source, layout: own, light: .encoded)
        self.source = FloatSource(reader, columns: rect.columns, operations)
        func ring(_ layout: PixelLayout) -> RowRing<Float> {
            RowRing(
                columns: rect.columns, rows: rect.rows, channels: 1, planes: layout.channels, capacity: 1, margin: 0)
        }
        stored = ring(own)
        spread = own == layout ? stored : ring(layout)
    }

    /// Reads the row at a coordinate.
    func read(_ y: Int) -> PlaneRow {
        source.read(y, into: stored)
        if spread !== stored {
            let colors = spread.planes - (own.hasAlpha ? 1 : 0)
            for plane in 0..<spread.planes {
                spread.plane(plane, y: y).update(
                    from: Row(stored.plane(plane < colors ? 0 : 1, y: y)), count: spread.columns.count)
            }
        }
        return row(y, spread.columns)
    }

    /// Some columns of the row that was read.
    func row(_ y: Int, _ columns: Range<Int>) -> PlaneRow { spread.planeRow(y, columns: columns, operations) }
}

/// The rows of a front picture at its target position.
private final class OverlaidRows {
    private let source: FloatSource
    private let operations: RowOperations
    private let isGray: Bool
    private let front: Overlay.Front
    private let rect: PixelRect
    private let full: Float
    /// Two neighbouring rows of the picture, with a transparent pixel on each side.
    private let stored: RowRing<Float>
    /// The row that was computed from them last.
    private let row: RowRing<Float>
    /// The number of the picture's row that was read last.
    private var readRow = -1
    /// What ``makeRow(_:factor:)`` was last called with. Nil before the first call.
    private var shiftedRow: Int?

    init(_ front: Overlay.Front, _ operations: RowOperations) {
        let picture = front.picture
        let layout = picture.layout.addingAlpha
        (self.front, self.operations, rect) = (front, operations, picture.rect)
        isGray = layout.removingAlpha == .gray
        full = Float(picture.format.full)
        let reader = PixelReader(KernelSource(picture), layout: layout, light: .encoded)
        source = FloatSource(reader, columns: rect.columns, operations)
        let columns = -1..<rect.width + 1
        stored = RowRing(
            columns: columns, rows: 0..<rect.height, channels: 1, planes: layout.channels, capacity: 2, margin: 0)
        row = RowRing(columns: columns, rows: 0..<1, channels: 1, planes: layout.channels, capacity: 1, margin: 0)
    }

    /// Lays the picture over a row.
    func lay(over back: PlaneRow, full: Float) {
        let (y, shift) = (back.y, front.shift)
        guard let period = front.period else { return layOne(at: shift, over: back, full) }
        let copy = y - (y - shift.y).remainder(by: period.y)
        let first = back.x - (back.x - shift.x).remainder(by: period.x)
        for x in stride(from: first, to: back.x + back.count, by: period.x) {
            layOne(at: (x, copy), over: back, full)
        }
    }

    private func layOne(at shift: (x: Int, y: Int), over back: PlaneRow, _ full: Float) {
        let local = back.y - shift.y
        guard (0..<rect.height + (front.rest.y > 0 ? 1 : 0)).contains(local) else { return }
        let covered = (back.x..<back.x + back.count)
            .clamped(to: shift.x..<shift.x + rect.width + (front.rest.x > 0 ? 1 : 0))
        guard !covered.isEmpty else { return }
        if shiftedRow != local { makeRow(local, factor: Float(front.opacity) / self.full * full) }
        operations.layPlanes(
            front: Row(row.pixel(x: covered.lowerBound - shift.x, y: 0)), frontStride: row.planeStride,
            isFrontGray: isGray, over: back, from: covered.lowerBound - back.x, count: covered.count,
            mode: front.mode.number, full: full)
    }

    /// Computes a row whose pixels are a fraction of a pixel above those of the picture's row `local`.
    private func makeRow(_ local: Int, factor: Float) {
        shiftedRow = local
        let rest = (x: Float(front.rest.x), y: Float(front.rest.y))
        let (upper, lower) = (rest.y > 0 ? stored(local - 1) : nil, stored(local))
        for plane in 0..<row.planes {
            let offset = plane * row.planeStride
            operations.shiftPlane(
                upper: upper.map { $0 + offset }, lower: lower.map { $0 + offset }, upperWeight: rest.y,
                leftWeight: rest.x, factor: factor, count: rect.width + 1, out: row.pixel(x: 0, y: 0) + offset)
        }
    }

    /// The first pixel of a row of the picture; nil for one above or below it.
    private func stored(_ local: Int) -> Row<Float>? {
        guard (0..<rect.height).contains(local) else { return nil }
        while readRow < local {
            readRow = max(readRow + 1, local - 1)
            source.read(readRow, into: stored)
        }
        // Copies of the picture begin again at its first row.
        if readRow > local + 1 {
            source.read(local, into: stored)
            readRow = local
        }
        return Row(stored.pixel(x: 0, y: local))
    }
}

/// Rows of working values in a layout that has the source's colours, or three colours for a gray source, and alpha if
/// requested.
struct SpreadRows {
    /// The row that was read last.
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
