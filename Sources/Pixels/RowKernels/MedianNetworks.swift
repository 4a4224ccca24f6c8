import CStreaming

// Medians of 3 × 3 and 5 × 5 pixels by networks of minima and maxima, many values at a time. Columns are sorted once for all
// windows that contain them, and the rows that two neighbouring windows share are sorted once for both. (12 MP of RGB in bytes
// take 8 and 23 ms.)

/// The number of values of a chunk, whose sorted columns stay in the first-level cache.
private let chunk = 1024
/// The distance of sorted rows of a chunk, including what vectors write before and after.
private let stride = chunk + 128
/// The number of values before a chunk.
private let lead = 64

/// The medians of 3 × 3 or 5 × 5 pixels of two neighbouring rows.
///
/// - Parameters:
///   - rows: 2·radius + 2 rows at the first output pixel, readable from 64 values before it up to the radius and 64 values
///     after the last one, or 192 values if it streams.
///   - radius: 1 or 2.
///   - streams: whether whole cache lines bypass the caches, as in ``storeRow(_:count:streams:out:)``. Only for radius 1.
///   - scratch: 11,584 values, aligned.
///   - first, second: `count` values each; nothing is written after them.
@inline(never) public func medianOfBytes(
    _ rows: UnsafePointer<UnsafePointer<UInt8>>, radius: Int, channels: Int, count: Int, streams: Bool,
    scratch: UnsafeMutablePointer<UInt8>, first: UnsafeMutablePointer<UInt8>, second: UnsafeMutablePointer<UInt8>
) {
    if radius == 1 {
        medianOfThree(RankedLine.self, rows, channels, count, streams, scratch, first, second)
    } else {
        medianOfFive(RankedBytes.self, rows, channels, count, scratch, first, second)
    }
}

/// The same for 16-bit samples.
@inline(never) public func medianOfWords(
    _ rows: UnsafePointer<UnsafePointer<UInt16>>, radius: Int, channels: Int, count: Int, streams: Bool,
    scratch: UnsafeMutablePointer<UInt16>, first: UnsafeMutablePointer<UInt16>, second: UnsafeMutablePointer<UInt16>
) {
    if radius == 1 {
        medianOfThree(RankedWords.self, rows, channels, count, streams, scratch, first, second)
    } else {
        medianOfFive(RankedWords.self, rows, channels, count, scratch, first, second)
    }
}

/// The same for ranks, which are integers.
@inline(never) public func medianOfRanks(
    _ rows: UnsafePointer<UnsafePointer<Int32>>, radius: Int, channels: Int, count: Int,
    scratch: UnsafeMutablePointer<Int32>, first: UnsafeMutablePointer<Int32>, second: UnsafeMutablePointer<Int32>
) {
    if radius == 1 {
        medianOfThree(RankedNumbers.self, rows, channels, count, false, scratch, first, second)
    } else {
        medianOfFive(RankedNumbers.self, rows, channels, count, scratch, first, second)
    }
}

/// - Precondition: a vector is as long as a line of the cache.
@inline(__always) private func medianOfThree<Vector: Ranked>(
    _: Vector.Type, _ rows: UnsafePointer<UnsafePointer<Vector.Value>>, _ channels: Int, _ count: Int, _ streams: Bool,
    _ scratch: UnsafeMutablePointer<Vector.Value>, _ first: UnsafeMutablePointer<Vector.Value>,
    _ second: UnsafeMutablePointer<Vector.Value>
) {
    let lanes = Vector.count
    let stride = chunk + 192
    // The pointers are loaded before the loop, because the compiler cannot know that the loop does not overwrite them.
    let (a, b, c, d) = (rows[0], rows[1], rows[2], rows[3])
    // Lines that bypass the caches begin with a line of the output, so that a chunk may end in the next one.
    let streams = streams && count >= 2 &* lanes
    var (firstDone, secondDone) = (0, 0)
    var start = 0
    while start < count {
        let part = min(chunk, count &- start)
        let end = part &+ channels &+ (streams ? lanes : 0)
        var x = -lanes
        while x < end {
            let from = start &+ x
            let (above, below) = (Vector.load(a + from), Vector.load(d + from))
            var (low, high) = (Vector.load(b + from), Vector.load(c + from))
            Vector.sort(&low, &high)
            let target = scratch + (x &+ lead)
            storeSorted(low, high, above, target, stride)
            storeSorted(low, high, below, target + 3 &* stride, stride)
            x &+= lanes
        }
        // Prefetches the new rows of the next chunk, or of the next two rows, a little at a time.
        let isLast = start &+ chunk >= count
        let ahead = (c + (isLast ? 2 &* (d - c) : start &+ chunk), d + (isLast ? 2 &* (d - c) : start &+ chunk))
        firstDone =
            mediansOfThree(
                Vector.self, scratch + lead, stride, channels, from: firstDone &- start, to: part, left: count &- start,
                streams, ahead.0, scratch + 6 &* stride, first + start) &+ start
        secondDone =
            mediansOfThree(
                Vector.self, scratch + (lead &+ 3 &* stride), stride, channels, from: secondDone &- start, to: part,
                left: count &- start, streams, ahead.1, scratch + 6 &* stride, second + start) &+ start
        start &+= chunk
    }
}

