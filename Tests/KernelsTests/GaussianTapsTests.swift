import Foundation
import Kernels
import Testing

/// The weights of a direct FIR.
struct GaussianTapsTests {
    @Test(arguments: [0.1, 0.3, 1, 2.7, 2.99])
    func `weights sum to 1 and fall like a Gaussian`(sigma: Double) {
        let weights = AxisDesign<Float>.floating(sigma: sigma).weights.map { Double($0) }
        #expect(abs(weights[0] + 2 * weights.dropFirst().reduce(0, +) - 1) < 1e-7)
        for (k, weight) in weights.enumerated() {
            let expected = weights[0] * exp(-Double(k * k) / (2 * sigma * sigma))
            #expect(abs(weight - expected) <= 1e-6 * expected)
        }
    }

    /// What lies beyond is missing, and what lies within is larger by as much.
    @Test(arguments: [0.2, 0.5, 1, 1.5, 2, 2.5, 2.9])
    func `weights reach as far as they must, and no farther`(sigma: Double) {
        let radius = AxisDesign<Float>.floating(sigma: sigma).radius
        let all = (0...20).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = all[0] + 2 * all.dropFirst().reduce(0, +)
        func error(_ radius: Int) -> Double { 2 * 2 * all.dropFirst(radius + 1).reduce(0, +) / sum }
        #expect(error(radius) < 1e-4)
        #expect(error(radius - 1) > 0.99e-4)
    }

    @Test(arguments: [0, .leastNonzeroMagnitude, 1e-200, 1e-9, 0.01])
    func `a blur that is too small to see is none`(sigma: Double) {
        #expect(AxisDesign<Float>.floating(sigma: sigma).weights == [1])
    }
}
