import Arithmetic

/// What a resampled pixel is a weighted mean of.
package enum ResamplingKernel: String, Hashable, Sendable, CaseIterable {
    /// sinc(x)·sinc(x/3) for |x| < 3, widened by the scale when pictures shrink: sharp, and free of aliases.
    case lanczos3
    /// Every input pixel by the part of it that the output pixel covers.
    case box
}

/// One axis of a change of size: which input pixels an output pixel is made of, and their weights.
///
/// Output pixel i covers the input from i·scale to (i + 1)·scale, pixel j of it from j to j + 1.
package struct AxisResampling: Hashable, Sendable {
    /// Input pixels that one output pixel covers.
    package let scale: Double
    package let kernel: ResamplingKernel

    package init(scale: Double, kernel: ResamplingKernel) {
        self.scale = scale
        self.kernel = kernel
    }

    /// The weighted pixels of one output pixel; they may lie outside the input.
    package struct Taps: Hashable, Sendable {
        package let start: Int
        /// Their sum is 1 but for rounding.
        package let weights: [Float]

        package var range: Range<Int> { start..<start + weights.count }
    }

    package func taps(at index: Int) -> Taps {
        let window = window(index)
        let (start, weights) = trimmed(window.lowerBound, window.map { weight($0, at: index) })
        let sum = weights.reduce(0, +)
        return Taps(start: start, weights: weights.map { Float($0 / sum) })
    }

    /// The input pixels that some output pixels may be made of. Those of a single one may be fewer, where the kernel is 0.
    package func needed(_ output: Range<Int>) -> Range<Int> {
        guard let last = output.last else { return output }
        return window(output.lowerBound).lowerBound..<window(last).upperBound
    }

    /// The most input pixels that are read beyond those which an output pixel covers, on either side.
    package var reach: Int { kernel == .box ? 1 : Int((3 * max(1, scale)).rounded(.up)) + 1 }

    /// The input pixels that the kernel reaches.
    private func window(_ index: Int) -> Range<Int> {
        switch kernel {
        case .box:
            let first = Int((Double(index) * scale).rounded(.down))
            return first..<max(first + 1, Int((Double(index + 1) * scale).rounded(.up)))
        case .lanczos3:
            let center = center(index)
            return Int((center - 3 * width).rounded(.up))..<Int((center + 3 * width).rounded(.down)) + 1
        }
    }

    /// Half of what the kernel's central lobe covers.
    private var width: Double { max(1, scale) }

    /// In input pixels, whose centres are the whole numbers.
    private func center(_ index: Int) -> Double { (Double(index) + 0.5) * scale - 0.5 }

    private func weight(_ pixel: Int, at index: Int) -> Double {
        switch kernel {
        case .box:
            min(Double(index + 1) * scale, Double(pixel + 1)) - max(Double(index) * scale, Double(pixel))
        case .lanczos3: Self.lanczos3((Double(pixel) - center(index)) / width)
        }
    }

    /// Without the zeros at both ends, so that nothing is read for them.
    private func trimmed(_ first: Int, _ weights: [Double]) -> (Int, [Double]) {
        let lead = weights.prefix { $0 == 0 }.count
        guard lead < weights.count else { return (first, [1]) }
        let tail = weights.reversed().prefix { $0 == 0 }.count
        return (first + lead, Array(weights[lead..<weights.count - tail]))
    }

    /// Exactly 1 at 0, and 0 at the other whole numbers.
    private static func lanczos3(_ x: Double) -> Double {
        guard x != 0 else { return 1 }
        guard abs(x) < 3 else { return 0 }
        guard x != x.rounded() else { return 0 }
        let sine = DeterministicMath.sinCos(degrees: 60 * x).sin
        let product = (3 - 4 * sine * sine) * sine * sine  // sin 3a = 3·sin a − 4·sin³ a
        return 3 * product / (Double.pi * Double.pi * x * x)
    }
}
