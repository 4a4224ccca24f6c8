/// The multirate Gaussian in single precision, written for the eye: one value at a time, by the formulas of
/// docs/explanation/gaussian.md. It shares no code with the fast one, and must give the same bits.
package struct SlowFloatMultirate {
    /// The computation along one axis.
    package struct Axis {
        private let taps: [Int]
        private let weights: [Float]

        /// - Parameters:
        ///   - taps: of the binomial prefilters, the highest rate first.
        ///   - weights: from the centre outwards.
        package init(taps: [Int], weights: [Float]) { (self.taps, self.weights) = (taps, weights) }

        fileprivate var levels: Int { taps.count }

        /// The kernel of a level; nil if this axis keeps its rate there.
        fileprivate func prefilter(_ level: Int) -> [Float]? {
            guard level < taps.count else { return nil }
            var kernel = [1.0]
            while kernel.count < taps[level] { kernel = zip([0] + kernel, kernel + [0]).map { ($0 + $1) / 2 } }
            return kernel.map { Float($0) }
        }

        fileprivate func filtered(_ value: (Int) -> Float) -> Float {
            weights.indices.dropFirst().reduce(value(0) * weights[0]) { $0 + (value(-$1) + value($1)) * weights[$1] }
        }
    }

    /// An image at some rate: a value for every coordinate that is asked for, computed once.
    private final class Image {
        private var known: [[Int]: Float] = [:]
        private let compute: (_ x: Int, _ y: Int) -> Float

        init(_ compute: @escaping (_ x: Int, _ y: Int) -> Float) { self.compute = compute }

        subscript(x: Int, y: Int) -> Float {
            if let value = known[[x, y]] { return value }
            let value = compute(x, y)
            known[[x, y]] = value
            return value
        }
    }

    private let output: Image

    /// - Parameter source: the value at any coordinate.
    package init(source: @escaping (_ x: Int, _ y: Int) -> Float, horizontal: Axis, vertical: Axis) {
        var image = Image(source)
        let levels = max(horizontal.levels, vertical.levels)
        for level in 0..<levels {
            let (from, kernelX, kernelY) = (image, horizontal.prefilter(level), vertical.prefilter(level))
            let rows = Image { x, y in Self.halved(kernelY, y) { from[x, $0] } }
            image = Image { x, y in Self.halved(kernelX, x) { rows[$0, y] } }
        }
        let low = image
        let rows = Image { x, y in vertical.filtered { low[x, y + $0] } }
        image = Image { x, y in horizontal.filtered { rows[x + $0, y] } }
        for level in (0..<levels).reversed() {
            let (from, kernelX, kernelY) = (image, horizontal.prefilter(level), vertical.prefilter(level))
            let rows = Image { x, y in Self.doubled(kernelY, y) { from[x, $0] } }
            image = Image { x, y in Self.doubled(kernelX, x) { rows[$0, y] } }
        }
        output = image
    }

    package func value(x: Int, y: Int) -> Float { output[x, y] }

    /// Pairs are summed from the outermost inwards.
    private static func halved(_ kernel: [Float]?, _ position: Int, _ value: (Int) -> Float) -> Float {
        guard let kernel else { return value(position) }
        let first = 2 * position - (kernel.count - 1) / 2
        return (0..<kernel.count / 2).reduce(0) {
            $0 + (value(first + $1) + value(first + kernel.count - 1 - $1)) * kernel[$1]
        }
    }

    /// Twice the sum over all low-rate samples whose window has the position, the first one first.
    private static func doubled(_ kernel: [Float]?, _ position: Int, _ value: (Int) -> Float) -> Float {
        guard let kernel else { return value(position) }
        let near = position >> 1
        return (near - kernel.count...near + kernel.count).reduce(0) { sum, low in
            let tap = position - (2 * low - (kernel.count - 1) / 2)
            return kernel.indices.contains(tap) ? sum + value(low) * (2 * kernel[tap]) : sum
        }
    }
}
