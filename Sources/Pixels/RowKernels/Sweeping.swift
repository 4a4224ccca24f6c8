// Means along the paths of pixels in a zoom or a spin, sample by sample, for short paths.

/// Calls `body` with a swept picture, whose description crosses the border of a CPU level as numbers; see ``SampledPicture``
/// for `facts`.
///
/// - Parameter body: receives the picture with its sample format.
@inline(__always) func withPicture(
    _ samples: UnsafeRawPointer, _ bytesPerSample: Int, _ columns: UnsafePointer<Int32>,
    _ rows: UnsafePointer<Int32>, _ table: UnsafePointer<Double>?, _ facts: UnsafePointer<Int>,
    _ body: some PictureLoop
) {
    @inline(__always) func choose<Sample: SampleKind>(_: Sample.Type) {
        let samples = samples.assumingMemoryBound(to: Sample.self)
        if table == nil, facts[1] == 0, facts[2] == 0 {
            body.run(SampledPicture<Sample, PlainReading>(samples, columns, rows, table, facts))
        } else {
            body.run(SampledPicture<Sample, WorkedReading>(samples, columns, rows, table, facts))
        }
    }
    switch bytesPerSample {
    case 1: choose(UInt8.self)
    case 2: choose(UInt16.self)
    default: choose(Float.self)
    }
}

/// A loop that is specialised for sample formats.
protocol PictureLoop {
    func run<Sample: SampleKind, How: Reading>(_ picture: SampledPicture<Sample, How>)
}

/// The number of samples on a path of a length in pixels is a multiple of this number.
@inline(__always) private func unit(_ length: Double) -> Int { Int(length.rounded(.up)) &+ 1 }

@inline(__always) func store(_ pixel: Pixel, _ target: UnsafeMutablePointer<Float>) {
    UnsafeMutableRawPointer(target).storeBytes(of: pixel, as: Pixel.self)
}

/// The means along the segments from p to c + (p − c)·(1 − amount), for `count` pixels from (x, y) on, four values each. Short
/// segments have 3n samples and longer ones n, at the middles of equal parts.
///
/// - Parameter center: c, the amount, and the number of pixels from which on a segment is long.
@inline(never) public func zoomDirectly(
    _ samples: UnsafeRawPointer, bytesPerSample: Int, columns: UnsafePointer<Int32>, rows: UnsafePointer<Int32>,
    table: UnsafePointer<Double>?, facts: UnsafePointer<Int>, center: UnsafePointer<Double>, x: Int, y: Int,
    count: Int, out: UnsafeMutablePointer<Float>
) {
    struct Loop: PictureLoop {
        let center: UnsafePointer<Double>
        let x: Int
        let y: Int
        let count: Int
        let out: UnsafeMutablePointer<Float>

        @inline(__always) func run<Sample: SampleKind, How: Reading>(_ picture: SampledPicture<Sample, How>) {
            let amount = center[2]
            let dy = (Double(y) - center[1]) * amount
            var index = 0
            while index < count {
                let position = Double(x &+ index)
                let dx = (position - center[0]) * amount
                let length = (dx * dx + dy * dy).squareRoot()
                let samples = length < center[3] ? 3 &* unit(length) : unit(length)
                let share = 1 / Double(samples)
                var sum = Pixel.zero
                var k = 0
                while k < samples {
                    let t = (Double(k) + 0.5) * share
                    sum += picture.bilinear(position - dx * t, Double(y) - dy * t, out + 4 &* index)
                    k &+= 1
                }
                store(sum * Float(share), out + 4 &* index)
                index &+= 1
            }
        }
    }
    withPicture(
        samples, bytesPerSample, columns, rows, table, facts,
        Loop(center: center, x: x, y: y, count: count, out: out))
}

/// The means along arcs around c, with 3n samples near c and 2n elsewhere.
///
/// - Parameters:
///   - center: c, the angle in radians, the distance up to which pixels are near, and the last turn's number.
///   - turns: for 3n samples, n from 1 to 16, then for 2n, n from 1 on: the cosine and sine of the turn from the pixel to its
///     first sample, and of the turn from each sample to the next.
@inline(never) public func spinDirectly(
    _ samples: UnsafeRawPointer, bytesPerSample: Int, columns: UnsafePointer<Int32>, rows: UnsafePointer<Int32>,
    table: UnsafePointer<Double>?, facts: UnsafePointer<Int>, center: UnsafePointer<Double>,
    turns: UnsafePointer<Double>, x: Int, y: Int, count: Int, out: UnsafeMutablePointer<Float>
) {
    struct Loop: PictureLoop {
        let center: UnsafePointer<Double>
        let turns: UnsafePointer<Double>
        let x: Int
        let y: Int
        let count: Int
        let out: UnsafeMutablePointer<Float>

        @inline(__always) func run<Sample: SampleKind, How: Reading>(_ picture: SampledPicture<Sample, How>) {
            let dy = Double(y) - center[1]
            var index = 0
            while index < count {
                let dx = Double(x &+ index) - center[0]
                let distance = (dx * dx + dy * dy).squareRoot()
                let isNear = distance < center[3]
                let position = min(unit(distance * center[2]) &- 1 &+ (isNear ? 0 : 16), Int(center[4]))
                let samples = isNear ? 3 &* (position &+ 1) : 2 &* (position &- 15)
                let turn = turns + 4 &* position
                var (right, down) = (dx * turn[0] - dy * turn[1], dx * turn[1] + dy * turn[0])
                var sum = Pixel.zero
                var k = 0
                while k < samples {
                    sum += picture.bilinear(center[0] + right, center[1] + down, out + 4 &* index)
                    (right, down) = (right * turn[2] - down * turn[3], right * turn[3] + down * turn[2])
                    k &+= 1
                }
                store(sum * Float(1 / Double(samples)), out + 4 &* index)
                index &+= 1
            }
        }
    }
    withPicture(
        samples, bytesPerSample, columns, rows, table, facts,
        Loop(center: center, turns: turns, x: x, y: y, count: count, out: out))
}
