import Arithmetic
import Foundation
import Kernels
import Testing

struct DeterministicMathTests {
    @Test func `decay agrees with the C library`() {
        for step in 0...70_000 {
            let x = -Double(step) / 100
            let expected = exp(x)
            #expect(abs(DeterministicMath.exp(x) - expected) <= 1e-14 * expected, "at \(x)")
        }
    }

    @Test func `decay is 1 at 0 and vanishes without a trap`() {
        #expect(DeterministicMath.exp(0) == 1)
        #expect(DeterministicMath.exp(-0.0) == 1)
        #expect(DeterministicMath.exp(-1e-300) == 1)
        #expect(DeterministicMath.exp(-709) == 0)
        #expect(DeterministicMath.exp(-.infinity) == 0)
    }

    @Test func `sine and cosine agree with the C library`() {
        for step in -36_000...36_000 {
            let degrees = Double(step) / 10
            let (s, c) = DeterministicMath.sinCos(degrees: degrees)
            let reduced = degrees.truncatingRemainder(dividingBy: 360) * .pi / 180
            #expect(abs(s - sin(reduced)) <= 1e-14, "at \(degrees)°")
            #expect(abs(c - cos(reduced)) <= 1e-14, "at \(degrees)°")
        }
    }

    @Test func `the arc sine agrees with the C library`() {
        for step in 0...100_000 {
            let x = Double(step) / 100_000
            #expect(abs(DeterministicMath.arcSine(x) - asin(x)) <= 1e-14, "at \(x)")
        }
    }

    private static let exact: [(Double, Double, Double)] = [
        (0, 0, 1), (90, 1, 0), (180, 0, -1), (270, -1, 0), (360, 0, 1), (-90, -1, 0), (3600, 0, 1), (-3510, 1, 0),
        (30, 0.5, 0.75.squareRoot()), (60, 0.75.squareRoot(), 0.5), (150, 0.5, -0.75.squareRoot()),
        (-30, -0.5, 0.75.squareRoot()), (45, 0.5.squareRoot(), 0.5.squareRoot()),
    ]

    @Test(arguments: exact)
    func `rational results are exact`(degrees: Double, sine: Double, cosine: Double) {
        let (s, c) = DeterministicMath.sinCos(degrees: degrees)
        #expect(s == sine)
        #expect(c == cosine)
        #expect(s.sign == .plus || s < 0, "no negative zero")
        #expect(c.sign == .plus || c < 0, "no negative zero")
    }

    /// Angles whose differences from 180° are exact.
    @Test(arguments: [0.5, 13, 17.25, 44.96875, 45, 61.75, 89.5])
    func `symmetric angles give the same bits`(degrees: Double) {
        let (s, c) = DeterministicMath.sinCos(degrees: degrees)
        #expect(DeterministicMath.sinCos(degrees: -degrees) == (-s, c))
        #expect(DeterministicMath.sinCos(degrees: 180 - degrees) == (s, -c))
        #expect(DeterministicMath.sinCos(degrees: 180 + degrees) == (-s, -c))
        #expect(DeterministicMath.sinCos(degrees: 90 - degrees) == (c, s))
    }

    @Test func `an angle without direction gives none`() {
        #expect(DeterministicMath.sinCos(degrees: .infinity).sin.isNaN)
        #expect(DeterministicMath.sinCos(degrees: .nan).cos.isNaN)
    }
}

struct SRGBCurveTests {
    @Test func `both ways agree with the definition`() {
        for step in 0...100_000 {
            let x = Double(step) / 50_000  // up to 2
            let linear = x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4)
            let encoded = x <= 0.0031308 ? x * 12.92 : 1.055 * pow(x, 1 / 2.4) - 0.055
            #expect(abs(SRGBCurve.decode(x) - linear) <= 1e-14 * linear)
            #expect(abs(SRGBCurve.encode(x) - encoded) <= 1e-14 * max(encoded, 1e-3))
        }
    }

    @Test(arguments: [1e-40, 0.002, 0.5, 3, 1e10, 1e38])
    func `negative values mirror positive ones, whatever their size`(x: Double) {
        #expect(SRGBCurve.decode(-x) == -SRGBCurve.decode(x))
        #expect(SRGBCurve.encode(-x) == -SRGBCurve.encode(x))
        #expect(abs(SRGBCurve.encode(SRGBCurve.decode(x)) - x) <= 1e-14 * x)
    }

    @Test func `infinities and NaN pass`() {
        #expect(SRGBCurve.decode(.infinity) == .infinity)
        #expect(SRGBCurve.encode(-.infinity) == -.infinity)
        #expect(SRGBCurve.decode(.nan).isNaN)
        #expect(SRGBCurve.encode(.nan).isNaN)
    }
}
