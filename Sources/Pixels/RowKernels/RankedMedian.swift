// Medians of wide windows of any numbers. The values of a block are sorted once, and each value is represented by its position
// in that order. A window is a set of bits over those positions. Its median is found by counting bits from the previous median
// (Suomela, "Median Filtering is Equivalent to Sorting", 2014).

/// Sorts entries by rank.
///
/// - Parameters:
///   - entries: `count` numbers. Their high half is a value's rank with the sign bit inverted, their low half is its position.
///     They are sorted in place.
///   - spare: a buffer of the same size.
@inline(never) public func sortEntries(
    _ entries: UnsafeMutablePointer<UInt64>, spare: UnsafeMutablePointer<UInt64>, counts: UnsafeMutablePointer<Int>,
    count: Int
) {
    // A radix sort with digits of 8 bits from the lowest up. Four passes end in the original buffer.
    var (from, to) = (entries, spare)
    var shift: UInt64 = 32
    while shift < 64 {
        var index = 0
        while index < 256 {
            counts[index] = 0
            index &+= 1
        }
        index = 0
        while index < count {
            counts[Int(truncatingIfNeeded: (from[index] &>> shift) & 255)] &+= 1
            index &+= 1
        }
        var total = 0
        index = 0
        while index < 256 {
            (counts[index], total) = (total, total &+ counts[index])
            index &+= 1
        }
        index = 0
        while index < count {
            let digit = Int(truncatingIfNeeded: (from[index] &>> shift) & 255)
            to[counts[digit]] = from[index]
            counts[digit] &+= 1
            index &+= 1
        }
        (from, to) = (to, from)
        shift &+= 8
    }
}

/// A set of positions. It finds the position that has a given number of others before it.
private struct PositionSet {
    let bits: UnsafeMutablePointer<UInt64>
    /// A word of the bits, and the number of bits that are set before it.
    var word = 0
    var before = 0

    @inline(__always) mutating func toggle(_ position: UInt32, by change: Int) {
        let index = Int(position) / 64
        bits[index] ^= 1 &<< UInt64(position & 63)
        before &+= index < word ? change : 0
    }

    /// The position with `rank` others before it.
    @inline(__always) mutating func place(rank: Int) -> Int {
        while before > rank {
            word &-= 1
            before &-= bits[word].nonzeroBitCount
        }
        var count = bits[word].nonzeroBitCount
        while before &+ count <= rank {
            before &+= count
            word &+= 1
            count = bits[word].nonzeroBitCount
        }
        var rest = bits[word]
        var index = before
        while index < rank {
            rest &= rest &- 1
            index &+= 1
        }
        return 64 &* word &+ rest.trailingZeroBitCount
    }
}

/// The medians of a block.
///
/// - Parameters:
///   - positions: for every value of the block with its margins, its position in the sorted order; row by row.
///   - width, height: the size of the output, which the margins surround.
///   - bits: one bit for each position, all 0 before and after.
///   - sorted: the value of each position, in the high half; see ``sortEntries(_:spare:counts:count:)``.
///   - out: receives ranks, row by row.
@inline(never) public func medianOfPositions(
    _ positions: UnsafePointer<UInt32>, width: Int, height: Int, radius: Int, bits: UnsafeMutablePointer<UInt64>,
    sorted: UnsafePointer<UInt64>, out: UnsafeMutablePointer<Int32>
) {
    let side = 2 &* radius &+ 1
    let stride = width &+ 2 &* radius
    var window = PositionSet(bits: bits)
    @inline(__always) func toggle(_ start: Int, _ step: Int, _ change: Int) {
        var index = start
        let end = start &+ side &* step
        while index < end {
            window.toggle(positions[index], by: change)
            index &+= step
        }
    }
    var row = 0
    while row < side {
        toggle(row &* stride, 1, 1)
        row &+= 1
    }
    var (x, y, direction) = (0, 0, 1)
    while true {
        let entry = sorted[window.place(rank: side &* side / 2)]
        out[y &* width &+ x] = Int32(bitPattern: UInt32(truncatingIfNeeded: entry &>> 32) ^ 0x8000_0000)
        if x &+ direction >= 0, x &+ direction < width {  // to the right and back, so that each step changes few values
            let left = y &* stride &+ x
            toggle(direction > 0 ? left : left &+ side &- 1, stride, -1)
            toggle(direction > 0 ? left &+ side : left &- 1, stride, 1)
            x &+= direction
        } else {
            guard y &+ 1 < height else { break }
            toggle(y &* stride &+ x, 1, -1)
            toggle((y &+ side) &* stride &+ x, 1, 1)
            y &+= 1
            direction = -direction
        }
    }
    row = 0
    while row < side {
        toggle((y &+ row) &* stride &+ x, 1, -1)
        row &+= 1
    }
}
