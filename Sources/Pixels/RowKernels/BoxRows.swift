// A mean over a rectangle of integer samples: first along columns by running sums, then along the row by sums of neighbours.
// Sums are integers and therefore always exact, wherever a tile starts.

/// A row of an 8-bit image: samples, or words in 8.7 fixed point.
private protocol SummedSample: BitwiseCopyable {
    /// The value in 8.7 fixed point.
    static func fixed(_ sample: Self) -> Int32
}

extension UInt8: SummedSample {
    @inline(__always) fileprivate static func fixed(_ sample: UInt8) -> Int32 { Int32(sample) &* 128 }
}

extension UInt16: SummedSample {
    @inline(__always) fileprivate static func fixed(_ sample: UInt16) -> Int32 { Int32(sample) }
}

/// The conversion of window sums into means.
private enum Weighing {
    /// ⌊sum·scale⌋ + ⌊outside·tail / 65536⌋, plus a half for each; `scale` has 16 bits.
    case short(scale: Double, tail: UInt16)
    case long(weight: Float, tail: Float)
}

/// sums += entering − leaving; words = the weighted sums and outside rows.
@inline(__always) private func slide<Sample: SummedSample>(
    _ entering: UnsafePointer<Sample>, _ leaving: UnsafePointer<Sample>, _ above: UnsafePointer<Sample>,
    _ below: UnsafePointer<Sample>, _ weighing: Weighing, _ count: Int, _ sums: UnsafeMutablePointer<Int32>,
    _ words: UnsafeMutablePointer<UInt16>
) {
    @inline(__always) func slideSum(_ index: Int) -> Int32 {
        let sum = sums[index] &+ Sample.fixed(entering[index]) &- Sample.fixed(leaving[index])
        sums[index] = sum
        return sum
    }
    @inline(__always) func outside(_ index: Int) -> Int32 { Sample.fixed(above[index]) &+ Sample.fixed(below[index]) }
    var index = 0
    switch weighing {
    case .short(let scale, 0):
        while index < count {
            words[index] = UInt16(truncatingIfNeeded: Int32(Double(slideSum(index)) * scale))
            index &+= 1
        }
    case .short(let scale, let tail):
        while index < count {
            let tails = (UInt32(bitPattern: outside(index)) &* UInt32(tail)) &>> 16
            let mean = Int32(Double(slideSum(index)) * scale) &+ Int32(bitPattern: tails) &+ 1
            words[index] = UInt16(truncatingIfNeeded: mean)
            index &+= 1
        }
    case .long(let weight, let tail):
        while index < count {
            let tails = Float(outside(index)) * tail
            words[index] = UInt16(truncatingIfNeeded: Int32(Float(slideSum(index)) * weight + tails + 0.5))
            index &+= 1
        }
    }
}

@inline(__always) private func weighing(_ weight: Double, _ tail: Double, _ isShort: Bool) -> Weighing {
    isShort
        ? .short(scale: weight, tail: UInt16(truncatingIfNeeded: Int32(tail)))
        : .long(weight: Float(weight), tail: Float(tail))
}

/// Moves the window of every column one row down, and computes its weighted mean.
///
/// - Parameters:
///   - entering, leaving: the row that enters the window, and the row that leaves it.
///   - above, below: the rows just outside; any row if `tail` is 0.
///   - isShort: whether the results equal those of ``slideShortColumns``. Then `tail` is its `tail`, and `weight` is its
///     weight times 2^shift over 2²³.
///   - sums: the sums of the windows in 8.7 fixed point; below 2³¹, and below 2²⁴ with `isShort`.
///   - words: receives sums·weight + (above + below)·tail.
@inline(never) public func slideByteColumns(
    entering: UnsafePointer<UInt8>, leaving: UnsafePointer<UInt8>, above: UnsafePointer<UInt8>,
    below: UnsafePointer<UInt8>, weight: Double, tail: Double, isShort: Bool, count: Int,
    sums: UnsafeMutablePointer<Int32>, words: UnsafeMutablePointer<UInt16>
) {
    slide(entering, leaving, above, below, weighing(weight, tail, isShort), count, sums, words)
}

/// The same for rows of words.
@inline(never) public func slideWordColumns(
    entering: UnsafePointer<UInt16>, leaving: UnsafePointer<UInt16>, above: UnsafePointer<UInt16>,
    below: UnsafePointer<UInt16>, weight: Double, tail: Double, isShort: Bool, count: Int,
    sums: UnsafeMutablePointer<Int32>, words: UnsafeMutablePointer<UInt16>
) {
    slide(entering, leaving, above, below, weighing(weight, tail, isShort), count, sums, words)
}

/// The same for 16-bit samples.
///
/// - Parameters:
///   - weight, tail: the weights times 16, for means in 16.4 fixed point.
///   - sums: the sums of samples; below 2³¹.
@inline(never) public func slideSampleColumns(
    entering: UnsafePointer<UInt16>, leaving: UnsafePointer<UInt16>, above: UnsafePointer<UInt16>,
    below: UnsafePointer<UInt16>, weight: Float, tail: Float, count: Int, sums: UnsafeMutablePointer<Int32>,
    means: UnsafeMutablePointer<UInt32>
) {
    @inline(__always) func slideSum(_ index: Int) -> Float {
        let sum = sums[index] &+ Int32(entering[index]) &- Int32(leaving[index])
        sums[index] = sum
        return Float(sum) * weight
    }
    var index = 0
    if tail == 0 {
        while index < count {
            means[index] = UInt32(bitPattern: Int32(slideSum(index) + 0.5))
            index &+= 1
        }
    } else {
        while index < count {
            let outside = Float(Int32(above[index]) &+ Int32(below[index])) * tail
            means[index] = UInt32(bitPattern: Int32(slideSum(index) + outside + 0.5))
            index &+= 1
        }
    }
}

