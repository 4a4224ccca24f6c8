import Catalogs
import Geometry

/// A filter with few symmetric taps on 8-bit samples: strips of columns whose rows, widened to 16 bits, stay in the
/// cache while the window slides down.
struct FixedSparse {
    private let taps: SymmetricPairs
    private let center: UInt16
    private let weights: [UInt16]
    /// Left shift of a sum of samples, so that it fills 16 bits; nil where taps have weights of their own.
    private let meanShift: Int?

    /// More pairs than these would let rounding errors of weights and products add up to more than ½ of 255.
    static let mostPairs = 64
    /// The sum of so many samples fits into 16 bits.
    private static let mostSamples = 257

    /// Nil when the taps are too many.
    ///
    /// - Parameter hasAlpha: premultiplied rows use all 16 bits, so that they cannot be summed first.
    init?(_ taps: SymmetricPairs, hasAlpha: Bool) {
        let count = 2 * taps.pairs.count + 1
        self.taps = taps
        if taps.isMean, count <= Self.mostSamples, !hasAlpha {
            // ⌊sum·2^shift · weight / 65536⌋ is in 8.7 fixed point for weight = 65536 · 2^(7 − shift) / count.
            let shift = (UInt16.max / UInt16(255 * count)).leadingZeroBitCount
            meanShift = 15 - shift
            center = UInt16(clamping: Int((65536.0 * 128 / Double((1 << (15 - shift)) * count)).rounded()))
            weights = []
        } else {
            guard taps.pairs.count <= Self.mostPairs else { return nil }
            (center, weights) = taps.quantized()
            meanShift = nil
        }
    }

    func render(_ source: ByteSource, to target: ByteRowWriter) {
        let channels = target.layout.channels
        for strip in strips(target.rect.columns, channels) {
            let run = FixedSparseRun(source, taps: taps, strip: strip, shift: meanShift == nil ? 7 : 0, target)
            for y in target.rect.rows { render(run, y, strip, target) }
        }
    }

    /// A ring that fits the first-level cache where the window is low; at least 512 pixels in the second one.
    private func strips(_ columns: Range<Int>, _ channels: Int) -> [Range<Int>] {
        let rows = 2 * taps.reachY + 2
        let fitting = (40 << 10) / (2 * rows * channels) - 2 * taps.reachX
        let width = max(fitting, 512, taps.reachX) & ~63
        return stride(from: columns.lowerBound, to: columns.upperBound, by: width).map {
            $0..<min($0 + width, columns.upperBound)
        }
    }

    private func render(_ run: FixedSparseRun, _ y: Int, _ strip: Range<Int>, _ target: ByteRowWriter) {
        let operations = target.operations
        let (centerRow, pairs) = run.window(y)
        let count = strip.count * target.layout.channels
        let isOpaque = run.isOpaque(from: y - taps.reachY)
        let bytes = isOpaque ? target.row : nil
        let words = isOpaque ? nil : run.words
        if let meanShift {
            operations.averageSparse(centerRow, pairs, taps.pairs.count, meanShift, center, count, bytes, words)
        } else {
            weights.withUnsafeBufferPointer { weights in
                guard let weights = weights.baseAddress ?? UnsafePointer(bitPattern: 64) else { return }
                operations.filterSparse(centerRow, center, pairs, taps.pairs.count, weights, count, bytes, words)
            }
        }
        if !isOpaque {
            operations.unpremultiply(run.words, target.layout.channels - 1, strip.count, target.row)
        }
        target.store(target.row, columns: strip, y: y)
    }
}

/// The rows of one strip.
private final class FixedSparseRun {
    let words: WorkBufferPointer
    private let source: ByteSource
    private let taps: SymmetricPairs
    private let strip: Range<Int>
    private let shift: Int
    private let operations: RowOperations
    private let premultiplied: PremultipliedRows?
    private var ring: RowRing<UInt16>
    private let bytes: WorkBuffer<UInt8>
    private let wordMemory: WorkBuffer<UInt16>
    private let pointers: WorkBuffer<UnsafePointer<UInt16>?>

    typealias WorkBufferPointer = UnsafeMutablePointer<UInt16>

    init(_ source: ByteSource, taps: SymmetricPairs, strip: Range<Int>, shift: Int, _ target: ByteRowWriter) {
        let columns = strip.lowerBound - taps.reachX..<strip.upperBound + taps.reachX
        let rows = target.rect.rows
        let layout = target.layout
        self.source = source
        self.taps = taps
        self.strip = strip
        self.shift = shift
        operations = target.operations
        premultiplied =
            layout.hasAlpha
            ? PremultipliedRows(source, layout: layout, columns: columns, window: 1, target.operations) : nil
        ring = RowRing(
            columns: columns, rows: rows.lowerBound - taps.reachY..<rows.upperBound + taps.reachY,
            channels: layout.channels, capacity: 2 * taps.reachY + 1, margin: 0)
        bytes = WorkBuffer(count: columns.count * source.channels + 64)
        wordMemory = WorkBuffer(count: strip.count * layout.channels + 192)
        words = wordMemory.base
        pointers = WorkBuffer(count: 2 * taps.pairs.count + 1)
    }

    /// Makes the rows around `y`, and answers where the strip's pixels are seen in them.
    func window(_ y: Int) -> (center: UnsafePointer<UInt16>, pairs: WordRows) {
        while ring.lacks(y + taps.reachY) {
            fill(ring.next)
            ring.next += 1
        }
        for (index, pair) in taps.pairs.enumerated() {
            pointers.base[2 * index] = UnsafePointer(ring.pixel(x: strip.lowerBound + pair.dx, y: y + pair.dy))
            pointers.base[2 * index + 1] = UnsafePointer(ring.pixel(x: strip.lowerBound - pair.dx, y: y - pair.dy))
        }
        let pairs = UnsafeRawPointer(pointers.base).assumingMemoryBound(to: UnsafePointer<UInt16>.self)
        return (UnsafePointer(ring.pixel(x: strip.lowerBound, y: y)), pairs)
    }

    func isOpaque(from y: Int) -> Bool { premultiplied.map { $0.lastTranslucent < y } ?? true }

    private func fill(_ y: Int) {
        let row = ring.row(y)
        if let premultiplied, !premultiplied.isPlain(y) {
            let from = premultiplied.pixel(x: ring.columns.lowerBound, y: y)
            return row.update(from: from, count: ring.columns.count * ring.channels)
        }
        let position = source.position(ofRow: y)
        let isInPlace = position >= 0 && source.isSafeInPlace(ring.columns)
        if !isInPlace { source.copy(ring.columns, position: position, to: bytes.base) }
        let from =
            isInPlace ? source.inPlace(x: ring.columns.lowerBound, position: position) : UnsafePointer(bytes.base)
        operations.widenBytes(from, ring.columns.count * ring.channels, shift, row)
    }
}