/// Writes the medians of one row of a chunk from its sorted columns.
///
/// - Parameter left: the number of values that may be written.
/// - Returns: the end of what is written.
@inline(__always) private func mediansOfThree<Vector: Ranked>(
    _: Vector.Type, _ sorted: UnsafePointer<Vector.Value>, _ stride: Int, _ channels: Int, from start: Int, to end: Int,
    left: Int, _ streams: Bool, _ ahead: UnsafePointer<Vector.Value>, _ spare: UnsafeMutablePointer<Vector.Value>,
    _ out: UnsafeMutablePointer<Vector.Value>
) -> Int {
    @inline(__always) func median(_ x: Int) -> Vector {
        @inline(__always) func rank(_ index: Int, _ distance: Int) -> Vector {
            Vector.load(sorted + (index &* stride &+ x &+ distance &* channels))
        }
        let low = Vector.greater(Vector.greater(rank(0, -1), rank(0, 0)), rank(0, 1))
        let high = Vector.lesser(Vector.lesser(rank(2, -1), rank(2, 0)), rank(2, 1))
        return Vector.middle(low, Vector.middle(rank(1, -1), rank(1, 0), rank(1, 1)), high)
    }
    var x = start
    if streams {
        let head = (-Int(bitPattern: out + x) & 63) / MemoryLayout<Vector.Value>.stride
        if head > 0 { median(x).store(out + x) }
        x &+= head
        while x < end, left &- x >= Vector.count {
            penumbra_prefetch(ahead + x)
            median(x).stream(out + x)
            x &+= Vector.count
        }
    }
    while x < end {
        penumbra_prefetch(ahead + x)
        median(x).store(out + x, left: left &- x, spare: spare)
        x &+= Vector.count
    }
    return x
}

/// Stores three values in order, two of which are sorted already.
@inline(__always) private func storeSorted<Vector: Ranked>(
    _ low: Vector, _ high: Vector, _ other: Vector, _ target: UnsafeMutablePointer<Vector.Value>, _ stride: Int
) {
    let rest = Vector.greater(low, other)
    Vector.lesser(low, other).store(target)
    Vector.lesser(rest, high).store(target + stride)
    Vector.greater(rest, high).store(target + 2 &* stride)
}

@inline(__always) private func medianOfFive<Vector: Ranked>(
    _: Vector.Type, _ rows: UnsafePointer<UnsafePointer<Vector.Value>>, _ channels: Int, _ count: Int,
    _ scratch: UnsafeMutablePointer<Vector.Value>, _ first: UnsafeMutablePointer<Vector.Value>,
    _ second: UnsafeMutablePointer<Vector.Value>
) {
    let lanes = Vector.count
    let (above, row1, row2, row3, row4, below) = (rows[0], rows[1], rows[2], rows[3], rows[4], rows[5])
    var start = 0
    while start < count {
        let part = min(chunk, count &- start)
        var x = -lanes
        while x < part &+ 2 &* channels {
            let from = start &+ x
            var (a, b) = (Vector.load(row1 + from), Vector.load(row2 + from))
            var (c, d) = (Vector.load(row3 + from), Vector.load(row4 + from))
            Vector.sort(&a, &b)
            Vector.sort(&c, &d)
            Vector.sort(&a, &c)
            Vector.sort(&b, &d)
            Vector.sort(&b, &c)
            let target = scratch + (x &+ lead)
            storeSorted(a, b, c, d, Vector.load(above + from), target)
            storeSorted(a, b, c, d, Vector.load(below + from), target + 5 &* stride)
            x &+= lanes
        }
        var row = 0
        while row < 2 {
            let sorted = UnsafePointer(scratch + (5 &* row &* stride &+ lead))
            let out = (row == 0 ? first : second) + start
            let ahead = (row == 0 ? row4 : below) + (start &+ chunk)
            x = 0
            while x < part {
                penumbra_prefetch(ahead + x)
                medianOfSorted(Vector.self, sorted + x, channels)
                    .store(out + x, left: part &- x, spare: scratch + 10 &* stride)
                x &+= lanes
            }
            row &+= 1
        }
        start &+= chunk
    }
}

