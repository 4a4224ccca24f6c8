// Moving averages of the picture along rings around a centre (for a spin) or rays from it (for a zoom). They are used for long
// paths, because their cost does not depend on the length; see docs/explanation/motion-blurs.md.
//
// Sums restart at blocks that are fixed in the picture. A window's sum consists of the sum from its start to the end of its
// block, the sums of whole blocks, and the sum from the last block's start to the window's end. Each sum therefore has the
// same order, whatever the tile, and a NaN affects only the windows that contain it.

@inline(__always) private func load(_ source: UnsafePointer<Float>) -> Pixel {
    UnsafeRawPointer(source).loadUnaligned(as: Pixel.self)
}

/// Samples a ring, four values a sample: `count` directions from `first` on, which must not be negative; see ``RingBlock``.
@inline(never) public func sampleRing(
    _ samples: UnsafeRawPointer, bytesPerSample: Int, columns: UnsafePointer<Int32>, rows: UnsafePointer<Int32>,
    table: UnsafePointer<Double>?, facts: UnsafePointer<Int>, center: UnsafePointer<Double>, radius: Double,
    coarse: UnsafePointer<Double>, fine: UnsafePointer<Double>, first: Int, count: Int,
    out: UnsafeMutablePointer<Float>
) {
    struct Loop: PictureLoop {
        let center: UnsafePointer<Double>
        let radius: Double
        let coarse: UnsafePointer<Double>
        let fine: UnsafePointer<Double>
        let first: Int
        let count: Int
        let out: UnsafeMutablePointer<Float>

        @inline(__always) func run<Sample: SampleKind, How: Reading>(_ picture: SampledPicture<Sample, How>) {
            var index = 0
            while index < count {
                let step = first &+ index
                let block = RingBlock(center, radius, coarse, step >> 6, fine)
                let target = out + 4 &* index
                store(picture.bilinear(block.x(step & 63), block.y(step & 63), target), target)
                index &+= 1
            }
        }
    }
    withPicture(
        samples, bytesPerSample, columns, rows, table, facts,
        Loop(center: center, radius: radius, coarse: coarse, fine: fine, first: first, count: count, out: out))
}

/// Samples c + k·(stepX, stepY) for `count` values of k from `first` on, four values each.
@inline(never) public func sampleRay(
    _ samples: UnsafeRawPointer, bytesPerSample: Int, columns: UnsafePointer<Int32>, rows: UnsafePointer<Int32>,
    table: UnsafePointer<Double>?, facts: UnsafePointer<Int>, center: UnsafePointer<Double>, stepX: Double,
    stepY: Double, first: Int, count: Int, out: UnsafeMutablePointer<Float>
) {
    struct Loop: PictureLoop {
        let center: UnsafePointer<Double>
        let stepX: Double
        let stepY: Double
        let first: Int
        let count: Int
        let out: UnsafeMutablePointer<Float>

        @inline(__always) func run<Sample: SampleKind, How: Reading>(_ picture: SampledPicture<Sample, How>) {
            var index = 0
            while index < count {
                let k = Double(first &+ index)
                let target = out + 4 &* index
                store(picture.bilinear(center[0] + k * stepX, center[1] + k * stepY, target), target)
                index &+= 1
            }
        }
    }
    withPicture(
        samples, bytesPerSample, columns, rows, table, facts,
        Loop(center: center, stepX: stepX, stepY: stepY, first: first, count: count, out: out))
}

/// Computes two sums for each sample of a line: from the start of its block up to it, and from it to the end.
///
/// - Parameters:
///   - phase: the position of the first sample in its block of `length`.
///   - heads, tails: `count` pixels each. For incomplete blocks only the sums that are needed are correct.
@inline(never) public func sumBlocks(
    _ line: UnsafePointer<Float>, count: Int, phase: Int, length: Int, heads: UnsafeMutablePointer<Float>,
    tails: UnsafeMutablePointer<Float>
) {
    // Within a block, sums of 64 samples are summed again, so that rounding errors stay small in long blocks.
    var (sum, part) = (Pixel.zero, Pixel.zero)
    var position = phase
    var index = 0
    while index < count {
        if position == 0 { (sum, part) = (.zero, .zero) }
        part += load(line + 4 &* index)
        store(sum + part, heads + 4 &* index)
        position &+= 1
        if position & 63 == 0 { (sum, part) = (sum + part, .zero) }
        if position == length { position = 0 }
        index &+= 1
    }
    (sum, part) = (.zero, .zero)
    while index > 0 {
        position = position == 0 ? length &- 1 : position &- 1
        index &-= 1
        if position == length &- 1 { (sum, part) = (.zero, .zero) }
        part += load(line + 4 &* index)
        store(sum + part, tails + 4 &* index)
        if position & 63 == 0 { (sum, part) = (sum + part, .zero) }
    }
}

