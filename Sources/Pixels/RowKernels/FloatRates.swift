// Halving and doubling of planes in single precision, for 16-bit and floating-point samples and for linear light. Each sum has a
// fixed order, and no multiplication is fused with an addition, so that results are the same on every CPU.

/// Half the number of a prefilter's taps, as a constant of a specialisation.
protocol TapPairs {
    static var count: Int { get }
}

enum TwoPairs: TapPairs { static var count: Int { @inline(__always) get { 2 } } }
enum ThreePairs: TapPairs { static var count: Int { @inline(__always) get { 3 } } }
enum FourPairs: TapPairs { static var count: Int { @inline(__always) get { 4 } } }
enum FivePairs: TapPairs { static var count: Int { @inline(__always) get { 5 } } }

extension TapPairs {
    /// The number of low-rate samples on each side of half a position from which doubling computes its sample.
    @inline(__always) static var reach: Int { count / 2 }
}

/// A loop that is specialised for prefilters.
private protocol RateLoop {
    func run<Pairs: TapPairs>(_: Pairs.Type)
}

/// - Parameter taps: 4, 6, 8 or 10.
@inline(__always) private func choose(_ taps: Int, _ loop: some RateLoop) {
    switch taps {
    case 4: loop.run(TwoPairs.self)
    case 6: loop.run(ThreePairs.self)
    case 8: loop.run(FourPairs.self)
    default: loop.run(FivePairs.self)
    }
}

/// Sums `taps` rows in symmetric pairs, and splits the sums into those of even columns and of odd columns: `count` of each.
///
/// - Parameters:
///   - rows: readable up to 31 values after the last one.
///   - weights: taps/2 weights, from the first row on.
///   - even, odd: writable up to 15 values after the last one.
@inline(never) public func sumAndSplitFloats(
    _ rows: UnsafePointer<UnsafePointer<Float>>, taps: Int, weights: UnsafePointer<Float>, count: Int,
    even: UnsafeMutablePointer<Float>, odd: UnsafeMutablePointer<Float>
) {
    struct Loop: RateLoop {
        let rows: UnsafePointer<UnsafePointer<Float>>
        let weights: UnsafePointer<Float>
        let count: Int
        let even: UnsafeMutablePointer<Float>
        let odd: UnsafeMutablePointer<Float>

        @inline(__always) func run<Pairs: TapPairs>(_: Pairs.Type) {
            var x = 0
            while x < count {
                var (a, b) = (FloatVector.zero, FloatVector.zero)
                var k = 0
                while k < Pairs.count {
                    let (p, q) = (rows[k] + 2 &* x, rows[2 &* Pairs.count &- 1 &- k] + 2 &* x)
                    a += (loadFloats(p) + loadFloats(q)) * weights[k]
                    b += (loadFloats(p + 16) + loadFloats(q + 16)) * weights[k]
                    k &+= 1
                }
                storeFloats(evenValues(a, b), even + x)
                storeFloats(oddValues(a, b), odd + x)
                x &+= 16
            }
        }
    }
    choose(taps, Loop(rows: rows, weights: weights, count: count, even: even, odd: odd))
}

/// Sums windows of a row that is split into even and odd columns, in symmetric pairs: `count` low-rate values.
///
/// - Parameters:
///   - even, odd: the columns at twice the first low-rate position and after it; readable from 3 values before up to 18
///     values after the last one.
///   - weights: taps/2 weights, from the first column on.
///   - out: writable up to 15 values after the last one.
@inline(never) public func sumSplitFloats(
    even: UnsafePointer<Float>, odd: UnsafePointer<Float>, taps: Int, weights: UnsafePointer<Float>, count: Int,
    out: UnsafeMutablePointer<Float>
) {
    struct Loop: RateLoop {
        let even: UnsafePointer<Float>
        let odd: UnsafePointer<Float>
        let weights: UnsafePointer<Float>
        let count: Int
        let out: UnsafeMutablePointer<Float>

        @inline(__always) func run<Pairs: TapPairs>(_: Pairs.Type) {
            /// The column at a distance from twice the low-rate position.
            @inline(__always) func column(_ distance: Int, _ x: Int) -> FloatVector {
                loadFloats((distance & 1 == 0 ? even : odd) + (distance >> 1 &+ x))
            }
            var x = 0
            while x < count {
                var sum = FloatVector.zero
                var k = 0
                while k < Pairs.count {
                    sum += (column(k &- Pairs.count &+ 1, x) + column(Pairs.count &- k, x)) * weights[k]
                    k &+= 1
                }
                storeFloats(sum, out + x)
                x &+= 16
            }
        }
    }
    choose(taps, Loop(even: even, odd: odd, weights: weights, count: count, out: out))
}