/// Stores five values in order, four of which are sorted already.
@inline(__always) private func storeSorted<Vector: Ranked>(
    _ a: Vector, _ b: Vector, _ c: Vector, _ d: Vector, _ other: Vector,
    _ target: UnsafeMutablePointer<Vector.Value>
) {
    Vector.lesser(a, other).store(target)
    var rest = Vector.greater(a, other)
    Vector.lesser(rest, b).store(target + stride)
    rest = Vector.greater(rest, b)
    Vector.lesser(rest, c).store(target + 2 &* stride)
    rest = Vector.greater(rest, c)
    Vector.lesser(rest, d).store(target + 3 &* stride)
    Vector.greater(rest, d).store(target + 4 &* stride)
}

/// The median of five sorted columns.
///
/// If the five values of each rank are sorted, too, the number of smaller and larger values is known for each value, and only
/// three diagonals can contain the median. It lies between the largest of the first, the middle of the second and the smallest
/// of the third. (This was checked for all 252 ways to divide such a square into small and large values.)
@inline(__always) private func medianOfSorted<Vector: Ranked>(
    _: Vector.Type, _ sorted: UnsafePointer<Vector.Value>, _ channels: Int
) -> Vector {
    @inline(__always) func rank(_ index: Int) -> (Vector, Vector, Vector, Vector, Vector) {
        let row = sorted + index &* stride
        return (
            Vector.load(row - 2 &* channels), Vector.load(row - channels), Vector.load(row),
            Vector.load(row + channels), Vector.load(row + 2 &* channels)
        )
    }
    let least = greatestTwo(rank(0))
    let low = greatestThree(rank(1))
    let middle = middleThree(rank(2))
    let high = leastThree(rank(3))
    let greatest = leastTwo(rank(4))
    let first = Vector.greater(Vector.greater(least.0, low.0), Vector.greater(middle.0, high.0))
    let second = Vector.middle(least.1, low.1, middle.1, high.1, greatest.0)
    let third = Vector.lesser(Vector.lesser(low.2, middle.2), Vector.lesser(high.2, greatest.1))
    return Vector.middle(first, second, third)
}

private typealias Five<Vector> = (Vector, Vector, Vector, Vector, Vector)

/// The two largest values, in order, as in the functions below.
@inline(__always) private func greatestTwo<Vector: Ranked>(_ x: Five<Vector>) -> (Vector, Vector) {
    var (a, b, c, d) = (x.0, x.1, x.2, x.3)
    Vector.sort(&a, &b)
    Vector.sort(&c, &d)
    let next = Vector.greater(Vector.lesser(b, d), Vector.greater(a, c))
    let top = Vector.greater(b, d)
    return (Vector.greater(next, Vector.lesser(top, x.4)), Vector.greater(top, x.4))
}

@inline(__always) private func leastTwo<Vector: Ranked>(_ x: Five<Vector>) -> (Vector, Vector) {
    var (a, b, c, d) = (x.0, x.1, x.2, x.3)
    Vector.sort(&a, &b)
    Vector.sort(&c, &d)
    let next = Vector.lesser(Vector.greater(a, c), Vector.lesser(b, d))
    let bottom = Vector.lesser(a, c)
    return (Vector.lesser(bottom, x.4), Vector.lesser(next, Vector.greater(bottom, x.4)))
}

@inline(__always) private func sortedFour<Vector: Ranked>(_ x: Five<Vector>) -> (Vector, Vector, Vector, Vector) {
    var (a, b, c, d) = (x.0, x.1, x.2, x.3)
    Vector.sort(&a, &b)
    Vector.sort(&c, &d)
    Vector.sort(&a, &c)
    Vector.sort(&b, &d)
    Vector.sort(&b, &c)
    return (a, b, c, d)
}

@inline(__always) private func greatestThree<Vector: Ranked>(_ x: Five<Vector>) -> (Vector, Vector, Vector) {
    let (_, b, c, d) = sortedFour(x)
    let rest = Vector.lesser(d, x.4)
    return (Vector.greater(b, Vector.lesser(c, rest)), Vector.greater(c, rest), Vector.greater(d, x.4))
}

@inline(__always) private func leastThree<Vector: Ranked>(_ x: Five<Vector>) -> (Vector, Vector, Vector) {
    let (a, b, c, _) = sortedFour(x)
    let rest = Vector.greater(a, x.4)
    return (Vector.lesser(a, x.4), Vector.lesser(b, rest), Vector.lesser(c, Vector.greater(b, rest)))
}

@inline(__always) private func middleThree<Vector: Ranked>(_ x: Five<Vector>) -> (Vector, Vector, Vector) {
    let (a, b, c, d) = sortedFour(x)
    let rest = Vector.greater(a, x.4)
    let second = Vector.greater(b, rest)
    return (Vector.lesser(b, rest), Vector.lesser(c, second), Vector.lesser(d, Vector.greater(c, second)))
}
