import Catalogs
import Geometry

/// A motion blur along a line that is not parallel to an axis, on 8-bit samples; see ``LineDesign``. Its cost does not depend on
/// the length of the line.
struct FixedLine: Hashable {
    let design: LineDesign
    private let taps: SymmetricPairs
    /// For each of ``LineDesign/steps`` positions of a line between two pixels: the weights of a row's pixels, and the offset of
    /// the first.
    private let weights: [UInt16]
    private let firstTaps: [Int]
    private let endWeights: [UInt16]

    init(_ design: LineDesign, _ taps: SymmetricPairs) {
        self.design = design
        self.taps = taps
        let crossings = (0..<LineDesign.steps).map(design.crossing)
        weights = crossings.flatMap(\.weights)
        firstTaps = crossings.map(\.first)
        endWeights = design.endWeights
    }

    /// The memory of a strip for each value of a row.
    var bytesOfValue: Int { FixedStrip.bytesOfValue(reachY: taps.reachY) + LineStrip.bytesOfValue(design) }

    var strips: ByteStrips {
        // The sums of a line begin before the line enters a strip, so narrow strips repeat much work.
        let drift = Int((2 * Double(design.side) * design.slope.magnitude).rounded(.up))
        return ByteStrips(reach: (taps.reachX, taps.reachY)) { columns, _ in
            columns.pieces(of: max(2048, 4 * drift))
        } make: { source, strip, output in
            LineStrip(design, weights, firstTaps, endWeights, source, taps, strip, output)
        }
    }
}

/// The running sums of one strip of columns.
private final class LineStrip: ByteStrip {
    private let design: LineDesign
    private let weights: RowBuffer<UInt16>
    private let firstTaps: [Int]
    private let endWeights: [UInt16]
    private let inputs: FixedStrip
    private let strip: Range<Int>
    private let outputs: Range<Int>
    private let output: ByteOutput
    private let reachY: Int
    /// The lines that cross the strip in the rows for which there is memory, by their columns at y = 0.
    private var lines: Range<Int>
    /// The end of those rows.
    private var end: Int
    /// The number of rows for which there is memory. The lines that cross a strip differ from row to row, so that many rows need much
    /// memory.
    private let rowsAtOnce: Int
    private let planeStride: Int
    /// A plane for each phase.
    private var sums: RowBuffer<UInt32>
    private let nodes: RowList<UInt32>
    private let scale: Float
    private let bias: Float
    private let most: Float

    /// The memory of a strip's sums for each value of a row.
    static func bytesOfValue(_ design: LineDesign) -> Int { 4 * 3 * design.density }

    /// Sums are kept for so many more lines on both sides, because outputs lie between them.
    private static let slack = 3

    init(
        _ design: LineDesign, _ weights: [UInt16], _ firstTaps: [Int], _ endWeights: [UInt16],
        _ source: ByteSource, _ taps: SymmetricPairs, _ strip: Range<Int>, _ output: ByteOutput
    ) {
        let channels = output.layout.channels
        self.design = design
        self.weights = RowBuffer(count: weights.count)
        self.firstTaps = firstTaps
        self.endWeights = endWeights
        self.strip = strip
        outputs = output.rect.rows
        self.output = output
        reachY = taps.reachY
        inputs = FixedStrip(
            source, reach: (taps.reachX + 2 * Self.slack + 2, taps.reachY), pairs: design.ends, strip: strip,
            rows: outputs, shift: 7, output.layout, output.operations)
        // As many as make about one more line for each column.
        rowsAtOnce = min(max(64, Int(Double(strip.count) / design.slope.magnitude)), outputs.count)
        end = outputs.lowerBound + rowsAtOnce
        lines = Self.lines(crossing: strip, from: outputs.lowerBound, through: end + 2 * design.side, design)
        // For other rows there may be a line or two more.
        planeStride = ((lines.count + 2) * channels + 127) & ~63
        sums = RowBuffer(count: planeStride * design.density)
        nodes = RowList(count: 4)
        let share = Double(2 * design.side + 1) * design.rowWeight
        scale = Float(design.rowWeight)
        // Each product of a row's taps was truncated, and so will be those of the pairs.
        bias = Float(Double(design.taps) / 2 * share + Double(design.ends.count) / 2 + 0.5)
        most = Float(share * 32640) + bias
        weights.withRow { self.weights.start.update(from: $0, count: weights.count) }
    }

    /// The lines between which outputs of the rows from `first` to `last` lie.
    private static func lines(
        crossing strip: Range<Int>, from first: Int, through last: Int, _ design: LineDesign
    ) -> Range<Int> {
        let (start, end) = (design.slope * Double(first), design.slope * Double(last))
        let least = Int((Double(strip.lowerBound) - max(start, end)).rounded(.down)) - slack
        let most = Int((Double(strip.upperBound) - min(start, end)).rounded(.up)) + slack
        return least..<most
    }

