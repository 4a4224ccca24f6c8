import Catalogs
import Geometry

/// A Gaussian at several sampling rates in single precision, for every sample format and light. The axes may differ.
struct FloatPyramid: WorkingKernel {
    private let horizontal: AxisDesign<Float>
    private let vertical: AxisDesign<Float>
    let operations: RowOperations
    let halo: Halo

    init(horizontal: AxisDesign<Float>, vertical: AxisDesign<Float>, _ operations: RowOperations) {
        self.operations = operations
        self.horizontal = horizontal
        self.vertical = vertical
        halo = Halo(horizontal: horizontal.reach, vertical: vertical.reach)
    }

    func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
        guard !area.isEmpty else { return }
        let run = run(reader, area: area)
        for y in area.rows {
            sink.write(run.row(y))
        }
    }

    func run(_ reader: PixelReader, area: PixelRect) -> FloatPyramidRun {
        run(reader.source.columns, reader.source.rows, reader.layout, area: area) {
            FloatSource(reader, columns: $0, operations)
        }
    }

    /// An upper bound for the bytes of a run over this width. An axis that keeps its rate has whole rows at every level.
    func bytes(width: Int, channels: Int) -> Int {
        let levels = max(horizontal.prefilters.count, vertical.prefilters.count)
        let rows = (0...levels).map { level in
            // A ring has a power of two of rows.
            let held = level == levels ? 2 * (2 * vertical.radius + FloatPyramidRun.batch) + 16 : 16 + 8
            let width = (width + 2 * horizontal.reach) >> min(level, horizontal.prefilters.count)
            return held * (width + 512)
        }
        let floats = rows.reduce(2 * FloatPyramidRun.sums, +) * channels * MemoryLayout<Float>.stride
        // The source converts some rows value by value.
        return floats + (width + 2 * horizontal.reach) * channels * MemoryLayout<Double>.stride
    }

    /// The most rows that are read before an output row needs them: those for a batch at the lowest rate.
    var rowsAhead: Int { FloatPyramidRun.batch << vertical.prefilters.count }

    /// - Parameter source: creates the source for some columns.
    func run(
        _ columns: AxisTable, _ rows: AxisTable, _ layout: PixelLayout, area: PixelRect,
        source: (Range<Int>) -> FloatSource
    ) -> FloatPyramidRun {
        run(columns, rows, planes: layout.channels, area: area, source: source)
    }

    /// - Parameters:
    ///   - planes: the number of planes that the source fills.
    ///   - source: creates the source for some columns.
    func run(
        _ columns: AxisTable, _ rows: AxisTable, planes: Int, area: PixelRect, source: (Range<Int>) -> FloatSource
    ) -> FloatPyramidRun {
        FloatPyramidRun(
            columns, rows, channels: planes, area: area, horizontal: horizontal, vertical: vertical, operations,
            source: source)
    }
}

/// The rings and the order of work. Rows are computed on demand, as in ``FixedPyramid``.
final class FloatPyramidRun {
    private let operations: RowOperations
    private let horizontal: AxisDesign<Float>
    private let vertical: AxisDesign<Float>
    private let ratesX: [Rate?]
    private let ratesY: [Rate?]
    private let source: FloatSource
    private let levels: Int
    private let channels: Int
    private let outputColumns: Range<Int>
    /// `low[l]` is the image after l halvings; `low[0]` is the source. `up[l]` has the same rate; `up[0]` is the output.
    private let low: [RowRing<Float>]
    private let up: [RowRing<Float>]
    /// Sums of a chunk of columns.
    private let even: RowBuffer<Float>
    private let odd: RowBuffer<Float>
    private let list: RowList<Float>
    /// The weights without the centre's.
    private let horizontalSides: [Float]
    private let verticalSides: [Float]
    /// The columns that the FIR computes at once. The rows of its window, with the columns on both sides, stay in the
    /// first-level cache.
    private let filterChunk: Int

    /// The number of rows that the FIR computes at once, so that the rows of its window are read once for all.
    static let batch = 8
    /// The number of low-rate columns that are computed at once. Their sums stay in the first-level cache.
    private static let chunk = 512
    /// The number of values of a chunk with the columns on both sides, and with what vectors write beyond it.
    static let sums = chunk + 64
    private static let margin = 16