/// Moves the window of every column one row down, for sums of samples that fit 16 bits.
///
/// - Parameters:
///   - entering, leaving, above, below: as above; readable up to 31 values after the end.
///   - sums: the sums of samples; writable up to 31 values after the end, as are `words`.
///   - words: receives the mean in 8.7 fixed point: ⌊sums·2^shift·weight / 65536⌋ + ⌊(above + below)·128·tail / 65536⌋, plus a
///     half for each.
@inline(never) public func slideShortColumns(
    entering: UnsafePointer<UInt8>, leaving: UnsafePointer<UInt8>, above: UnsafePointer<UInt8>,
    below: UnsafePointer<UInt8>, shift: Int, weight: UInt16, tail: UInt16, count: Int,
    sums: UnsafeMutablePointer<UInt16>, words: UnsafeMutablePointer<UInt16>
) {
    let shift = UInt16(truncatingIfNeeded: shift)
    var x = 0
    while x < count {
        let sum = load(sums + x) &+ widened(load(entering + x)) &- widened(load(leaving + x))
        store(sum, sums + x)
        var mean = highProduct(shiftedLeft(sum, by: shift), weight)
        if tail != 0 {
            let outside = widened(load(above + x)) &+ widened(load(below + x))
            mean &+= highProduct(shiftedLeft(outside, by: 7), tail) &+ WordVector(repeating: 1)
        }
        store(mean, words + x)
        x &+= 32
    }
}

/// The weighted means of the windows of `length` pixels along a row.
///
/// - Parameters:
///   - row: the first value of the first window; readable from one pixel before it up to a pixel and 31 values after the last
///     window.
///   - weight, tail: the weight of the window's values, and of the value just outside on either side.
///   - count: the number of output values; the output is writable up to 31 after the end.
///   - bytes: receives sums·weight + tails. If it is nil, `words` does.
@inline(never) public func averageAlong(
    _ row: UnsafePointer<UInt16>, channels: Int, length: Int, weight: Float, tail: Float, count: Int,
    bytes: UnsafeMutablePointer<UInt8>?, words: UnsafeMutablePointer<UInt16>?
) {
    slideAlong(row, channels, length, weight, tail, count, bytes, words)
}

/// The same for values whose sums stay below 2³¹.
@inline(never) public func averageWideAlong(
    _ row: UnsafePointer<UInt32>, channels: Int, length: Int, weight: Float, tail: Float, count: Int,
    words: UnsafeMutablePointer<UInt16>
) {
    slideAlong(row, channels, length, weight, tail, count, nil, words)
}

/// The values of a row that is averaged.
private protocol WideSample: BitwiseCopyable {
    /// Loads 16 values.
    static func wide(_ source: UnsafePointer<Self>) -> WideVector
}

extension UInt16: WideSample {
    @inline(__always) fileprivate static func wide(_ source: UnsafePointer<UInt16>) -> WideVector { loadWide(source) }
}

extension UInt32: WideSample {
    @inline(__always) fileprivate static func wide(_ source: UnsafePointer<UInt32>) -> WideVector {
        UnsafeRawPointer(source).loadUnaligned(as: WideVector.self)
    }
}

@inline(__always) private func slideAlong<Sample: WideSample>(
    _ row: UnsafePointer<Sample>, _ channels: Int, _ length: Int, _ weight: Float, _ tail: Float, _ count: Int,
    _ bytes: UnsafeMutablePointer<UInt8>?, _ words: UnsafeMutablePointer<UInt16>?
) {
    switch channels {
    case 1: slideAlong(OneLag.self, row, length, weight, tail, count, bytes, words)
    case 2: slideAlong(TwoLag.self, row, length, weight, tail, count, bytes, words)
    case 3: slideAlong(ThreeLag.self, row, length, weight, tail, count, bytes, words)
    default: slideAlong(FourLag.self, row, length, weight, tail, count, bytes, words)
    }
}

@inline(__always) private func slideAlong<Pixels: Lag, Sample: WideSample>(
    _: Pixels.Type, _ row: UnsafePointer<Sample>, _ length: Int, _ weight: Float, _ tail: Float, _ count: Int,
    _ bytes: UnsafeMutablePointer<UInt8>?, _ words: UnsafeMutablePointer<UInt16>?
) {
    let channels = Pixels.channels
    // The sum of the window one pixel before the first, without its first value, which the first step subtracts.
    var sums = Sample.wide(row - channels)
    var pixel = 0
    while pixel < length &- 1 {
        sums &+= Sample.wide(row + pixel &* channels)
        pixel &+= 1
    }
    var carry = Pixels.first(sums)
    let half = FloatVector(repeating: 0.5)
    var x = 0
    while x < count {
        let leaving = Sample.wide(row + x - channels)
        let steps = Sample.wide(row + (x &+ (length &- 1) &* channels)) &- leaving
        let sums = Pixels.prefix(steps) &+ carry
        carry = Pixels.last(sums)
        var means = floats(sums) * weight
        if tail != 0 { means += floats(leaving &+ Sample.wide(row + (x &+ length &* channels))) * tail }
        let result = wholes(means + half)
        if let bytes { storeBytes(result, bytes + x) } else if let words { storeWords(result, words + x) }
        x &+= 16
    }
}
