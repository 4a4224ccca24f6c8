import Catalogs
import Geometry

/// A Gaussian at several sampling rates in single precision, for every sample format and light. The axes may differ.
struct FloatPyramid: WorkingKernel {
    private let horizontal: AxisDesign<Float>
    private let vertical: AxisDesign<Float>
    private let operations: RowOperations
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
            let low = level == levels ? 2 * (2 * vertical.radius + 2) : 16
            let width = (width + 2 * horizontal.reach) >> min(level, horizontal.prefilters.count)
            return (low + 8) * (width + 512)
        }
        // Three buffers have the size of the longest row.
        return (rows.reduce(0, +) + 4 * (width + 2 * horizontal.reach + 512)) * channels * MemoryLayout<Float>.stride
    }

    /// - Parameter source: creates the source for some columns.
    func run(
        _ columns: AxisTable, _ rows: AxisTable, _ layout: PixelLayout, area: PixelRect,
        source: (Range<Int>) -> FloatSource
    ) -> FloatPyramidRun {
        FloatPyramidRun(
            columns, rows, channels: layout.channels, area: area, horizontal: horizontal, vertical: vertical,
            operations, source: source)
    }
}

/// The rings and the order of work. It has the schedule of ``FixedPyramid``.
final class FloatPyramidRun {
    private let operations: RowOperations
    private let horizontal: AxisDesign<Float>
    private let vertical: AxisDesign<Float>
    private let source: FloatSource
    private let levels: Int
    /// `low[l]` is the image after l halvings; `low[0]` is the source. `up[l]` has the same rate; `up[0]` is the output.
    private let low: [RowRing<Float>]
    private let up: [RowRing<Float>]
    private let row: RowBuffer<Float>
    private let even: RowBuffer<Float>
    private let odd: RowBuffer<Float>
    private let list: RowList<Float>

    private static let margin = 16

    init(
        _ columns: AxisTable, _ rows: AxisTable, channels: Int, area: PixelRect, horizontal: AxisDesign<Float>,
        vertical: AxisDesign<Float>, _ operations: RowOperations, source: (Range<Int>) -> FloatSource
    ) {
        let levels = max(horizontal.prefilters.count, vertical.prefilters.count)
        let x = AxisSpans(
            output: area.columns, core: columns.core, prefilters: horizontal.prefilters.padded(to: levels),
            radius: horizontal.radius, pairs: true)
        let y = AxisSpans(
            output: area.rows, core: rows.core, prefilters: vertical.prefilters.padded(to: levels),
            radius: vertical.radius, pairs: false)
        self.operations = operations
        self.horizontal = horizontal
        self.vertical = vertical
        self.levels = levels
        self.source = source(x.low[0])
        low = (0...levels).map { level in
            let window = level == levels ? 2 * vertical.radius + 2 : 16
            return RowRing(
                columns: x.low[level], rows: y.low[level], channels: 1, planes: channels, capacity: window,
                margin: Self.margin + (level == levels ? x.excess : 0))
        }
        up = (0...levels).map { level in
            // The output's rows start at an even column, because columns are computed in pairs.
            let columns = level == 0 ? x.up[0].lowerBound & ~1..<(x.up[0].upperBound + 1) & ~1 : x.up[level]
            return RowRing(
                columns: columns, rows: y.up[level], channels: 1, planes: channels, capacity: 8, margin: Self.margin)
        }
        let widest = (low + up).map(\.wholeCount).max() ?? 0
        row = RowBuffer(count: widest + 512)
        even = RowBuffer(count: widest + 512)
        odd = RowBuffer(count: widest + 512)
        list = RowList(count: 2 * max(horizontal.radius, vertical.radius) + 32)
        outputColumns = area.columns
        horizontalSides = Array(horizontal.weights.dropFirst())
        verticalSides = Array(vertical.weights.dropFirst())
    }

    private let outputColumns: Range<Int>
    /// The weights without the centre's.
    private let horizontalSides: [Float]
    private let verticalSides: [Float]

    /// Computes an output row.
    func row(_ y: Int) -> PlaneRow {
        makeUp(0, through: y)
        return up[0].planeRow(y, columns: outputColumns, operations)
    }

    private func prefilterX(_ level: Int) -> Prefilter? {
        level < horizontal.prefilters.count ? horizontal.prefilters[level] : nil
    }

    private func prefilterY(_ level: Int) -> Prefilter? {
        level < vertical.prefilters.count ? vertical.prefilters[level] : nil
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
        let above = low[level - 1]
        var summed = Row(self.row.start + above.lead)
        if let prefilter = prefilterY(level - 1) {
            let window = prefilter.window(y..<y + 1)
            makeLow(level - 1, through: window.upperBound - 1)
            sumPairs(prefilter.taps, above.wholeCount, into: self.row.start) {
                low[level - 1].whole(window.lowerBound + $0)
            }
        } else {
            makeLow(level - 1, through: y)
            summed = Row(low[level - 1].row(y))
        }
        for plane in 0..<above.planes {
            let from = summed + plane * above.planeStride
            let to = low[level].row(y) + plane * low[level].planeStride
            let count = low[level].columns.count
            guard let prefilter = prefilterX(level - 1) else {
                to.update(from: from + (low[level].columns.lowerBound - above.columns.lowerBound), count: count)
                continue
            }
            // Even and odd columns start 4 low-rate samples before the first one.
            let lead = 4
            let first = 2 * (low[level].columns.lowerBound - lead) - above.columns.lowerBound
            operations.splitFloats(from + first, count: count + 2 * lead, even: even.start, odd: odd.start)
            sumPairs(prefilter.taps, count, into: to) { tap in
                let distance = tap - prefilter.before
                let position = lead + (distance >> 1)
                return distance & 1 == 0 ? even.start + position : odd.start + position
            }
        }
        low[level].pad(y)
    }

