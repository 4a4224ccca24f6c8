/// The inner loops of the convolutions: weighted sums of shifted views of one buffer of doubles.
///
/// Each output value adds its products in the order of the taps, one rounding after each operation, so the result does
/// not depend on where a row starts or ends, nor on vector widths. The loops have no bounds checks (one precondition
/// stands for all) and no branches, so the compiler vectorises them; four taps at a time save three of four trips of
/// the sums through the cache.
enum WeightedSums {
    /// `sums[i] = weight · values[start + i]`
    static func set(_ sums: inout MutableSpan<Double>, to values: Span<Double>, from start: Int, times weight: Double) {
        let count = sums.count
        precondition(start >= 0 && start + count <= values.count, "the view lies in the buffer")
        for i in 0..<count { sums[unchecked: i] = weight * values[unchecked: start &+ i] }
    }

    /// `sums[i] += Σₖ weights[k] · (values[pairs[2k] + i] + values[pairs[2k + 1] + i])`, k from 0.
    static func addPairs(
        _ pairs: Span<Int>, of values: Span<Double>, weights: Span<Double>, to sums: inout MutableSpan<Double>
    ) {
        precondition(pairs.count == 2 * weights.count, "each weight has two views")
        check(pairs, in: values, count: sums.count)
        var k = 0
        while k + 4 <= weights.count {
            addFourPairs(pairs.extracting(2 * k..<2 * k + 8), values, weights.extracting(k..<k + 4), &sums)
            k += 4
        }
        while k < weights.count {
            let (a, b, weight) = (pairs[2 * k], pairs[2 * k + 1], weights[k])
            for i in 0..<sums.count {
                sums[unchecked: i] += weight * (values[unchecked: a &+ i] + values[unchecked: b &+ i])
            }
            k += 1
        }
    }

    /// `sums[i] += Σₖ weights[k] · values[starts[k] + i]`, k from 0.
    static func addSingles(
        _ starts: Span<Int>, of values: Span<Double>, weights: Span<Double>, to sums: inout MutableSpan<Double>
    ) {
        precondition(starts.count == weights.count, "each weight has a view")
        check(starts, in: values, count: sums.count)
        var k = 0
        while k + 4 <= weights.count {
            addFourSingles(starts.extracting(k..<k + 4), values, weights.extracting(k..<k + 4), &sums)
            k += 4
        }
        while k < weights.count {
            let (a, weight) = (starts[k], weights[k])
            for i in 0..<sums.count { sums[unchecked: i] += weight * values[unchecked: a &+ i] }
            k += 1
        }
    }

    private static func check(_ starts: Span<Int>, in values: Span<Double>, count: Int) {
        for k in starts.indices {
            precondition(starts[k] >= 0 && starts[k] + count <= values.count, "each view lies in the buffer")
        }
    }

    private static func addFourPairs(
        _ pairs: Span<Int>, _ values: Span<Double>, _ weights: Span<Double>, _ sums: inout MutableSpan<Double>
    ) {
        let (a0, b0, a1, b1) = (pairs[0], pairs[1], pairs[2], pairs[3])
        let (a2, b2, a3, b3) = (pairs[4], pairs[5], pairs[6], pairs[7])
        let (w0, w1, w2, w3) = (weights[0], weights[1], weights[2], weights[3])
        for i in 0..<sums.count {
            var sum = sums[unchecked: i]
            sum += w0 * (values[unchecked: a0 &+ i] + values[unchecked: b0 &+ i])
            sum += w1 * (values[unchecked: a1 &+ i] + values[unchecked: b1 &+ i])
            sum += w2 * (values[unchecked: a2 &+ i] + values[unchecked: b2 &+ i])
            sum += w3 * (values[unchecked: a3 &+ i] + values[unchecked: b3 &+ i])
            sums[unchecked: i] = sum
        }
    }

    private static func addFourSingles(
        _ starts: Span<Int>, _ values: Span<Double>, _ weights: Span<Double>, _ sums: inout MutableSpan<Double>
    ) {
        let (a0, a1, a2, a3) = (starts[0], starts[1], starts[2], starts[3])
        let (w0, w1, w2, w3) = (weights[0], weights[1], weights[2], weights[3])
        for i in 0..<sums.count {
            var sum = sums[unchecked: i]
            sum += w0 * values[unchecked: a0 &+ i]
            sum += w1 * values[unchecked: a1 &+ i]
            sum += w2 * values[unchecked: a2 &+ i]
            sum += w3 * values[unchecked: a3 &+ i]
            sums[unchecked: i] = sum
        }
    }
}
