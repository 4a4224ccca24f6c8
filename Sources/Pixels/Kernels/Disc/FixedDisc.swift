import Catalogs
import Geometry

/// A mean over a disc of 8-bit samples.
///
/// The sum of the completely covered pixels is a running sum: for each step down, every column of the disc adds one pixel and
/// subtracts one. Sums are integers and therefore always exact. Pixels at the border are summed in groups of equal weight.
final class FixedDisc: ByteStrip {
    private let weights: DiscWeights
    private let strip: Range<Int>
    private let output: ByteOutput
    private let rows: FixedStrip
    private let channels: Int
    private let groups: DiscGroups
    private let sums: RowBuffer<UInt32>
    private let words: RowBuffer<UInt16>
    private let entering: RowList<UInt16>
    private let leaving: RowList<UInt16>
    private let borders: RowList<UInt16>

    static func strips(_ weights: DiscWeights) -> ByteStrips {
        ByteStrips(reach: (weights.reach, weights.reach)) {
            strips(of: $0, channels: $1, reach: weights.reach)
        } make: {
            FixedDisc($0, weights, $1, $2)
        }
    }

    /// Strips of columns whose rows fit the first-level cache if the disc is small.
    private static func strips(of columns: Range<Int>, channels: Int, reach: Int) -> [Range<Int>] {
        let fitting = (36 << 10) / (2 * (2 * reach + 2) * channels) - 2 * reach
        let width = max(fitting, 384, 4 * reach) & ~127
        return columns.pieces(of: width)
    }

    init(_ source: ByteSource, _ weights: DiscWeights, _ strip: Range<Int>, _ output: ByteOutput) {
        self.weights = weights
        self.strip = strip
        self.output = output
        channels = output.layout.channels
        groups = DiscGroups(weights)
        let count = strip.count * channels + 128
        rows = FixedStrip(
            source, reach: (weights.reach, weights.reach), strip: strip, rows: output.rect.rows,
            shift: output.layout.hasAlpha ? 7 : 0, output.layout, output.operations)
        sums = RowBuffer(count: count)
        words = RowBuffer(count: count)
        entering = RowList(count: 2 * weights.reach + 1)
        leaving = RowList(count: 2 * weights.reach + 1)
        borders = RowList(count: groups.offsets.count)
    }

    func makeRows(through y: Int) { rows.makeRows(through: y) }

    func render(_ rows: Range<Int>, to target: RowWriter<UInt8>) {
        for y in rows {
            makeRows(through: y + weights.reach)
            if y == output.rect.y {
                addWholeDisc(y)
            } else {
                slide(y)
            }
            write(y, to: target)
        }
    }

    /// Sums the completely covered pixels, row by row.
    private func addWholeDisc(_ y: Int) {
        for dy in -weights.reach...weights.reach {
            var count = 0
            for dx in -weights.reach...weights.reach where weights.heights[abs(dx)] >= abs(dy) {
                entering.set(count, rows.row(y + dy).moved(unchecked: dx * channels))
                count += 1
            }
            slideSums(count, 0)
        }
    }

    private func slide(_ y: Int) {
        var count = 0
        for dx in -weights.reach...weights.reach {
            let height = weights.heights[abs(dx)]
            guard height >= 0 else { continue }
            entering.set(count, rows.row(y + height).moved(unchecked: dx * channels))
            leaving.set(count, rows.row(y - 1 - height).moved(unchecked: dx * channels))
            count += 1
        }
        slideSums(count, count)
    }

    private func slideSums(_ enteringCount: Int, _ leavingCount: Int) {
        output.operations.slideDiscs(
            isWide: output.layout.hasAlpha, entering: entering, enteringCount: enteringCount, leaving: leaving,
            leavingCount: leavingCount, count: strip.count * channels, sums: sums.start)
    }

    private func write(_ y: Int, to target: RowWriter<UInt8>) {
        for (index, offset) in groups.offsets.enumerated() {
            borders.set(index, rows.row(y + offset.dy).moved(unchecked: offset.dx * channels))
        }
        let count = strip.count * channels
        let hasAlpha = target.layout.hasAlpha
        target.operations.weighDiscs(
            isWide: hasAlpha, sums: Row(sums.start), weight: Float(weights.weight), taps: borders,
            counts: groups.counts, weights: groups.weights, groups: groups.counts.count, count: count,
            words: words.start, bytes: target.row)
        if hasAlpha {
            target.storeWords(words.start, isOpaque: rows.isOpaque(from: y - weights.reach), columns: strip, y: y)
        } else {
            target.store(target.row, columns: strip, y: y)
        }
    }
}

/// The pixels at the border of a disc, grouped by weight.
struct DiscGroups {
    private(set) var offsets: [(dx: Int, dy: Int)] = []
    private(set) var counts: [Int32] = []
    private(set) var weights: [Float] = []

    /// Each weight belongs to eight mirror images of a pixel, or to four if the pixel lies on an axis or a diagonal. There is
    /// at least one group.
    init(_ disc: DiscWeights) {
        for border in disc.borders where border.dx >= border.dy {
            let (x, y) = (border.dx, border.dy)
            var mirrors: [(dx: Int, dy: Int)] = []
            for (dx, dy) in [(x, y), (y, x)] {
                for (dx, dy) in [(dx, dy), (-dx, dy), (dx, -dy), (-dx, -dy)]
                where !mirrors.contains(where: { $0 == (dx, dy) }) {
                    mirrors.append((dx, dy))
                }
            }
            offsets += mirrors
            counts.append(Int32(mirrors.count))
            weights.append(Float(border.weight))
        }
        if counts.isEmpty {
            counts = [0]
            weights = [0]
        }
    }
}
