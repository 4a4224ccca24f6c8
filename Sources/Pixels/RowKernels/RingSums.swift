// Integer running sums of the picture's samples along a ring, for arcs around a centre, the paths of a spin. The sum over a
// window is the difference of two running sums. It is exact modulo 2³², wherever a tile's sums begin; see
// docs/explanation/motion-blurs.md.

/// The positions of samples on a ring, each between four pixels: the upper left pixel, and the distance from it in multiples
/// of 1/65536.
private struct RingPositions {
    static let count = 64
    let columns: UnsafeMutablePointer<Int32>
    let rows: UnsafeMutablePointer<Int32>
    let right: UnsafeMutablePointer<UInt16>
    let down: UnsafeMutablePointer<UInt16>

    @inline(__always) init(_ scratch: UnsafeMutableRawPointer) {
        columns = scratch.assumingMemoryBound(to: Int32.self)
        rows = columns + Self.count
        right = UnsafeMutableRawPointer(rows + Self.count).assumingMemoryBound(to: UInt16.self)
        down = right + Self.count
    }
}

/// The samples of a ring from a block of 64 directions. A direction is the product of the block's first direction and a fine
/// one.
struct RingBlock {
    private let center: UnsafePointer<Double>
    private let right: Double
    private let down: Double
    private let fine: UnsafePointer<Double>

    /// - Parameters:
    ///   - coarse: the cosine and the sine of each block's first direction.
    ///   - fine: the cosines of the directions relative to that, then their sines, 64 each.
    @inline(__always) init(
        _ center: UnsafePointer<Double>, _ radius: Double, _ coarse: UnsafePointer<Double>, _ block: Int,
        _ fine: UnsafePointer<Double>
    ) {
        self.center = center
        right = radius * coarse[2 &* block]
        down = radius * coarse[2 &* block &+ 1]
        self.fine = fine
    }

    @inline(__always) func x(_ index: Int) -> Double { center[0] + (right * fine[index] - down * fine[index &+ 64]) }

    @inline(__always) func y(_ index: Int) -> Double { center[1] + (down * fine[index] + right * fine[index &+ 64]) }
}

/// The running sums of a ring's samples, four values each. For bytes they are in 8.8 fixed point.
///
/// - Parameters:
///   - center: the centre, in coordinates of pixel centres.
///   - coarse, fine: see ``RingBlock``; of directions from 0 on.
///   - first, count: the directions to sample; not negative.
///   - scratch: 1 KB, aligned.
///   - sums: a pointer after the sum before the first sample; receives one sum for each sample.
@inline(never) public func sumRing(
    _ samples: UnsafeRawPointer, bytesPerSample: Int, columns: UnsafePointer<Int32>, rows: UnsafePointer<Int32>,
    table: UnsafePointer<Double>?, facts: UnsafePointer<Int>, center: UnsafePointer<Double>, radius: Double,
    coarse: UnsafePointer<Double>, fine: UnsafePointer<Double>, first: Int, count: Int,
    scratch: UnsafeMutableRawPointer, sums: UnsafeMutablePointer<UInt32>
) {
    let isPlain = facts[1] == 0 && facts[2] == 0
    var done = 0
    while done < count {
        let start = (first &+ done) & 63
        let part = min(64 &- start, count &- done)
        let block = RingBlock(center, radius, coarse, (first &+ done) >> 6, fine)
        let target = sums + 4 &* done
        if bytesPerSample == 1, isPlain {
            let bytes = samples.assumingMemoryBound(to: UInt8.self)
            let picture = SampledPicture<UInt8, PlainReading>(bytes, columns, rows, table, facts)
            if facts[0] == 1 {
                sumBytes(picture, OneStep.self, block, start, part, scratch, target)
            } else {
                sumBytes(picture, ThreeSteps.self, block, start, part, scratch, target)
            }
        } else if bytesPerSample == 1 {
            let bytes = samples.assumingMemoryBound(to: UInt8.self)
            let picture = SampledPicture<UInt8, WorkedReading>(bytes, columns, rows, table, facts)
            sumPixels(picture, block, start, part, 256, scratch, target)
        } else if isPlain {
            let words = samples.assumingMemoryBound(to: UInt16.self)
            let picture = SampledPicture<UInt16, PlainReading>(words, columns, rows, table, facts)
            sumPixels(picture, block, start, part, 1, scratch, target)
        } else {
            let words = samples.assumingMemoryBound(to: UInt16.self)
            let picture = SampledPicture<UInt16, WorkedReading>(words, columns, rows, table, facts)
            sumPixels(picture, block, start, part, 1, scratch, target)
        }
        done &+= part
    }
}