    init(
        _ columns: AxisTable, _ rows: AxisTable, channels: Int, area: PixelRect, horizontal: AxisDesign<Float>,
        vertical: AxisDesign<Float>, _ operations: RowOperations, source: (Range<Int>) -> FloatSource
    ) {
        let levels = max(horizontal.prefilters.count, vertical.prefilters.count)
        let prefiltersY = vertical.prefilters.padded(to: levels)
        let x = AxisSpans(
            output: area.columns, core: columns.core, prefilters: horizontal.prefilters.padded(to: levels),
            radius: horizontal.radius, pairs: true)
        let y = AxisSpans(
            output: area.rows, core: rows.core, prefilters: prefiltersY, radius: vertical.radius, pairs: false)
        self.operations = operations
        self.horizontal = horizontal
        self.vertical = vertical
        self.levels = levels
        self.channels = channels
        self.source = source(x.low[0])
        outputColumns = area.columns
        ratesX = horizontal.prefilters.padded(to: levels).map { $0.map { Rate($0) } }
        ratesY = prefiltersY.map { $0.map { Rate($0) } }
        low = (0...levels).map { level in
            let window = level == levels ? 2 * vertical.radius + Self.batch : (prefiltersY[level]?.taps.count ?? 1) + 1
            return RowRing(
                columns: x.low[level], rows: y.low[level], channels: 1, planes: channels, capacity: window,
                margin: Self.margin + (level == levels ? x.excess : 0))
        }
        up = (0...levels).map { level in
            // The output's rows start at an even column, because columns are computed in pairs.
            let columns = level == 0 ? x.up[0].lowerBound & ~1..<(x.up[0].upperBound + 1) & ~1 : x.up[level]
            return RowRing(
                columns: columns, rows: y.up[level], channels: 1, planes: channels,
                capacity: level == levels ? 2 * Self.batch : 8, margin: Self.margin)
        }
        even = RowBuffer(count: Self.sums)
        odd = RowBuffer(count: Self.sums)
        list = RowList(count: 2 * max(horizontal.radius, vertical.radius) + 32)
        horizontalSides = Array(horizontal.weights.dropFirst())
        verticalSides = Array(vertical.weights.dropFirst())
        let width = max(128, min(Self.chunk, 6144 / (2 * vertical.radius + Self.batch)) & ~31)
        filterChunk = width - 2 * horizontal.radius
    }

    /// Computes an output row.
    func row(_ y: Int) -> PlaneRow {
        makeUp(0, through: y)
        return up[0].planeRow(y, columns: outputColumns, operations)
    }
}

/// A prefilter's weights as the loops take them.
private struct Rate {
    let prefilter: Prefilter
    /// Of the first half of the taps.
    let halving: [Float]
    /// For the outputs at twice a low-rate position and after it, in the order of the position's neighbours.
    let doublingEven: [Float]
    let doublingOdd: [Float]

    var taps: Int { prefilter.taps.count }
    var reach: Int { prefilter.doublingReach }

    init(_ prefilter: Prefilter) {
        precondition([4, 6, 8, 10].contains(prefilter.taps.count), "the loops know these prefilters")
        self.prefilter = prefilter
        halving = prefilter.taps.prefix(prefilter.taps.count / 2).map { Float($0) }
        // y[n] = 2·Σ taps[n − 2m + before]·low[m], with n = 2k or 2k + 1 and m = k + distance.
        func doubling(_ phase: Int) -> [Float] {
            (-prefilter.doublingReach...prefilter.doublingReach).compactMap { distance in
                let tap = phase - 2 * distance + prefilter.before
                return prefilter.taps.indices.contains(tap) ? Float(2 * prefilter.taps[tap]) : nil
            }
        }
        doublingEven = doubling(0)
        doublingOdd = doubling(1)
    }
}

extension FloatPyramidRun {
    private func makeLow(_ level: Int, through y: Int) {
        while low[level].lacks(y) {
            let row = low[level].next
            if level == 0 { source.read(row, into: low[0]) } else { halve(level, row) }
            low[level].next = row + 1
        }
    }

    /// Computes a row of `low[level]`.
    private func halve(_ level: Int, _ y: Int) {
        let (above, target) = (low[level - 1], low[level])
        let (rateX, rateY) = (ratesX[level - 1], ratesY[level - 1])
        let window = rateY?.prefilter.window(y..<y + 1) ?? y..<y + 1
        makeLow(level - 1, through: window.upperBound - 1)
        for plane in 0..<channels {
            let to = target.plane(plane, y: y)
            guard let rateX else {
                let offset = target.columns.lowerBound - above.columns.lowerBound
                sum(above, plane, window, rateY, offset, target.columns.count, into: to)
                continue
            }
            // Even and odd columns start 4 low-rate samples before the first one.
            let lead = 4
            let first = 2 * (target.columns.lowerBound - lead) - above.columns.lowerBound
            for start in stride(from: 0, to: target.columns.count, by: Self.chunk) {
                let count = min(Self.chunk, target.columns.count - start)
                split(above, plane, window, rateY, first + 2 * start, count + 2 * lead)
                operations.sumSplitFloats(
                    even: Row(even.start + lead), odd: Row(odd.start + lead), taps: rateX.taps, weights: rateX.halving,
                    count: count, out: to + start)
            }
        }
        target.pad(y)
    }

    /// Sums the rows of a window, and writes the sums of even and of odd columns into `even` and `odd`: `count` of each.
    private func split(
        _ above: RowRing<Float>, _ plane: Int, _ window: Range<Int>, _ rate: Rate?, _ offset: Int, _ count: Int
    ) {
        guard let rate else {
            return operations.splitFloats(
                Row(above.plane(plane, y: window.lowerBound) + offset), count: count, even: even.start, odd: odd.start)
        }
        for tap in 0..<rate.taps { list.set(tap, Row(above.plane(plane, y: window.lowerBound + tap) + offset)) }
        operations.sumAndSplitFloats(
            list, taps: rate.taps, weights: rate.halving, count: count, even: even.start, odd: odd.start)
    }

