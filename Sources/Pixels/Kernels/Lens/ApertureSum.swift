import Geometry

/// Sums over an aperture, in single precision.
///
/// A row of an aperture is a few runs of equal weights, and single pixels at its rim. The sums of all runs of a length are
/// computed for a whole row of the picture at once, from those of the shorter runs. So a run costs as much as a pixel, and the
/// cost of an aperture grows with its radius, not with its area.
///
/// Each row of the picture is added to all sums that it belongs to. The order of additions is the same for every pixel, so that
/// sums do not depend on the tile. No sum is a difference of larger sums, so that infinite samples stay where they belong.
struct ApertureSum: Sendable {
    let reach: Int
    /// The sum of all weights.
    let total: Float
    private let pieces: [Piece]
    private let operations: RowOperations

    /// A run and single pixels in one row of the aperture, or in several rows that are alike.
    private struct Piece {
        /// The length of the run; 0 if there is none.
        var length = 0
        /// Where the run begins, from the sum's own pixel on.
        var start = 0
        /// The single pixels.
        var offsets: [Int] = []
        /// The weight of the run, if there is one, and those of the single pixels.
        var weights: [Float] = []
        /// How far above the row that it reads the sums are.
        var rows: [Int] = []
    }

    /// Shorter runs are single pixels.
    private static let shortest = 4

    /// - Parameter mask: a point of light spreads over this mask. So a sum reads it turned by 180°.
    init(_ mask: ApertureMask, _ operations: RowOperations) {
        self.operations = operations
        reach = mask.reach
        var rows: [[Float]: [Int]] = [:]
        var order: [[Float]] = []
        var total: Float = 0
        for dy in -mask.reach...mask.reach {
            let weights = (-mask.reach...mask.reach).map { Float(mask.share(dx: -$0, dy: dy)) }
            total += weights.reduce(0, +)
            if rows[weights] == nil { order.append(weights) }
            rows[weights, default: []].append(dy)
        }
        self.total = total
        pieces = order.flatMap { Self.pieces($0, rows: rows[$0] ?? [], reach: mask.reach) }
            .enumerated().sorted { ($0.element.length, $0.offset) < ($1.element.length, $1.offset) }.map(\.element)
    }

    /// - Parameter rows: the distances of the sums from the rows that have these weights.
    private static func pieces(_ weights: [Float], rows: [Int], reach: Int) -> [Piece] {
        var pieces = [Piece(rows: rows)]
        var index = 0
        while index < weights.count {
            let end = weights[index...].firstIndex { $0 != weights[index] } ?? weights.count
            let (weight, length) = (weights[index], end - index)
            if weight > 0, length >= shortest {
                let run = Piece(length: length, start: index - reach, weights: [weight], rows: rows)
                pieces.append(run)
            } else if weight > 0 {
                pieces[0].offsets += (index..<end).map { $0 - reach }
                pieces[0].weights += [Float](repeating: weight, count: length)
            }
            index = end
        }
        // The single pixels are added together with the first run.
        if pieces.count > 1 {
            let single = pieces.removeFirst()
            pieces[0].offsets = single.offsets
            pieces[0].weights += single.weights
        }
        return pieces.filter { !$0.weights.isEmpty }
    }

    /// The cost of a sum, in loads of a value.
    var loads: Int {
        pieces.reduce(pieces.last?.length ?? 0) { $0 + $1.weights.count + 2 * $1.rows.count }
    }

    /// Sums up a part of a plane.
    ///
    /// - Parameters:
    ///   - plane: the rows of the plane. They have the sums' own columns, and all columns around them that the aperture
    ///     reaches, and may be read a little beyond.
    ///   - height: the number of rows of sums.
    ///   - isEmpty: whether a row of the plane, from `-reach` on, has only zeros as far as the sums are concerned.
    ///   - ranges: the columns of each row of sums. They begin and end at multiples of ``SumPlane/step``.
    ///   - sums: receives the sums. Other columns keep their values.
    ///   - scratch: is overwritten.
    func add(
        _ plane: (_ y: Int) -> Row<Float>, isEmpty: (_ y: Int) -> Bool, ranges: [Range<Int>],
        to sums: SumPlane, scratch: borrowing Scratch
    ) {
        for (y, range) in ranges.enumerated() where !range.isEmpty {
            (sums.row(y) + range.lowerBound).update(repeating: 0, count: range.count)
        }
        for y in -reach..<ranges.count + reach where !isEmpty(y) {
            let touched = ranges[max(0, y - reach)..<min(ranges.count, y + reach + 1)].filter { !$0.isEmpty }
            guard let left = touched.map(\.lowerBound).min(), let right = touched.map(\.upperBound).max() else {
                continue
            }
            add(plane(y), y, left..<right, ranges, sums, scratch)
        }
    }

