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
            let sums = WorkBuffer<UInt32>(count: columns.count * target.layout.channels + 64)
            for y in target.rect.rows { render(strip, columns, sums.base, y, target) }
        }
    }

    private func render(
        _ strip: FixedStrip, _ columns: Range<Int>, _ sums: SumTarget, _ y: Int, _ target: ByteRowWriter
    ) {
        let operations = target.operations
        let channels = target.layout.channels
        let count = columns.count * channels
        strip.makeRows(through: y + taps.reachY)
        if isHorizontal {
            operations.sumWindows(strip.row(y) - plateau.side * channels, channels, plateau.length, count, sums)
        } else if y == target.rect.y {
            for row in y - plateau.side...y + plateau.side { operations.addToSums(strip.row(row), count, sums) }
        } else {
            operations.slideSums(strip.row(y + plateau.side), strip.row(y - plateau.side - 1), count, sums)
        }
        weigh(strip, sums, count, y, channels, operations)
        if strip.isOpaque(from: y - taps.reachY) {
            operations.roundWords(strip.words, count, target.row)
        } else {
            operations.unpremultiply(strip.words, 0, channels - 1, columns.count, target.row)
        }
        target.store(target.row, columns: columns, y: y)
    }

    private func weigh(
        _ strip: FixedStrip, _ sums: SumTarget, _ count: Int, _ y: Int, _ channels: Int, _ operations: RowOperations
    ) {
        func row(_ distance: Int) -> UnsafePointer<UInt16> {
            isHorizontal ? strip.row(y) + distance * channels : strip.row(y + distance)
        }
        withUnsafeTemporaryAllocation(of: UnsafePointer<UInt16>.self, capacity: 4) { pointers in
            guard let list = pointers.baseAddress else { return }
            let tails = plateau.tails + [0, 0]
            for index in 0..<2 {
                let distance = index < plateau.tails.count ? plateau.side + 1 + index : 0
                (list + 2 * index).initialize(to: row(-distance))
                (list + 2 * index + 1).initialize(to: row(distance))
            }
            operations.weighSums(sums, plateau.weight, list, tails[0], tails[1], count, strip.words)
        }
    }
}