    /// Sums the rows of a window.
    private func sum(
        _ above: RowRing<Float>, _ plane: Int, _ window: Range<Int>, _ rate: Rate?, _ offset: Int, _ count: Int,
        into target: MutableRow<Float>
    ) {
        func row(_ tap: Int) -> Row<Float> { Row(above.plane(plane, y: window.lowerBound + tap) + offset) }
        guard let rate else { return target.update(from: row(0), count: count) }
        for pair in 0..<rate.taps / 2 {
            list.set(2 * pair, row(pair))
            list.set(2 * pair + 1, row(rate.taps - 1 - pair))
        }
        operations.sumFloatPairs(
            center: nil, centerWeight: 0, pairs: list, pairCount: rate.taps / 2, weights: rate.halving, count: count,
            out: target)
    }
}

extension FloatPyramidRun {
    private func makeUp(_ level: Int, through y: Int) {
        while up[level].lacks(y) {
            let row = up[level].next
            let next = level == levels ? filter(row) : double(level, row)
            up[level].next = min(next, up[level].rows.upperBound)
        }
    }

    /// Computes some rows at the lowest rate.
    ///
    /// - Returns: the next row.
    private func filter(_ first: Int) -> Int {
        let (from, target) = (low[levels], up[levels])
        let rows = first..<min(first + Self.batch, target.rows.upperBound)
        makeLow(levels, through: rows.upperBound - 1 + vertical.radius)
        for start in stride(from: 0, to: target.columns.count, by: filterChunk) {
            let count = min(filterChunk, target.columns.count - start)
            let offset = target.columns.lowerBound + start - horizontal.radius - from.columns.lowerBound
            for plane in 0..<channels {
                for y in rows {
                    sumTaps(vertical.weights[0], verticalSides, count + 2 * horizontal.radius, into: even.start) {
                        from.plane(plane, y: y + $0) + offset
                    }
                    let center = even.start + horizontal.radius
                    sumTaps(
                        horizontal.weights[0], horizontalSides, count, into: target.plane(plane, y: y) + start
                    ) { center + $0 }
                }
            }
        }
        return rows.upperBound
    }

    /// Sums a centre and symmetric pairs. `row` returns the row at each distance.
    private func sumTaps(
        _ center: Float, _ sides: [Float], _ count: Int, into target: MutableRow<Float>,
        row: (Int) -> MutableRow<Float>
    ) {
        for distance in 1..<sides.count + 1 {
            list.set(2 * distance - 2, Row(row(-distance)))
            list.set(2 * distance - 1, Row(row(distance)))
        }
        operations.sumFloatPairs(
            center: Row(row(0)), centerWeight: center, pairs: list, pairCount: sides.count, weights: sides,
            count: count, out: target)
    }

    /// Computes a row of `up[level]` from the level below, and the row after it if both are made from the same rows.
    ///
    /// - Returns: the next row.
    private func double(_ level: Int, _ y: Int) -> Int {
        let (below, target) = (up[level + 1], up[level])
        let (rateX, rateY) = (ratesX[level], ratesY[level])
        let k = rateY == nil ? y : y >> 1
        makeUp(level + 1, through: k + (rateY?.reach ?? 0))
        let offset =
            (rateX == nil ? target.columns.lowerBound : target.columns.lowerBound >> 1) - below.columns.lowerBound
        let total = rateX == nil ? target.columns.count : (target.columns.count + 1) / 2
        let lead = rateX?.reach ?? 0
        for plane in 0..<channels {
            for start in stride(from: 0, to: total, by: Self.chunk) {
                let count = min(Self.chunk, total - start)
                /// Writes columns of a row of the target, if it has this row.
                func write(_ sums: Row<Float>, _ y: Int) {
                    guard target.rows.contains(y) else { return }
                    let to = target.plane(plane, y: y)
                    guard let rateX else { return (to + start).update(from: sums, count: count) }
                    operations.doubleFloats(
                        sums + lead, taps: rateX.taps, evenWeights: rateX.doublingEven, oddWeights: rateX.doublingOdd,
                        count: count, out: to + 2 * start)
                }
                let first = offset + start - lead
                guard let rateY else {
                    write(Row(below.plane(plane, y: y) + first), y)
                    continue
                }
                for index in 0...2 * rateY.reach {
                    list.set(index, Row(below.plane(plane, y: k - rateY.reach + index) + first))
                }
                operations.doubleFloatRows(
                    list, taps: rateY.taps, evenWeights: rateY.doublingEven, oddWeights: rateY.doublingOdd,
                    count: count + 2 * lead, even: even.start, odd: odd.start)
                write(Row(even.start), 2 * k)
                write(Row(odd.start), 2 * k + 1)
            }
        }
        return rateY == nil ? y + 1 : 2 * k + 2
    }
}

extension [Prefilter] {
    /// The prefilters, with nil for each level that this axis lacks.
    fileprivate func padded(to levels: Int) -> [Prefilter?] {
        map { $0 } + Array<Prefilter?>(repeating: nil, count: levels - count)
    }
}