/// The outputs at twice a low-rate position and after it, from the neighbours of the position. Each has taps/2 weights, in the
/// neighbours' order.
@inline(__always) private func doubled<Pairs: TapPairs>(
    _: Pairs.Type, _ evenWeights: UnsafePointer<Float>, _ oddWeights: UnsafePointer<Float>,
    neighbour: (_ distance: Int) -> FloatVector
) -> (even: FloatVector, odd: FloatVector) {
    // With 4 or 8 taps the odd output's neighbours start one later.
    let shift = 1 &- (Pairs.count & 1)
    var (even, odd) = (FloatVector.zero, FloatVector.zero)
    var k = 0
    while k < Pairs.count {
        even += neighbour(k &- Pairs.reach) * evenWeights[k]
        odd += neighbour(k &- Pairs.reach &+ shift) * oddWeights[k]
        k &+= 1
    }
    return (even, odd)
}

/// Computes the rows at twice a low-rate row and after it.
///
/// - Parameters:
///   - rows: 2·(taps/4) + 1 low-rate rows, from the first neighbour on; readable up to 15 values after the last one.
///   - even, odd: writable up to 15 values after the last one.
@inline(never) public func doubleFloatRows(
    _ rows: UnsafePointer<UnsafePointer<Float>>, taps: Int, evenWeights: UnsafePointer<Float>,
    oddWeights: UnsafePointer<Float>, count: Int, even: UnsafeMutablePointer<Float>, odd: UnsafeMutablePointer<Float>
) {
    struct Loop: RateLoop {
        let rows: UnsafePointer<UnsafePointer<Float>>
        let evenWeights: UnsafePointer<Float>
        let oddWeights: UnsafePointer<Float>
        let count: Int
        let even: UnsafeMutablePointer<Float>
        let odd: UnsafeMutablePointer<Float>

        @inline(__always) func run<Pairs: TapPairs>(_: Pairs.Type) {
            var x = 0
            while x < count {
                let sums = doubled(Pairs.self, evenWeights, oddWeights) { loadFloats(rows[Pairs.reach &+ $0] + x) }
                storeFloats(sums.even, even + x)
                storeFloats(sums.odd, odd + x)
                x &+= 16
            }
        }
    }
    choose(
        taps,
        Loop(rows: rows, evenWeights: evenWeights, oddWeights: oddWeights, count: count, even: even, odd: odd))
}

/// Doubles a row: 2·`count` values, from twice the first position on.
///
/// - Parameters:
///   - row: readable from taps/4 values before up to taps/4 + 15 values after the last one.
///   - out: writable up to 31 values after the last one.
@inline(never) public func doubleFloats(
    _ row: UnsafePointer<Float>, taps: Int, evenWeights: UnsafePointer<Float>, oddWeights: UnsafePointer<Float>,
    count: Int, out: UnsafeMutablePointer<Float>
) {
    struct Loop: RateLoop {
        let row: UnsafePointer<Float>
        let evenWeights: UnsafePointer<Float>
        let oddWeights: UnsafePointer<Float>
        let count: Int
        let out: UnsafeMutablePointer<Float>

        @inline(__always) func run<Pairs: TapPairs>(_: Pairs.Type) {
            var x = 0
            while x < count {
                let sums = doubled(Pairs.self, evenWeights, oddWeights) { loadFloats(row + (x &+ $0)) }
                storeFloats(zipped(sums.even.lowHalf, sums.odd.lowHalf), out + 2 &* x)
                storeFloats(zipped(sums.even.highHalf, sums.odd.highHalf), out + (2 &* x &+ 16))
                x &+= 16
            }
        }
    }
    choose(taps, Loop(row: row, evenWeights: evenWeights, oddWeights: oddWeights, count: count, out: out))
}

/// Splits a row into its even and its odd values: `count` of each.
///
/// - Parameters:
///   - row: readable up to 31 values after the last one.
///   - even, odd: writable up to 15 values after the last one.
@inline(never) public func splitFloats(
    _ row: UnsafePointer<Float>, count: Int, even: UnsafeMutablePointer<Float>, odd: UnsafeMutablePointer<Float>
) {
    var x = 0
    while x < count {
        let (a, b) = (loadFloats(row + 2 &* x), loadFloats(row + (2 &* x &+ 16)))
        storeFloats(evenValues(a, b), even + x)
        storeFloats(oddValues(a, b), odd + x)
        x &+= 16
    }
}
