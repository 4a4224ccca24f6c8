package import Catalogs
package import Geometry
package import Kernels
package import Raster

/// The parts of a filter's input that an output rectangle needs, and the way to assemble them into one raster.
///
/// The needed pixels are the product of the needed columns and rows: one rectangle, or up to four if `wrap` needs opposite
/// sides of the input.
package struct SourceMap: Hashable, Sendable {
    package let columns: AxisMap
    package let rows: AxisMap

    /// - Parameters:
    ///   - needed: the coordinates that a kernel will read; they may lie outside `input`.
    ///   - input: the extent of the filter's input.
    package init(needed: PixelRect, input: PixelRect, edge: Edge) {
        columns = AxisMap(needed: needed.columns, input: input.columns, edge: edge)
        rows = AxisMap(needed: needed.rows, input: input.rows, edge: edge)
    }

    /// The rectangles of the input that are read: disjoint, inside the input, row by row.
    package var rects: [PixelRect] {
        rows.intervals.flatMap { rows in columns.intervals.map { PixelRect(columns: $0, rows: rows) } }
    }

    /// Reads every rectangle and assembles them in the order of the tables.
    ///
    /// - Parameter curve: the transfer curve of the filter's input.
    package func gather(
        layout: PixelLayout, format: SampleFormat, curve: TransferCurve = .sRGB, read: (PixelRect) throws -> AnyRaster
    ) rethrows -> KernelSource {
        let rects = rects
        if rects.count == 1 {  // nothing to assemble
            return KernelSource(raster: try read(rects[0]), columns: columns.table, rows: rows.table, curve: curve)
        }
        let whole = PixelRect(x: 0, y: 0, width: columns.count, height: rows.count)
        var raster = AnyRaster(zeroed: whole, layout: layout, format: format)
        for rect in rects {
            let (x, y) = (columns.offset(of: rect.columns), rows.offset(of: rect.rows))
            raster.paste(try read(rect).translated(x: x - rect.x, y: y - rect.y))
        }
        return KernelSource(raster: raster, columns: columns.table, rows: rows.table, curve: curve)
    }
}

/// The parts of the input that one axis of an output needs, and the position of each coordinate in them.
package struct AxisMap: Hashable, Sendable {
    /// The needed parts of the input, in its order; they neither overlap nor touch. There is at most one, or two for `wrap`;
    /// none if all needed coordinates are transparent.
    package let intervals: [Range<Int>]
    /// The position of each needed coordinate in the concatenated intervals.
    package let table: AxisTable

    /// - Parameters:
    ///   - needed: the coordinates that will be read; they may lie outside `input`.
    ///   - input: the input's extent along this axis.
    /// - Cost: the number of needed coordinates.
    package init(needed: Range<Int>, input: Range<Int>, edge: Edge) {
        let resolved = needed.map { edge.resolve($0, in: input) }
        let intervals = Self.intervals(covering: resolved)
        let first = intervals.first ?? 0..<0
        let second = intervals.dropFirst().first ?? 0..<0
        self.intervals = intervals
        table = AxisTable(
            range: needed,
            positions: resolved.map { coordinate in
                guard let coordinate else { return AxisTable.transparent }
                let isInFirst = first.contains(coordinate)
                return Int32(isInFirst ? coordinate - first.lowerBound : first.count + coordinate - second.lowerBound)
            })
    }

    /// The number of columns or rows in all intervals.
    package var count: Int { intervals.reduce(0) { $0 + $1.count } }

    /// A table for an input with another layout.
    ///
    /// - Parameter position: returns the position of a coordinate of the input.
    package func table(placing position: (Int) -> Int) -> AxisTable {
        let first = intervals.first ?? 0..<0
        let second = intervals.dropFirst().first ?? 0..<0
        return AxisTable(
            range: table.range,
            positions: table.positions.map { location in
                guard location != AxisTable.transparent else { return location }
                let index = Int(location)
                let isInFirst = index < first.count
                return Int32(position(isInFirst ? first.lowerBound + index : second.lowerBound + index - first.count))
            })
    }

    /// The start of `interval`, one of the intervals, in the concatenation.
    func offset(of interval: Range<Int>) -> Int { intervals.prefix { $0 != interval }.reduce(0) { $0 + $1.count } }

    /// The intervals that cover some coordinates. Neighbours in `coordinates` are equal, neighbours in the input, or far apart
    /// (at the seam of `wrap`).
    private static func intervals(covering coordinates: [Int?]) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        for case let coordinate? in coordinates {
            if let run = runs.last, coordinate >= run.lowerBound - 1, coordinate <= run.upperBound {
                runs[runs.count - 1] = min(run.lowerBound, coordinate)..<max(run.upperBound, coordinate + 1)
            } else {
                runs.append(coordinate..<coordinate + 1)
            }
        }
        return merged(runs)
    }

    private static func merged(_ runs: [Range<Int>]) -> [Range<Int>] {
        var result: [Range<Int>] = []
        for run in runs.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = result.last, run.lowerBound <= last.upperBound {
                result[result.count - 1] = last.lowerBound..<max(last.upperBound, run.upperBound)
            } else {
                result.append(run)
            }
        }
        return result
    }
}

/// The pixels that a filter reads outside its input. Only this type knows these rules.
package enum Edge: String, Hashable, Sendable, CaseIterable {
    /// The nearest pixel of the input: a a | a b c | c c.
    case clamp
    /// The input mirrored at its border, with the border's pixel repeated: b a | a b c | c b (libvips' MIRROR, OpenCV's
    /// BORDER_REFLECT).
    case mirror
    /// The input repeated: b c | a b c | a b.
    case wrap
    /// Transparent pixels: black, with alpha 0.
    case transparent

    /// The coordinate inside `range` whose pixel is read at `coordinate`; nil if the coordinate is transparent.
    ///
    /// Coordinates are those of the whole picture, so that the result is the same for all tiles.
    package func resolve(_ coordinate: Int, in range: Range<Int>) -> Int? {
        guard !range.isEmpty else { return nil }
        guard !range.contains(coordinate) else { return coordinate }
        switch self {
        case .clamp: return min(max(coordinate, range.lowerBound), range.upperBound - 1)
        case .mirror:
            let location = Self.modulo(coordinate - range.lowerBound, 2 * range.count)
            return range.lowerBound + min(location, 2 * range.count - 1 - location)
        case .wrap: return range.lowerBound + Self.modulo(coordinate - range.lowerBound, range.count)
        case .transparent: return nil
        }
    }

    /// The remainder with the divisor's sign.
    private static func modulo(_ value: Int, _ divisor: Int) -> Int {
        let remainder = value % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}
