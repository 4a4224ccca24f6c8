import Catalogs
import Geometry

/// A mean along one axis on 8-bit samples by running sums of whole numbers; see ``Plateau``.
struct FixedBox {
    private let taps: SymmetricPairs
    private let plateau: Plateau

    init(_ taps: SymmetricPairs, _ plateau: Plateau) {
        self.taps = taps
        self.plateau = plateau
    }

    private var isHorizontal: Bool { taps.reachY == 0 }

    func render(_ source: ByteSource, to target: ByteRowWriter) {
        let columns = target.rect.columns
        // Along the rows there is nothing to keep in the cache; down the columns it is the window's rows.
        let width = isHorizontal ? columns.count : max(512, (1 << 19) / (2 * taps.reachY + 2)) & ~63
        for start in stride(from: columns.lowerBound, to: columns.upperBound, by: width) {
            let columns = start..<min(start + width, columns.upperBound)
            let strip = FixedStrip(source, taps: taps, strip: columns, shift: 7, target)
            let sums = RowBuffer<UInt32>(count: columns.count * target.layout.channels + 64)
            let list = RowList<UInt16>(count: 4)
            for y in target.rect.rows { render(strip, columns, sums.start, list, y, target) }
        }
    }

    private func render(
        _ strip: FixedStrip, _ columns: Range<Int>, _ sums: MutableRow<UInt32>,
        _ list: borrowing RowList<UInt16>, _ y: Int, _ target: ByteRowWriter
    ) {
        let operations = target.operations
        let channels = target.layout.channels
        let count = columns.count * channels
        strip.makeRows(through: y + taps.reachY)
        if isHorizontal {
            operations.sumWindows(
                strip.row(y) - plateau.side * channels, channels: channels, length: plateau.length, count: count,
                sums: sums)
        } else if y == target.rect.y {
            for row in y - plateau.side...y + plateau.side {
                operations.addToSums(strip.row(row), count: count, sums: sums)
            }
        } else {
            operations.slideSums(
                entering: strip.row(y + plateau.side), leaving: strip.row(y - plateau.side - 1), count: count,
                sums: sums)
        }
        weigh(strip, sums, list, count, y, channels)
        if strip.isOpaque(from: y - taps.reachY) {
            operations.roundWords(Row(strip.words), count: count, bytes: target.row)
        } else {
            operations.unpremultiply(
                Row(strip.words), zero: 0, colors: channels - 1, pixels: columns.count, out: target.row)
        }
        target.store(target.row, columns: columns, y: y)
    }

    /// - Parameter list: room for the rows of the tails.
    private func weigh(
        _ strip: FixedStrip, _ sums: MutableRow<UInt32>, _ list: borrowing RowList<UInt16>, _ count: Int, _ y: Int,
        _ channels: Int
    ) {
        func row(_ distance: Int) -> Row<UInt16> {
            isHorizontal ? strip.row(y) + distance * channels : strip.row(y + distance)
        }
        let tails = plateau.tails + [0, 0]
        for index in 0..<2 {
            let distance = index < plateau.tails.count ? plateau.side + 1 + index : 0
            list.set(2 * index, row(-distance))
            list.set(2 * index + 1, row(distance))
        }
        strip.operations.weighSums(
            Row(sums), weight: plateau.weight, pairs: list, first: tails[0], second: tails[1], count: count,
            words: strip.words)
    }
}
