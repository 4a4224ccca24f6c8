import Catalogs
import Geometry
package import Kernels
package import Raster

/// A kernel with its parameters, on which the CPU levels and the architectures are compared.
///
/// This module needs no Foundation, so that `Scripts/test-arm64` can compile it for a processor without one.
package struct KernelCase: Sendable {
    package let name: String
    package let render: @Sendable (CPULevel, KernelSource, inout AnyRaster) -> Void
}

/// Cases of similar kernels.
package struct KernelFamily: Sendable, CustomStringConvertible {
    package let name: String
    package let cases: [KernelCase]
    /// Kernels that have a shorter path for opaque pictures get one, too.
    package let hasOpaquePath: Bool

    package var description: String { name }

    package static let all = [gaussians, motions, averages, sharpenings, varying, sweeps, bilaterals]
}

extension KernelFamily {
    static let gaussians = KernelFamily(
        name: "Gaussians",
        cases: [0.4, 1, 1.9, 2.4, 2.5, 3.1, 4.4, 5, 9, 21, 30, 49].flatMap { sigma in
            Light.allCases.map { light in
                KernelCase(name: "gaussian, sigma \(sigma), \(light)") {
                    Gaussian(sigmaX: sigma, sigmaY: sigma).running(on: $0).render($1, light: light, into: &$2)
                }
            }
        } + [
            KernelCase(name: "gaussian, sigmas 30 and 0.7") {
                Gaussian(sigmaX: 30, sigmaY: 0.7).running(on: $0).render($1, light: .encoded, into: &$2)
            }
        ],
        hasOpaquePath: true)

    static let motions = KernelFamily(
        name: "motions",
        cases: [(5.0, 30.0), (20, 0), (33, 90), (90, 11), (40, -33), (31, 63), (20, 45)].flatMap { radius, degrees in
            [("5 samples", MotionTaps.Sampling.samples(5)), ("continuous", .continuous)].map { words, sampling in
                KernelCase(name: "motion, radius \(radius), \(degrees)°, \(words)") {
                    Motion(.init(radius: radius, degrees: degrees), sampling).running(on: $0)
                        .render($1, light: .encoded, into: &$2)
                }
            }
        },
        hasOpaquePath: false)

    static let averages = KernelFamily(
        name: "boxes and discs",
        cases: [0.4, 1, 3, 7.3, 130].flatMap { radius in
            Light.allCases.flatMap { light in
                [
                    KernelCase(name: "box, radius \(radius), \(light)") {
                        Box(radiusX: radius, radiusY: radius / 2).running(on: $0).render($1, light: light, into: &$2)
                    },
                    KernelCase(name: "disc, radius \(radius), \(light)") {
                        Disc(radius: min(radius, 60)).running(on: $0).render($1, light: light, into: &$2)
                    },
                ]
            }
        },
        hasOpaquePath: false)

    static let sharpenings = KernelFamily(
        name: "sharpenings and medians",
        cases: [1, 2, 5].flatMap { radius in
            [
                KernelCase(name: "sharpen, sigma \(radius)") {
                    Sharpening(sigma: Double(radius), amount: 1.7, threshold: 0.02).running(on: $0)
                        .render($1, light: .encoded, into: &$2)
                },
                KernelCase(name: "median, radius \(radius)") {
                    Median(radius: radius).running(on: $0).render($1, light: .encoded, into: &$2)
                },
            ]
        },
        hasOpaquePath: true)

    static let varying = KernelFamily(
        name: "Gaussians whose radius changes",
        cases: Light.allCases.map { light in
            KernelCase(name: "variable, radius 21, \(light)") { level, source, result in
                let map = StrengthMap.gradient(
                    StrengthGradient(shape: .radial, centerX: 60, centerY: 20, degrees: 0, sharp: 3, falloff: 100))
                Variable(radius: 21, map: map).running(on: level)
                    .render(source, extent: result.rect, light: light, into: &result)
            }
        },
        hasOpaquePath: false)

    static let sweeps = KernelFamily(
        name: "zooms and spins",
        cases: Light.allCases.flatMap { light in
            let center = SweepCenter(x: 90.3, y: 31)
            let zooms = [-1.4, 0.15, 0.9].map { amount in
                KernelCase(name: "zoom, \(amount), \(light)") {
                    Zoom(amount: amount, center: center, extent: $2.rect).running(on: $0)
                        .render($1, light: light, into: &$2)
                }
            }
            let spins = [4, 77, 360].map { (degrees: Double) in
                KernelCase(name: "spin, \(degrees)°, \(light)") {
                    Spin(degrees: degrees, center: center).running(on: $0).render($1, light: light, into: &$2)
                }
            }
            return zooms + spins
        },
        hasOpaquePath: false)

    static let bilaterals = KernelFamily(
        name: "bilateral filters",
        cases: [(0.6, 0.2), (2, 0.1), (4.5, 0.03)].map { radius, range in
            KernelCase(name: "bilateral, radius \(radius), range \(range)") {
                Bilateral(radius: radius, range: range).running(on: $0).render($1, light: .encoded, into: &$2)
            }
        },
        hasOpaquePath: false)
}
