import Builtin

// Medians of wide windows of samples. Every column has a histogram. The histogram of the window is their sum: a step to the
// side adds one column and subtracts another (Perreault and Hébert, "Median Filtering in Constant Time", 2007).
//
// All histograms are cumulative, so that 16 counts are compared at once to find a median. A column's histogram contains at
// most 201 samples, so that a byte is enough for a count. The fine histogram of 16 neighbouring values is summed only where
// the median lies.

/// 16 counts of a column, and 16 counts of a window less the rank of its median.
private typealias ColumnCounts = SIMD16<UInt8>
private typealias WindowCounts = SIMD16<Int16>

@inline(__always) private func counts(_ source: UnsafePointer<UInt8>) -> ColumnCounts {
    UnsafeRawPointer(source).loadUnaligned(as: ColumnCounts.self)
}

/// vpmovzxbw
@inline(__always) private func wideCounts(_ source: UnsafePointer<UInt8>) -> WindowCounts {
    var result = WindowCounts()
    result._storage._value = Builtin.zext_Vec16xInt8_Vec16xInt16(counts(source)._storage._value)
    return result
}

/// The number of negative counts. For cumulative counts, it is the index of the first count that is not negative.
@inline(__always) private func negatives(_ x: WindowCounts) -> Int {
    let isNegative = Builtin.cmp_slt_Vec16xInt16(x._storage._value, WindowCounts.zero._storage._value)
    return UInt16(Builtin.bitcast_Vec16xInt1_Int16(isNegative)).nonzeroBitCount
}

/// Adds a row of samples to the histograms of their columns.
///
/// - Parameters:
///   - steps: 256 bytes. Of the 16 bytes at 16·k, those from the k-th on are 1, the others 0.
///   - histograms: 17 · `count` · 16 bytes: for all columns, counts by the high half of a sample; then for each of those 16
///     values and all columns, counts by the low half.
@inline(never) public func addToHistograms(
    _ row: UnsafePointer<UInt8>, steps: UnsafePointer<UInt8>, count: Int, histograms: UnsafeMutablePointer<UInt8>
) {
    var index = 0
    while index < count {
        let (high, low) = (Int(row[index] / 16), Int(row[index] & 15))
        let coarse = histograms + 16 &* index
        (counts(coarse) &+ counts(steps + 16 &* high)).storeCounts(coarse)
        let fine = histograms + 16 &* ((high &+ 1) &* count &+ index)
        (counts(fine) &+ counts(steps + 16 &* low)).storeCounts(fine)
        index &+= 1
    }
}

/// Adds one row, and subtracts another.
@inline(never) public func slideHistograms(
    _ entering: UnsafePointer<UInt8>, _ leaving: UnsafePointer<UInt8>, steps: UnsafePointer<UInt8>, count: Int,
    histograms: UnsafeMutablePointer<UInt8>
) {
    var index = 0
    while index < count {
        let (high, low) = (Int(entering[index] / 16), Int(entering[index] & 15))
        let (oldHigh, oldLow) = (Int(leaving[index] / 16), Int(leaving[index] & 15))
        let coarse = histograms + 16 &* index
        (counts(coarse) &+ counts(steps + 16 &* high) &- counts(steps + 16 &* oldHigh)).storeCounts(coarse)
        let fine = histograms + 16 &* ((high &+ 1) &* count &+ index)
        (counts(fine) &+ counts(steps + 16 &* low)).storeCounts(fine)
        let old = histograms + 16 &* ((oldHigh &+ 1) &* count &+ index)
        (counts(old) &- counts(steps + 16 &* oldLow)).storeCounts(old)
        index &+= 1
    }
}

extension SIMD16<UInt8> {
    @inline(__always) fileprivate func storeCounts(_ target: UnsafeMutablePointer<UInt8>) {
        UnsafeMutableRawPointer(target).storeBytes(of: self, as: Self.self)
    }
}

/// The fine histograms of a window, each from the last time that the median lay in it.
private struct FineCounts {
    /// 16 vectors of 16 counts.
    let window: UnsafeMutablePointer<Int16>
    /// The pixel of each histogram's window. The initial values are so far away that nothing is reused.
    let pixels: UnsafeMutablePointer<Int>

    /// The counts for the window of the pixel `x`, which ends with column `x` + 2·radius.
    @inline(__always) func counts(
        _ high: Int, _ x: Int, _ histograms: UnsafePointer<UInt8>, radius: Int, channels: Int
    ) -> WindowCounts {
        let position = UnsafeMutableRawPointer(window + 16 &* high)
        @inline(__always) func column(_ index: Int) -> WindowCounts { wideCounts(histograms + 16 &* channels &* index) }
        var known = pixels[high]
        var sum = WindowCounts.zero
        if x &- known > radius {  // starting anew is faster than sliding
            var index = x
            while index <= x &+ 2 &* radius {
                sum &+= column(index)
                index &+= 1
            }
        } else {
            sum = position.loadUnaligned(as: WindowCounts.self)
            while known < x {
                sum = sum &+ column(known &+ 2 &* radius &+ 1) &- column(known)
                known &+= 1
            }
        }
        pixels[high] = x
        position.storeBytes(of: sum, as: WindowCounts.self)
        return sum
    }
}

/// The medians of one channel of a row.
///
///   - histograms: as above, of `columns` samples of interleaved pixels. The first window starts with the first pixel.
///   - channel, channels: the channel, and the number of channels.
///   - pixels: the number of output pixels.
///   - scratch: 768 bytes, aligned.
///   - out: the first sample of the row.
@inline(never) public func medianOfHistograms(
    _ histograms: UnsafePointer<UInt8>, columns: Int, channel: Int, channels: Int, radius: Int, pixels: Int,
    scratch: UnsafeMutableRawPointer, out: UnsafeMutablePointer<UInt8>
) {
    let side = 2 &* radius &+ 1
    // The negated rank of the median, counted from 1. Cumulative counts are added to it.
    let below = Int16(truncatingIfNeeded: -(side &* side / 2 &+ 1))
    // The counts before each high half, as a table.
    let prior = scratch.assumingMemoryBound(to: Int16.self)
    prior[0] = below
    let fine = FineCounts(
        window: (scratch + 128).assumingMemoryBound(to: Int16.self),
        pixels: (scratch + 128 + 512).assumingMemoryBound(to: Int.self))
    var index = 0
    while index < 16 {
        fine.pixels[index] = -side
        index &+= 1
    }
    let coarse = histograms + 16 &* channel
    let step = 16 &* channels
    var window = WindowCounts(repeating: below)
    index = 0
    while index < side &- 1 {
        window &+= wideCounts(coarse + step &* index)
        index &+= 1
    }
    var x = 0
    while x < pixels {
        window &+= wideCounts(coarse + step &* (x &+ side &- 1))
        UnsafeMutableRawPointer(prior + 1).storeBytes(of: window, as: WindowCounts.self)
        let high = negatives(window)
        let column = histograms + 16 &* ((high &+ 1) &* columns &+ channel)
        let counts = fine.counts(high, x, column, radius: radius, channels: channels)
        let low = negatives(counts &+ WindowCounts(repeating: prior[high]))
        out[x &* channels &+ channel] = UInt8(truncatingIfNeeded: 16 &* high &+ low)
        window &-= wideCounts(coarse + step &* x)
        x &+= 1
    }
}
