import Testing

import Kernels

/// The designs' errors: what no picture can exceed.
struct DesignTests {
    /// All radii where something changes, and a grid between.
    private static let sigmas: [Double] =
        stride(from: 2.5, through: 10.5, by: 0.0625).map { $0 } + [2.999, 3.999, 4.999, 7.999, 12, 15, 18, 20, 31, 39.9]

    /// An error kernel whose sum is 0 moves a sample of 0…255 by at most half its absolute sum times 255; both axes
    /// together by the whole. What remains of 1 is for rounding to a sample (½) and for fixed point.
    @Test(arguments: sigmas)
    func `no picture is off by more than 1 of 255`(sigma: Double) {
        let design = AxisDesign<UInt16>.fixedPoint(sigma: sigma)
        let error = MultirateFit(exactSigma: sigma, prefilters: design.prefilters)
            .worstError(design.weights.map { Double($0) / 65536 })
        #expect(0.5 + 255 * error + FixedPointNoise.bound(levels: design.prefilters.count, radius: design.radius) < 1)
    }

    @Test(arguments: stride(from: 0.05, to: 2.5, by: 0.05).map { $0 })
    func `nor by a direct FIR`(sigma: Double) {
        let design = AxisDesign<UInt16>.fixedPoint(sigma: sigma)
        #expect(design.prefilters.isEmpty)
        #expect(design.radius <= FixedDirect.largestRadius)
        let error = MultirateFit(exactSigma: sigma, prefilters: [])
            .worstError(design.weights.map { Double($0) / 65536 })
        #expect(0.5 + 255 * error + FixedPointNoise.bound(levels: 0, radius: design.radius) < 1)
    }

    @Test(arguments: [3.25, 3.5, 4, 5, 6.49, 6.5, 8, 12.9, 13, 20, 25.9])
    func `single precision is off by less than 8 of 65535 and 1e-4 of 1`(sigma: Double) {
        let design = AxisDesign<Float>.floating(sigma: sigma)
        let error = MultirateFit(exactSigma: sigma, prefilters: design.prefilters)
            .worstError(design.weights.map { Double($0) })
        #expect(0.5 + 65535 * error < 4)
        #expect(error < 5e-5)
    }

    @Test(arguments: [0.4, 1, 2.5, 2.75, 5, 11, 100, 1000])
    func `weights of 16 bits sum to 1 and are no shorter than they need be`(sigma: Double) {
        let weights = AxisDesign<UInt16>.fixedPoint(sigma: sigma).weights.map { Int($0) }
        #expect(weights[0] + 2 * weights.dropFirst().reduce(0, +) == 65536)
        #expect(weights.last != 0)
    }

    @Test func `the cost of a pixel does not grow with the radius`() {
        for sigma in stride(from: 5.0, through: 1000, by: 7) {
            #expect(AxisDesign<UInt16>.fixedPoint(sigma: sigma).radius <= 8)
            #expect(AxisDesign<Float>.floating(sigma: sigma).radius <= 14)
        }
    }

    @Test func `prefilters keep a flat image flat`() {
        for prefilter in [Prefilter.six, .binomial(4), .binomial(5), .binomial(8), .binomial(12)] {
            let even = prefilter.taps.enumerated().filter { $0.offset % 2 == 0 }.map(\.element).reduce(0, +)
            #expect(even == 0.5)
            #expect(prefilter.taps.reduce(0, +) == 1)
        }
        #expect(Prefilter.binomial(5).taps == [1.0, 4, 6, 4, 1].map { $0 / 16 })
        #expect(Prefilter.binomial(8).taps == [1.0, 7, 21, 35, 35, 21, 7, 1].map { $0 / 128 })
        #expect(Prefilter.binomial(5).variance == 1)
    }

    @Test func `a chain reads as far as its reach says, and no farther`() {
        for sigma in [1.0, 2.5, 4, 10, 40] {
            let design = AxisDesign<UInt16>.fixedPoint(sigma: sigma)
            for x in -50..<50 {
                let needed = design.needed(x..<x + 1)
                #expect(x - needed.lowerBound <= design.reach && needed.upperBound - 1 - x <= design.reach)
            }
        }
    }

    @Test func `a linear system is solved`() {
        let solution = LinearSystem.solve([[0, 2, 1], [4, 1, 0], [1, 0, 3]], [7, 6, 10])
        for (actual, expected) in zip(solution, [1.0, 2, 3]) { #expect(abs(actual - expected) < 1e-12) }
    }
}

/// The rounding errors of fixed point, in samples; docs/arithmetic.md derives them.
///
/// Each cut product lies in 0…1 unit of 1/128 below the true one and half a unit is added for it, so each is off by at
/// most ½ unit; what is halved, filtered and doubled passes on at full weight.
private enum FixedPointNoise {
    static func bound(levels: Int, radius: Int) -> Double {
        // Expected size, not the sum of all worst cases: errors of different samples are independent, and every later
        // stage averages over many. Three standard deviations of a uniform error per product.
        let products = Double(2 * (radius + 1) + 8 * min(levels, 3))
        return 3 * (products / 12).squareRoot() / 128
    }
}
