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

    func render(_ source: ByteSource, to target: RowWriter<UInt8>) {
        // The sums of a line begin before the line enters a strip, so narrow strips repeat much work. There are sums for each line that
        // crosses a strip, so high strips need much memory.
        let drift = Int((2 * Double(design.side) * design.slope.magnitude).rounded(.up))
        let rows = max(16 * design.side, Int(8192 / design.slope.magnitude))
        weights.withRow { weights in
            for strip in target.rect.columns.pieces(of: max(2048, 4 * drift)) {
                for rows in target.rect.rows.pieces(of: rows) {
                    LineStrip(design, weights, firstTaps, endWeights, source, taps, strip, rows, target).render()
                }
            }
        }
    }
}

/// The running sums of one strip of columns, for some of its rows.
private final class LineStrip {
    private let design: LineDesign
    private let weights: Row<UInt16>
    private let firstTaps: [Int]
    private let endWeights: [UInt16]
    private let inputs: FixedStrip
    private let strip: Range<Int>
    private let outputs: Range<Int>
    private let target: RowWriter<UInt8>
    private let reachY: Int
    /// All lines that cross the strip, by their columns at y = 0.
    private let lines: Range<Int>
    private let planeStride: Int
    /// A plane for each phase.
    private let sums: RowBuffer<UInt32>
    private let nodes: RowList<UInt32>
    private let scale: Float
    private let bias: Float
    private let most: Float

    /// Sums are kept for so many more lines on both sides, because outputs lie between them.
    private static let slack = 3

    init(
        _ design: LineDesign, _ weights: Row<UInt16>, _ firstTaps: [Int], _ endWeights: [UInt16],
        _ source: ByteSource, _ taps: SymmetricPairs, _ strip: Range<Int>, _ outputs: Range<Int>,
        _ target: RowWriter<UInt8>
    ) {
        let channels = target.layout.channels
        self.design = design
        self.weights = weights
        self.firstTaps = firstTaps
        self.endWeights = endWeights
        self.strip = strip
        self.outputs = outputs
        self.target = target
        reachY = taps.reachY
        inputs = FixedStrip(
            source, reach: (taps.reachX + 2 * Self.slack + 2, taps.reachY), pairs: design.ends, strip: strip,
            rows: outputs, shift: 7, target)
        lines = Self.lines(crossing: strip, from: outputs.lowerBound, through: outputs.upperBound - 1, design)
        planeStride = (lines.count * channels + 127) & ~63
        sums = RowBuffer(count: planeStride * design.density)
        nodes = RowList(count: 4)
        let share = Double(2 * design.side + 1) * design.rowWeight
        scale = Float(design.rowWeight)
        // Each product of a row's taps was truncated, and so will be those of the pairs.
        bias = Float(Double(design.taps) / 2 * share + Double(design.ends.count) / 2 + 0.5)
        most = Float(share * 32640) + bias
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

    func render() {
        for y in outputs.lowerBound - 2 * design.side..<outputs.upperBound {
            inputs.makeRows(through: y < outputs.lowerBound ? y + design.side : y + reachY)
            let all = lines(entering: y)
            guard y > outputs.lowerBound else {
                enter(y + design.side, all)
                if y == outputs.lowerBound { write(y) }
                continue
            }
            let old = lines(entering: y - 2 * design.side - 1).clamped(to: all)
            slide(entering: y + design.side, leaving: y - design.side - 1, old)
            enter(y + design.side, all.lowerBound..<old.lowerBound)
            enter(y + design.side, old.upperBound..<all.upperBound)
            write(y)
        }
    }

    private func enter(_ y: Int, _ lines: Range<Int>) {
        guard !lines.isEmpty else { return }
        for phase in 0..<design.density {
            let new = crossing(y: y, phase: phase)
            target.operations.addLines(
                entering: pixel(lines.lowerBound + new.column, y), enteringWeights: new.weights, taps: design.taps,
                stride: target.layout.channels, count: lines.count * target.layout.channels,
                sums: sum(lines.lowerBound, phase))
        }
    }

    private func slide(entering: Int, leaving: Int, _ lines: Range<Int>) {
        guard !lines.isEmpty else { return }
        for phase in 0..<design.density {
            let new = crossing(y: entering, phase: phase)
            let old = crossing(y: leaving, phase: phase)
            target.operations.slideLines(
                entering: pixel(lines.lowerBound + new.column, entering), enteringWeights: new.weights,
                leaving: pixel(lines.lowerBound + old.column, leaving), leavingWeights: old.weights, taps: design.taps,
                stride: target.layout.channels, count: lines.count * target.layout.channels,
                sums: sum(lines.lowerBound, phase))
        }
    }

    private func write(_ y: Int) {
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
        return (weights + step * design.taps, pixel + firstTaps[step])
    }

    private func pixel(_ column: Int, _ y: Int) -> Row<UInt16> {
        inputs.row(y) + (column - strip.lowerBound) * target.layout.channels
    }

    private func sum(_ line: Int, _ phase: Int) -> MutableRow<UInt32> {
        sums.start + (phase * planeStride + (line - lines.lowerBound) * target.layout.channels)
    }
}