@inline(__always) private func sumPixels<Sample: SampleKind, How: Reading>(
    _ picture: SampledPicture<Sample, How>, _ block: RingBlock, _ start: Int, _ count: Int, _ scale: Float,
    _ scratch: UnsafeMutableRawPointer, _ sums: UnsafeMutablePointer<UInt32>
) {
    let room = scratch.assumingMemoryBound(to: Float.self)
    var sum = loadPixelSums(sums - 4)
    var index = 0
    while index < count {
        let pixel = picture.bilinear(block.x(start &+ index), block.y(start &+ index), room)
        sum &+= wholes(pixel * scale + Pixel(repeating: 0.5))
        storePixelSums(sum, sums + 4 &* index)
        index &+= 1
    }
}

/// The distance of the values of a channel in a pair of pixels.
private protocol PairStep {
    /// All bits of the left pixel's lanes are set.
    static var left: SIMD8<UInt16> { get }
    /// The sum of the left and the right pixel.
    static func folded(_ pair: SIMD8<UInt16>) -> SIMD4<UInt16>
}

private enum OneStep: PairStep {
    static var left: SIMD8<UInt16> { @inline(__always) get { SIMD8(65535, 0, 0, 0, 0, 0, 0, 0) } }

    @inline(__always) static func folded(_ pair: SIMD8<UInt16>) -> SIMD4<UInt16> {
        pair.lowHalf &+ SIMD4(pair[1], pair[2], pair[3], pair[4])
    }
}

private enum ThreeSteps: PairStep {
    static var left: SIMD8<UInt16> { @inline(__always) get { SIMD8(65535, 65535, 65535, 0, 0, 0, 0, 0) } }

    @inline(__always) static func folded(_ pair: SIMD8<UInt16>) -> SIMD4<UInt16> {
        pair.lowHalf &+ SIMD4(pair[3], pair[4], pair[5], pair[6])
    }
}

/// Sums bytes without a conversion: with integers throughout, and two pixels in a vector.
@inline(__always) private func sumBytes<Step: PairStep>(
    _ picture: SampledPicture<UInt8, PlainReading>, _: Step.Type, _ block: RingBlock, _ start: Int, _ count: Int,
    _ scratch: UnsafeMutableRawPointer, _ sums: UnsafeMutablePointer<UInt32>
) {
    let positions = RingPositions(scratch)
    let room = (scratch + 768).assumingMemoryBound(to: UInt8.self)
    let isInside = place(picture, block, start, count, positions)
    var sum = loadPixelSums(sums - 4)
    var index = 0
    while index < count {
        let (column, row) = (positions.columns[index], positions.rows[index])
        var (upper, lower) = (UnsafePointer(room), UnsafePointer(room + 8))
        if isInside || isInBlock(picture, column, row) {
            (upper, lower) = picture.pairs(column, row)
        } else {
            picture.copyPairs(column, row, room, 0)
        }
        let down = SIMD8(repeating: positions.down[index])
        let pair = highProduct(words(upper), inverted(down)) &+ highProduct(words(lower), down)
        let across = exclusiveOr(SIMD8(repeating: positions.right[index]), Step.left)
        sum &+= widened(Step.folded(highProduct(pair, across)))
        storePixelSums(sum, sums + 4 &* index)
        index &+= 1
    }
}