    /// - Parameter columns: all columns that are touched.
    private func add(
        _ row: Row<Float>, _ y: Int, _ columns: Range<Int>, _ ranges: [Range<Int>], _ sums: SumPlane,
        _ scratch: borrowing Scratch
    ) {
        // The run that begins at column c is at c + reach.
        let runs = scratch.runs.start
        var length = 0
        let (first, count) = (columns.lowerBound - reach, columns.count + 2 * reach)
        for piece in pieces {
            if length < piece.length {
                if length == 0 { (runs + columns.lowerBound).update(repeating: 0, count: count) }
                for (index, offset) in (length..<piece.length).enumerated() {
                    scratch.list.set(index, row + first + offset)
                }
                operations.addFloatRows(
                    scratch.list, rowCount: piece.length - length, weights: scratch.ones,
                    count: count - piece.length + 1, to: runs + columns.lowerBound)
                length = piece.length
            }
            if piece.rows.count == 1 {
                let range = sumRange(piece.rows[0], y, ranges)
                guard !range.isEmpty else { continue }
                let taps = list(piece, row, runs, range.lowerBound, scratch)
                operations.addFloatRows(
                    scratch.list, rowCount: taps, weights: piece.weights, count: range.count,
                    to: sums.row(y + piece.rows[0]) + range.lowerBound)
            } else {
                let taps = list(piece, row, runs, columns.lowerBound, scratch)
                operations.sumFloatRows(
                    scratch.list, rowCount: taps, weights: piece.weights, count: columns.count,
                    out: scratch.sum.start + columns.lowerBound)
                for dy in piece.rows {
                    let range = sumRange(dy, y, ranges)
                    guard !range.isEmpty else { continue }
                    operations.addFloats(
                        Row(scratch.sum.start + range.lowerBound), to: sums.row(y + dy) + range.lowerBound,
                        count: range.count)
                }
            }
        }
    }

    private func sumRange(_ dy: Int, _ y: Int, _ ranges: [Range<Int>]) -> Range<Int> {
        ranges.indices.contains(y + dy) ? ranges[y + dy] : 0..<0
    }

    /// Sets the rows that a piece adds up, from a column on. Returns their number.
    private func list(
        _ piece: Piece, _ row: Row<Float>, _ runs: MutableRow<Float>, _ x: Int, _ scratch: borrowing Scratch
    ) -> Int {
        var count = 0
        if piece.length > 0 {
            scratch.list.set(0, Row(runs + (x + piece.start + reach)))
            count = 1
        }
        for offset in piece.offsets {
            scratch.list.set(count, row + (x + offset))
            count += 1
        }
        return count
    }

    /// Memory for the sums of rows.
    struct Scratch: ~Copyable {
        fileprivate let runs: RowBuffer<Float>
        fileprivate let sum: RowBuffer<Float>
        fileprivate let list: RowList<Float>
        fileprivate let ones: [Float]

        /// - Parameters:
        ///   - width: the largest number of columns of sums.
        ///   - reach: the largest reach of an aperture.
        init(width: Int, reach: Int) {
            let wide = SumPlane.rounded(width) + 2 * reach + 3 * SumPlane.step
            runs = RowBuffer(count: wide)
            sum = RowBuffer(count: wide)
            list = RowList(count: 2 * reach + 2)
            ones = [Float](repeating: 1, count: 2 * reach + 1)
        }
    }
}

/// Values of a part of a picture, and of a margin around it.
final class SumPlane {
    /// Loops compute this many values at once.
    static let step = 32

    private let stride: Int
    private let origin: Int
    private let values: RowBuffer<Float>

    /// - Parameter margin: the number of columns and rows around the part.
    init(width: Int, height: Int, margin: Int = 0) {
        stride = Self.rounded(width + 2 * margin) + 2 * Self.step
        origin = margin * stride + margin
        values = RowBuffer(count: stride * (height + 2 * margin) + Self.step)
    }

    static func rounded(_ count: Int) -> Int { (count + step - 1) / step * step }

    /// The values from column 0 on.
    func row(_ y: Int) -> MutableRow<Float> { values.start + (origin + y * stride) }
}
