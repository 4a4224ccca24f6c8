import Catalogs
import Geometry

/// A filter with few symmetric taps on 8-bit samples. It works in strips of columns, whose rows are widened to 16 bits and
/// stay in the cache while the window slides down.
struct FixedSparse {
    private let taps: SymmetricPairs
    /// The centre's weight, then one for each pair; or one weight for all samples.
    private let weights: [UInt16]
    /// The left shift of a sum of samples, so that it fills 16 bits; nil if taps have different weights.
    private let meanShift: Int?

    /// The largest number of pairs for which the rounding errors of weights and products stay below ½ of 255.
    static let mostPairs = 64
    /// The largest number of samples whose sum fits into 16 bits.
    private static let mostSamples = 257

    /// Returns nil if there are too many taps.
    ///
    /// - Parameter hasAlpha: whether rows are premultiplied; those use all 16 bits and cannot be summed first.
    init?(_ taps: SymmetricPairs, hasAlpha: Bool) {
        let count = 2 * taps.pairs.count + 1
        self.taps = taps
        if taps.isMean, count <= Self.mostSamples, !hasAlpha {
            // ⌊sum·2^shift · weight / 65536⌋ is in 8.7 fixed point for weight = 65536 · 2^(7 − shift) / count.
            let shift = 15 - (UInt16.max / UInt16(255 * count)).leadingZeroBitCount
            meanShift = shift
            weights = [UInt16(clamping: Int((65536.0 * 128 / Double((1 << shift) * count)).rounded()))]
        } else {
            guard taps.pairs.count <= Self.mostPairs else { return nil }
            weights = taps.quantized()
            meanShift = nil
        }
    }

    var strips: ByteStrips {
        ByteStrips(reach: (taps.reachX, taps.reachY)) {
            strips($0, $1)
        } make: {
            Strip(self, $0, $1, $2)
        }
    }

    private final class Strip: ByteStrip {
        private let kernel: FixedSparse
        private let rows: FixedStrip
        private let columns: Range<Int>

        init(_ kernel: FixedSparse, _ source: ByteSource, _ columns: Range<Int>, _ output: ByteOutput) {
            self.kernel = kernel
            self.columns = columns
            rows = FixedStrip(
                source, taps: kernel.taps, strip: columns, shift: kernel.meanShift == nil ? 7 : 0, output)
        }

        func makeRows(through y: Int) { rows.makeRows(through: y) }

        func render(_ rows: Range<Int>, to target: RowWriter<UInt8>) {
            for y in rows { kernel.render(self.rows, y, columns, target) }
        }
    }

    /// Strips whose ring fits the first-level cache if the window is low, or at least 384 pixels wide in the second-level
    /// cache.
    private func strips(_ columns: Range<Int>, _ channels: Int) -> [Range<Int>] {
        let rows = 2 * taps.reachY + 2
        let fitting = (36 << 10) / (2 * rows * channels) - 2 * taps.reachX
        let width = max(fitting, 384, 2 * taps.reachX) & ~127
        return columns.pieces(of: width)
    }

    private func render(_ run: FixedStrip, _ y: Int, _ strip: Range<Int>, _ target: RowWriter<UInt8>) {
        let operations = target.operations
        let center = run.makeWindow(y)
        let count = strip.count * target.layout.channels
        let isOpaque = run.isOpaque(from: y - taps.reachY)
        let bytes = isOpaque ? target.row : nil
        let words = isOpaque ? nil : run.words
        if let meanShift {
            operations.averageSparse(
                center: center, pairs: run.pairs, pairCount: taps.pairs.count, shift: meanShift, weights: weights,
                count: count, bytes: bytes, words: words)
        } else {
            operations.filterSparse(
                center: center, pairs: run.pairs, pairCount: taps.pairs.count, weights: weights, count: count,
                bytes: bytes, words: words)
        }
        if !isOpaque {
            operations.unpremultiply(
                Row(run.words), zero: UInt16((taps.pairs.count + 1) / 2), colors: target.layout.channels - 1,
                pixels: strip.count, out: target.row)
        }
        target.store(target.row, columns: strip, y: y)
    }
}

/// A mean along one axis on 8-bit samples by running sums of whole numbers; see ``Plateau``.
struct FixedBox {
    private let taps: SymmetricPairs
    private let plateau: Plateau

    init(_ taps: SymmetricPairs, _ plateau: Plateau) {
        self.taps = taps
        self.plateau = plateau
    }

    private var isHorizontal: Bool { taps.reachY == 0 }

    var strips: ByteStrips {
        // A horizontal mean keeps nothing in the cache; a vertical one keeps the window's rows.
        let width = isHorizontal ? Int.max : max(512, (1 << 19) / (2 * taps.reachY + 2)) & ~63
        return ByteStrips(reach: (taps.reachX, taps.reachY)) { columns, _ in
            columns.pieces(of: min(width, max(1, columns.count)))
        } make: {
            Strip(self, $0, $1, $2)
        }
    }

    private final class Strip: ByteStrip {
        private let kernel: FixedBox
        private let columns: Range<Int>
        private let rows: FixedStrip
        private let sums: RowBuffer<UInt32>
        private let list = RowList<UInt16>(count: 4)
        private let top: Int

        init(_ kernel: FixedBox, _ source: ByteSource, _ columns: Range<Int>, _ output: ByteOutput) {
            self.kernel = kernel
            self.columns = columns
            top = output.rect.y
            rows = FixedStrip(source, taps: kernel.taps, strip: columns, shift: 7, output)
            sums = RowBuffer(count: columns.count * output.layout.channels + 64)
        }

        func makeRows(through y: Int) { rows.makeRows(through: y) }

        func render(_ rows: Range<Int>, to target: RowWriter<UInt8>) {
            for y in rows { kernel.render(self.rows, columns, sums.start, list, y, isFirst: y == top, target) }
        }
    }

    private func render(
        _ strip: FixedStrip, _ columns: Range<Int>, _ sums: MutableRow<UInt32>,
        _ list: borrowing RowList<UInt16>, _ y: Int, isFirst: Bool, _ target: RowWriter<UInt8>
    ) {
        let operations = target.operations
        let channels = target.layout.channels
        let count = columns.count * channels
        strip.makeRows(through: y + taps.reachY)
        if isHorizontal {
            operations.sumWindows(
                strip.row(y) - plateau.side * channels, channels: channels, length: plateau.length, count: count,
                sums: sums)
        } else if isFirst {
            for row in y - plateau.side...y + plateau.side {
                operations.addToSums(strip.row(row), count: count, sums: sums)
            }
        } else {
            operations.slideSums(
                entering: strip.row(y + plateau.side), leaving: strip.row(y - plateau.side - 1), count: count,
                sums: sums)
        }
        weigh(strip, sums, list, count, y, channels)
        target.storeWords(strip.words, isOpaque: strip.isOpaque(from: y - taps.reachY), columns: columns, y: y)
    }

    /// - Parameter list: a list for the rows of the tails.
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

extension FixedStrip {
    /// A strip for all taps of a filter.
    fileprivate convenience init(
        _ source: ByteSource, taps: SymmetricPairs, strip: Range<Int>, shift: Int, _ output: ByteOutput
    ) {
        self.init(
            source, reach: (taps.reachX, taps.reachY), pairs: taps.pairs, strip: strip, rows: output.rect.rows,
            shift: shift, output.layout, output.operations)
    }
}