@inline(__always)
private func isInBlock<Sample, How>(_ picture: SampledPicture<Sample, How>, _ column: Int32, _ row: Int32) -> Bool {
    UInt32(bitPattern: column &- picture.block.column) < picture.block.columns
        && UInt32(bitPattern: row &- picture.block.row) < picture.block.rows
}

/// Computes the positions of samples. Returns whether all of them lie in the block that can be read at once.
@inline(__always) private func place<Sample, How>(
    _ picture: SampledPicture<Sample, How>, _ block: RingBlock, _ start: Int, _ count: Int, _ positions: RingPositions
) -> Bool {
    var outside: UInt32 = 0
    var index = 0
    while index < count {
        let (x, y) = (block.x(start &+ index), block.y(start &+ index))
        let (left, top) = (x.rounded(.down), y.rounded(.down))
        let (column, row) = (Int32(left), Int32(top))
        positions.columns[index] = column
        positions.rows[index] = row
        positions.right[index] = fraction(x - left)
        positions.down[index] = fraction(y - top)
        let isOutside =
            UInt32(bitPattern: column &- picture.block.column) >= picture.block.columns
            || UInt32(bitPattern: row &- picture.block.row) >= picture.block.rows
        outside |= isOutside ? 1 : 0
        index &+= 1
    }
    return outside == 0
}

/// A fraction in multiples of 1/65536. Rounding can increase a difference to 1.
@inline(__always) private func fraction(_ difference: Double) -> UInt16 {
    let parts = difference * 65536
    return UInt16(truncatingIfNeeded: Int32(parts < 65535 ? parts : 65535))
}

/// Interpolates means between rings: linearly along a ring, and by the Catmull-Rom cubic across rings.
///
/// - Parameters:
///   - sums: the running sums of samples, four values each; rings are `stride` values apart. The first one is that of
///     `firstSample` on `firstRing`, one ring before the first that is needed.
///   - window: the number of samples of a mean; at most 65536.
///   - across, along: each pixel's ring, and the position on it where its window begins.
///   - scale: the factor of the means.
///   - out: four values a pixel.
@inline(never) public func interpolateRings(
    _ sums: UnsafePointer<UInt32>, stride: Int, firstRing: Int, firstSample: Int, window: Int,
    across: UnsafePointer<Double>, along: UnsafePointer<Double>, count: Int, scale: Float,
    out: UnsafeMutablePointer<Float>
) {
    // Sums are halved, so that they fit signed numbers.
    let unit = Pixel(repeating: scale * (2 / Float(window)))
    var index = 0
    while index < count {
        let (ring, sample) = (across[index].rounded(.down), along[index].rounded(.down))
        let s = Float(along[index] - sample)
        let weights = CubicWeights(Float(across[index] - ring))
        let base = sums + ((Int(ring) &- 1 &- firstRing) &* stride &+ 4 &* (Int(sample) &- firstSample))
        @inline(__always) func means(_ ring: Int) -> SIMD8<Float> {
            let start = base + ring &* stride
            return halfFloats(loadPair(start + 4 &* window) &- loadPair(start))
        }
        let both =
            means(0) * weights.first + means(1) * weights.second + means(2) * weights.third + means(3) * weights.fourth
        store((both.lowHalf + (both.highHalf - both.lowHalf) * s) * unit, out + 4 &* index)
        index &+= 1
    }
}

/// The weights of four neighbours, for a position after the second one.
struct CubicWeights {
    let first: Float
    let second: Float
    let third: Float
    let fourth: Float

    @inline(__always) init(_ t: Float) {
        let (t2, t3) = (t * t, t * t * t)
        first = -0.5 * t3 + t2 - 0.5 * t
        second = 1.5 * t3 - 2.5 * t2 + 1
        third = -1.5 * t3 + 2 * t2 + 0.5 * t
        fourth = 0.5 * t3 - 0.5 * t2
    }
}
