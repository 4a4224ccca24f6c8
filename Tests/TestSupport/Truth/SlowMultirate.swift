/// The fixed-point multirate Gaussian, written for the eye: one sample at a time, on whole numbers, by the formulas of
/// docs/explanation/gaussian.md. It shares no code with the fast one, and must give the same bytes.
package struct SlowMultirate {
    /// An image at some rate: a value for every coordinate that is asked for, computed once.
    private final class Image {
        private var known: [[Int]: Int] = [:]
        private let compute: (_ x: Int, _ y: Int) -> Int

        init(_ compute: @escaping (_ x: Int, _ y: Int) -> Int) {
            self.compute = compute
        }

        subscript(x: Int, y: Int) -> Int {
            if let value = known[[x, y]] { return value }
            let value = compute(x, y)
            known[[x, y]] = value
            return value
        }
    }

    /// Weights of 65536, the whole kernel, by the number of taps.
    private static let halving: [Int: [Int]] = [
        4: [8192, 24576, 24576, 8192],
        5: [4096, 16384, 24576, 16384, 4096],
        6: [2560, 10752, 19456, 19456, 10752, 2560],
        8: [512, 3584, 10752, 17920, 17920, 10752, 3584, 512],
    ]

    private let output: Image

    /// - Parameters:
    ///   - source: the sample at any coordinate, times 128.
    ///   - taps: of the prefilters, the highest rate first.
    ///   - horizontal, vertical: weights of 65536 from the centre outwards.
    package init(
        source: @escaping (_ x: Int, _ y: Int) -> Int, taps: [Int], horizontal: [Int], vertical: [Int]
    ) {
        var image = Image(source)
        for (level, count) in taps.enumerated() { image = Self.halved(image, count, level: level) }
        image = Self.filtered(image, horizontal, vertical)
        let isInterpolated = taps.starts(with: [3, 3])
        for count in taps.dropFirst(isInterpolated ? 2 : 0).reversed() { image = Self.doubled(image, count) }
        output = isInterpolated ? Self.interpolated(image) : image
    }

    /// The sample at a pixel: rounded, halves up.
    package func sample(x: Int, y: Int) -> Int { (output[x, y] + 64) >> 7 }

    private static func halved(_ image: Image, _ count: Int, level: Int) -> Image {
        guard count > 3 else { return halvedByAverages(image) }
        let weights = halving[count] ?? []
        let before = (count - 1) / 2
        let first = [4: 0, 5: 0, 6: 1, 8: 2][count] ?? 0
        let later = [4: 2, 5: 3, 6: 3, 8: 4][count] ?? 0
        let columnSums = Image { x, y in symmetricSum(weights) { image[x, 2 * y - before + $0] } }
        return Image { x, y in
            symmetricSum(weights) { columnSums[2 * x - before + $0, y] } + (level == 0 ? first : later)
        }
    }

    /// 1 2 1, over 4.
    private static func halvedByAverages(_ image: Image) -> Image {
        func middle(_ before: Int, _ center: Int, _ after: Int) -> Int { mean(center, mean(before, after)) }
        let columnSums = Image { x, y in middle(image[x, 2 * y - 1], image[x, 2 * y], image[x, 2 * y + 1]) }
        return Image { x, y in middle(columnSums[2 * x - 1, y], columnSums[2 * x, y], columnSums[2 * x + 1, y]) }
    }

    private static func mean(_ a: Int, _ b: Int) -> Int { (a + b + 1) >> 1 }

    /// Pairs are summed, and each product is cut to a whole number.
    private static func symmetricSum(_ weights: [Int], _ value: (Int) -> Int) -> Int {
        let count = weights.count
        var sum = 0
        for k in 0..<count / 2 { sum += ((value(k) + value(count - 1 - k)) * weights[k]) >> 16 }
        // The centre counts as half of a pair with itself.
        if count % 2 == 1 { sum += (2 * value(count / 2) * (weights[count / 2] / 2)) >> 16 }
        return sum
    }

    private static func filtered(_ image: Image, _ horizontal: [Int], _ vertical: [Int]) -> Image {
        let columns = Image { x, y in fir(vertical) { image[x, y + $0] } }
        return Image { x, y in fir(horizontal) { columns[x + $0, y] } }
    }

    private static func fir(_ weights: [Int], _ value: (Int) -> Int) -> Int {
        let center = (value(0) * min(weights[0], 65535)) >> 16
        return weights.indices.dropFirst().reduce(center + weights.count / 2) {
            $0 + (((value($1) + value(-$1)) * weights[$1]) >> 16)
        }
    }

    private static func doubled(_ image: Image, _ count: Int) -> Image {
        let rows = Image { x, y in interpolated(count, isOdd: y & 1 == 1) { image[x, (y >> 1) + $0] } }
        return Image { x, y in interpolated(count, isOdd: x & 1 == 1) { rows[(x >> 1) + $0, y] } }
    }

    /// Two doublings by 3 taps, both along rows before both along columns.
    private static func interpolated(_ image: Image) -> Image {
        func doubledColumns(_ image: Image) -> Image {
            Image { x, y in interpolated(3, isOdd: x & 1 == 1) { image[(x >> 1) + $0, y] } }
        }
        func doubledRows(_ image: Image) -> Image {
            Image { x, y in interpolated(3, isOdd: y & 1 == 1) { image[x, (y >> 1) + $0] } }
        }
        return doubledRows(doubledRows(doubledColumns(doubledColumns(image))))
    }

    /// Odd outputs are even ones seen in a mirror.
    private static func interpolated(_ count: Int, isOdd: Bool, _ value: (Int) -> Int) -> Int {
        func at(_ distance: Int) -> Int { value(isOdd ? -distance : distance) }
        func part(_ distance: Int, _ weight: Int) -> Int { (at(distance) * weight) >> 16 }
        switch count {
        case 3: return isOdd ? mean(at(0), at(-1)) : at(0)
        case 4: return mean(at(0), mean(at(-1), at(0)))
        case 5 where isOdd: return mean(at(0), at(-1))
        case 5: return mean(at(0), mean(at(0), mean(at(-1), at(1))))
        case 6: return part(-1, 21504) + part(0, 38912) + part(1, 5120) + 1
        default: return part(-2, 1024) + part(-1, 21504) + part(0, 35840) + part(1, 7168) + 2
        }
    }
}