/// The means of the windows of `length` samples that begin at each of `count` samples of a line.
///
/// - Parameters:
///   - heads, tails: the sums of blocks of the same length.
///   - phase: the position of the first sample in its block.
@inline(never) public func slideMeans(
    heads: UnsafePointer<Float>, tails: UnsafePointer<Float>, phase: Int, length: Int, count: Int,
    out: UnsafeMutablePointer<Float>
) {
    let weight = 1 / Float(length)
    let ahead = 4 &* (length &- 1)
    var position = phase
    var index = 0
    while index < count {
        let at = 4 &* index
        var sum = load(heads + (at &+ ahead))
        if position != 0 { sum += load(tails + at) }
        store(sum * weight, out + at)
        position &+= 1
        if position == length { position = 0 }
        index &+= 1
    }
}

/// The means of a ray's piecewise linear values from k·`factor` to k, for `count` values of k from `first` on.
///
/// - Parameters:
///   - line, heads, tails: pointers to the sample 0, the centre.
///   - blockBits: blocks have 2^blockBits samples. Every window has at least as many.
@inline(never) public func zoomMeans(
    _ line: UnsafePointer<Float>, heads: UnsafePointer<Float>, tails: UnsafePointer<Float>, blockBits: Int,
    factor: Double, first: Int, count: Int, out: UnsafeMutablePointer<Float>
) {
    let bits = blockBits
    var index = 0
    while index < count {
        let k = Double(first &+ index)
        let other = k * factor
        let (low, high) = other < k ? (other, k) : (k, other)
        let (start, end) = (low.rounded(.up), high.rounded(.down))
        let (i, j) = (Int(start), Int(end))
        var sum = load(heads + 4 &* j)
        let (firstBlock, lastBlock) = (i >> bits, j >> bits)
        if firstBlock != lastBlock { sum += load(tails + 4 &* i) }
        var block = firstBlock &+ 1
        while block < lastBlock {
            sum += load(heads + 4 &* ((block &+ 1) << bits &- 1))
            block &+= 1
        }
        // The trapezoids from the first to the last whole sample, and the partial trapezoids at both ends.
        let (before, after) = (Float(start - low), Float(high - end))
        let (a, b) = (load(line + 4 &* i), load(line + 4 &* j))
        sum -= (a + b) * 0.5
        sum += (a + (load(line + 4 &* (i &- 1)) - a) * (before * 0.5)) * before
        sum += (b + (load(line + 4 &* (j &+ 1)) - b) * (after * 0.5)) * after
        store(sum * Float(1 / (high - low)), out + 4 &* index)
        index &+= 1
    }
}

/// Interpolates `count` pixels between lines: linearly along a line, and by the Catmull-Rom cubic across lines.
///
/// - Parameters:
///   - lines: the means of the lines, `stride` values apart, four a sample. The first sample is `firstSample`. The first line
///     is `firstLine`, one before the first that is needed.
///   - across, along: each pixel's position.
@inline(never) public func interpolateLines(
    _ lines: UnsafePointer<Float>, stride: Int, firstLine: Int, firstSample: Int, across: UnsafePointer<Double>,
    along: UnsafePointer<Double>, count: Int, out: UnsafeMutablePointer<Float>
) {
    var index = 0
    while index < count {
        let (line, sample) = (across[index].rounded(.down), along[index].rounded(.down))
        let s = Float(along[index] - sample)
        let weights = CubicWeights(Float(across[index] - line))
        let base = lines + ((Int(line) &- 1 &- firstLine) &* stride &+ 4 &* (Int(sample) &- firstSample))
        @inline(__always) func mean(_ from: UnsafePointer<Float>) -> Pixel {
            load(from) * weights.first + load(from + stride) * weights.second + load(from + 2 &* stride)
                * weights.third + load(from + 3 &* stride) * weights.fourth
        }
        let (here, next) = (mean(base), mean(base + 4))
        store(here + (next - here) * s, out + 4 &* index)
        index &+= 1
    }
}