    /// Sums rows in symmetric pairs. `row` returns the row for each tap.
    private func sumPairs(
        _ taps: [Double], _ count: Int, into target: MutableRow<Float>,
        row: (Int) -> MutableRow<Float>
    ) {
        let pairs = taps.count / 2
        for pair in 0..<pairs {
            list.set(2 * pair, Row(row(pair)))
            list.set(2 * pair + 1, Row(row(taps.count - 1 - pair)))
        }
        operations.sumFloatPairs(
            center: nil, centerWeight: 0, pairs: list, pairCount: pairs, weights: taps.prefix(pairs).map { Float($0) },
            count: count, out: target)
    }
}

extension FloatPyramidRun {
    private func makeUp(_ level: Int, through y: Int) {
        while up[level].lacks(y) {
            let row = up[level].next
            if level == levels { filter(row) } else { double(level, row) }
            up[level].next = row + 1
        }
    }

    /// Computes a row at the lowest rate.
    private func filter(_ y: Int) {
        makeLow(levels, through: y + vertical.radius)
        let from = low[levels]
        sumTaps(vertical.weights[0], verticalSides, from.wholeCount, into: row.start) { from.whole(y + $0) }
        let offset = from.lead + up[levels].columns.lowerBound - from.columns.lowerBound
        for plane in 0..<from.planes {
            let start = row.start + (offset + plane * from.planeStride)
            sumTaps(
                horizontal.weights[0], horizontalSides, up[levels].columns.count,
                into: up[levels].row(y) + plane * up[levels].planeStride
            ) {
                start + $0
            }
        }
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

    /// Computes a row of `up[level]` from the level below.
    private func double(_ level: Int, _ y: Int) {
        let below = up[level + 1]
        var summed = Row(row.start + below.lead)
        if let prefilter = prefilterY(level) {
            makeUp(level + 1, through: (y >> 1) + prefilter.doublingReach)
            sumRows(prefilter, isOdd: y & 1 == 1, below.wholeCount, into: row.start) {
                up[level + 1].whole((y >> 1) + $0)
            }
        } else {
            makeUp(level + 1, through: y)
            summed = Row(up[level + 1].row(y))
        }
        let target = up[level]
        for plane in 0..<below.planes {
            let to = target.row(y) + plane * target.planeStride
            let from = summed + plane * below.planeStride
            guard let prefilter = prefilterX(level) else {
                to.update(
                    from: from + (target.columns.lowerBound - below.columns.lowerBound), count: target.columns.count)
                continue
            }
            let start = from + ((target.columns.lowerBound >> 1) - below.columns.lowerBound)
            let count = (target.columns.count + 1) / 2
            sumRows(prefilter, isOdd: false, count, into: even.start) { start + $0 }
            sumRows(prefilter, isOdd: true, count, into: odd.start) { start + $0 }
            operations.zipFloats(even: Row(even.start), odd: Row(odd.start), count: count, out: to)
        }
    }

    /// The weighted sum for outputs at twice a position or one after it. `row` returns the neighbours by their distance.
    private func sumRows(
        _ prefilter: Prefilter, isOdd: Bool, _ count: Int, into target: MutableRow<Float>,
        row: (Int) -> Row<Float>
    ) {
        // y[n] = 2·Σ taps[n − 2m + before]·low[m], with n = 2k or 2k + 1 and m = k + distance.
        var weights: [Float] = []
        for distance in -prefilter.doublingReach - 1...prefilter.doublingReach + 1 {
            let tap = (isOdd ? 1 : 0) - 2 * distance + prefilter.before
            guard prefilter.taps.indices.contains(tap) else { continue }
            list.set(weights.count, row(distance))
            weights.append(Float(2 * prefilter.taps[tap]))
        }
        operations.sumFloatRows(list, rowCount: weights.count, weights: weights, count: count, out: target)
    }

    private func sumRows(
        _ prefilter: Prefilter, isOdd: Bool, _ count: Int, into target: MutableRow<Float>,
        row: (Int) -> MutableRow<Float>
    ) {
        sumRows(prefilter, isOdd: isOdd, count, into: target) { Row(row($0)) }
    }
}

extension [Prefilter] {
    /// The prefilters, with nil for each level that this axis lacks.
    fileprivate func padded(to levels: Int) -> [Prefilter?] {
        map { $0 } + Array<Prefilter?>(repeating: nil, count: levels - count)
    }
}
