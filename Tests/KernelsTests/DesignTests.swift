import Testing

import Kernels

/// The designs' errors: what no picture can exceed.
struct DesignTests {
    /// A grid, and the radii around which something changes.
    private static let sigmas: [Double] =
        stride(from: 2.5, through: 11, by: 0.0625).map { $0 }
        + [2.999, 3.999, 4.999, 7.999, 12, 15, 18, 20, 31, 39.9, 40, 44, 48, 64, 79.9, 80, 100]

    @Test(arguments: sigmas)
    func `no picture is off by 1 of 255`(sigma: Double) {
        let design = AxisDesign<UInt16>.fixedPoint(sigma: sigma)
        let error = MultirateFit(exactSigma: sigma, prefilters: design.prefilters)
            .worstError(design.weights.map { Double($0) / 65536 })
        let bound = RoundingBound(prefilters: design.prefilters, radius: design.radius, kernelError: error)
        #expect(bound.worst < 1)
    }

    /// Too many phases to look at each: the last levels decide, as in the design itself.
    @Test(arguments: stride(from: 100.0, through: 1000, by: 12.5).map { $0 })
    func `nor at the largest radii`(sigma: Double) {
        let design = AxisDesign<UInt16>.fixedPoint(sigma: sigma)
        let error = MultirateFit(sigma: sigma, prefilters: design.prefilters)
            .worstError(design.weights.map { Double($0) / 65536 })
        let bound = RoundingBound(prefilters: design.prefilters, radius: design.radius, kernelError: error)
        #expect(bound.worst < 1)
    }

    @Test(arguments: stride(from: 0.05, to: 2.5, by: 0.05).map { $0 })
    func `nor by a direct FIR`(sigma: Double) {
        let design = AxisDesign<UInt16>.fixedPoint(sigma: sigma)
        #expect(design.prefilters.isEmpty)
        #expect(design.radius <= 9)
        let error = MultirateFit(exactSigma: sigma, prefilters: [])
            .worstError(design.weights.map { Double($0) / 65536 })
        #expect(RoundingBound(prefilters: [], radius: design.radius, kernelError: error).worst < 1)
    }

    @Test(
        arguments: [0.02, 0.3, 0.5, 1, 2, 2.99] + stride(from: 3.0, through: 7, by: 0.0625).map { $0 }
            + stride(from: 7.25, through: 28, by: 0.25).map { $0 }
            + [9.99, 11.99, 13.99, 27.99, 40, 51, 55.9, 56, 100, 333, 1000])
    func `kernels in single precision are off by less than 7 of 65535 and 1e-4 of 1`(sigma: Double) {
        let design = AxisDesign<Float>.floating(sigma: sigma)
        let error = MultirateFit(sigma: sigma, prefilters: design.prefilters)
            .worstError(design.weights.map { Double($0) })
        #expect(65535 * error < 7)
        #expect(error < 1e-4)
    }

    /// Their first levels are not fitted.
    @Test(arguments: [48.0, 56, 64, 80]) func `nor by more than the last four levels`(sigma: Double) {
        let design = AxisDesign<Float>.floating(sigma: sigma)
        #expect(design.prefilters.count > 4)
        let error = MultirateFit(exactSigma: sigma, prefilters: design.prefilters)
            .worstError(design.weights.map { Double($0) })
        #expect(error < 1e-4)
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
            #expect(AxisDesign<Float>.floating(sigma: sigma).radius <= 11)
        }
    }

    @Test func `a design that was forgotten is computed again, and is the same`() {
        let first = (AxisDesign<UInt16>.fixedPoint(sigma: 12.25), AxisDesign<Float>.floating(sigma: 12.25))
        for sigma in 5..<75 {
            _ = AxisDesign<UInt16>.fixedPoint(sigma: Double(sigma))
            _ = AxisDesign<Float>.floating(sigma: Double(sigma))
        }
        #expect(AxisDesign<UInt16>.fixedPoint(sigma: 12.25) == first.0)
        #expect(AxisDesign<Float>.floating(sigma: 12.25) == first.1)
    }

    @Test func `prefilters keep a flat image flat`() {
        for prefilter in [Prefilter.six, .binomial(3), .binomial(4), .binomial(5), .binomial(8), .binomial(10)] {
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