    /// The lines that need the row that enters for the output row `y`: those of this output row, and of the later ones whose sums
    /// contain the row, too.
    private func lines(entering y: Int) -> Range<Int> {
        Self.lines(
            crossing: strip, from: max(y, outputs.lowerBound),
            through: min(y + 2 * design.side, outputs.upperBound - 1), design)
    }

    func makeRows(through y: Int) { inputs.makeRows(through: y) }

    func render(_ rows: Range<Int>, to target: RowWriter<UInt8>) {
        for y in rows {
            inputs.makeRows(through: y + reachY)
            if y == outputs.lowerBound {
                for y in y - 2 * design.side...y { enter(y + design.side, lines(entering: y)) }
            } else {
                slide(to: y)
            }
            write(y, to: target)
        }
    }

    /// Adds the row that enters the sums for the output row `y`, and subtracts the one that leaves them.
    private func slide(to y: Int) {
        if y == end { makeRoom() }
        let all = lines(entering: y)
        let old = lines(entering: y - 2 * design.side - 1).clamped(to: all)
        slide(entering: y + design.side, leaving: y - design.side - 1, old)
        enter(y + design.side, all.lowerBound..<old.lowerBound)
        enter(y + design.side, old.upperBound..<all.upperBound)
    }

    /// Moves the sums of the lines that have begun, for the next rows.
    private func makeRoom() {
        let old = (lines: lines, begun: lines(entering: end - 1))
        end += rowsAtOnce
        lines = Self.lines(crossing: strip, from: end - rowsAtOnce, through: end + 2 * design.side, design)
        let channels = output.layout.channels
        let kept = old.begun.clamped(to: lines)
        let moved = RowBuffer<UInt32>(count: planeStride * design.density)
        for phase in 0..<design.density {
            let (from, to) = (kept.lowerBound - old.lines.lowerBound, kept.lowerBound - lines.lowerBound)
            (moved.start + (phase * planeStride + to * channels)).update(
                from: Row(sums.start + (phase * planeStride + from * channels)), count: kept.count * channels)
        }
        sums = moved
    }

    private func enter(_ y: Int, _ lines: Range<Int>) {
        guard !lines.isEmpty else { return }
        for phase in 0..<design.density {
            let new = crossing(y: y, phase: phase)
            output.operations.addLines(
                entering: pixel(lines.lowerBound + new.column, y), enteringWeights: new.weights, taps: design.taps,
                stride: output.layout.channels, count: lines.count * output.layout.channels,
                sums: sum(lines.lowerBound, phase))
        }
    }

    private func slide(entering: Int, leaving: Int, _ lines: Range<Int>) {
        guard !lines.isEmpty else { return }
        for phase in 0..<design.density {
            let new = crossing(y: entering, phase: phase)
            let old = crossing(y: leaving, phase: phase)
            output.operations.slideLines(
                entering: pixel(lines.lowerBound + new.column, entering), enteringWeights: new.weights,
                leaving: pixel(lines.lowerBound + old.column, leaving), leavingWeights: old.weights, taps: design.taps,
                stride: output.layout.channels, count: lines.count * output.layout.channels,
                sums: sum(lines.lowerBound, phase))
        }
    }

    private func write(_ y: Int, to target: RowWriter<UInt8>) {
        _ = inputs.makeWindow(y)
        let around = design.sums(y: y)
        for (index, sum) in around.enumerated() {
            nodes.set(index, Row(self.sum(strip.lowerBound + sum.line, sum.phase)))
        }
        let count = strip.count * target.layout.channels
        let isOpaque = inputs.isOpaque(from: y - reachY)
        target.operations.weighLines(
            nodes, sumWeights: around.map { Float($0.weight) * scale }, bias: bias, most: most, pairs: inputs.pairs,
            weights: endWeights, count: count, bytes: isOpaque ? target.row : nil, words: isOpaque ? nil : inputs.words)
        if !isOpaque {
            target.operations.unpremultiply(
                Row(inputs.words), zero: UInt16(bias.rounded(.up)), colors: target.layout.channels - 1,
                pixels: strip.count, out: target.row)
        }
        target.store(target.row, columns: strip, y: y)
    }

    /// The weights of the row at `y` for the sums of a phase, and the column of the first pixel for the line at 0.
    private func crossing(y: Int, phase: Int) -> (weights: Row<UInt16>, column: Int) {
        let (pixel, step) = design.place(y: y, phase: phase)
        return (Row(weights.start) + step * design.taps, pixel + firstTaps[step])
    }

    private func pixel(_ column: Int, _ y: Int) -> Row<UInt16> {
        inputs.row(y) + (column - strip.lowerBound) * output.layout.channels
    }

    private func sum(_ line: Int, _ phase: Int) -> MutableRow<UInt32> {
        sums.start + (phase * planeStride + (line - lines.lowerBound) * output.layout.channels)
    }
}
