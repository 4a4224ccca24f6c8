import Foundation
import Kernels
import Testing

struct GaussianTapsTests {
    @Test(arguments: [0.1, 0.3, 1, 2.7, 5, 12, 40, 1000])
    func `weights sum to 1 and fall like a Gaussian`(sigma: Double) {
        let half = SymmetricTaps.gaussian(sigma: sigma).half
        #expect(abs(half[0] + 2 * half.dropFirst().reduce(0, +) - 1) < 1e-14)
        for (k, weight) in half.enumerated() {
            let expected = half[0] * exp(-Double(k * k) / (2 * sigma * sigma))
            #expect(abs(weight - expected) <= 1e-13 * expected)
        }
    }

    @Test(arguments: [(0, 0), (1, 5), (2, 9), (10, 43), (12, 51), (1000, 4250)])
    func `the reach is four and a quarter standard deviations, rounded up`(sigma: Double, radius: Int) {
        #expect(SymmetricTaps.gaussian(sigma: sigma).radius == radius)
    }

    @Test(arguments: [.leastNonzeroMagnitude, 1e-200, 1e-9, 0.01])
    func `a blur that is too small to see is none`(sigma: Double) {
        #expect(SymmetricTaps.gaussian(sigma: sigma) == SymmetricTaps(half: [1]))
    }
}
