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

    package static let all = [
        gaussians, motions, averages, lenses, sharpenings, varying, sweeps, bilaterals, denoising, warps,
        colorings, fronts,
    ]
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

    static let lenses = KernelFamily(
        name: "lens blurs",
        cases: [0.7, 5, 33].flatMap { radius in
            let blades = Aperture.blades(.init(count: 5, curvature: 0.3, degrees: 11))
            let highlights = Highlights(threshold: 0.6, gain: 5)
            return Light.allCases.flatMap { light in
                [
                    KernelCase(name: "lens blur, radius \(radius), \(light)") {
                        LensBlur(radius: radius, aperture: blades, highlights: highlights).running(on: $0)
                            .render($1, depth: nil, light: light, into: &$2)
                    },
                    KernelCase(name: "lens blur, radius \(radius), with depths, \(light)") { level, source, result in
                        let layers = FocusLayers(radius: radius, focus: 0.4, range: 0.1, isWhiteNear: true)
                        LensBlur(radius: radius, aperture: .disc, highlights: highlights, layers: layers)
                            .running(on: level)
                            .render(
                                source, depth: DepthMap(slope, like: source), light: light, into: &result)
                    },
                ]
            }
        },
        hasOpaquePath: false)

    /// A depth picture with every shade.
    private static let slope: GrayPicture = {
        var picture = GrayPicture(width: 40, height: 3)
        let samples = (0..<120).map { UInt16($0 * 7919 % 120 * 546) }
        picture.paste(
            .u16(Raster(rect: PixelRect(x: 0, y: 0, width: 40, height: 3), layout: .gray, samples: samples)))
        return picture
    }()

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
        cases: Light.allCases.flatMap { light in
            [("", 100.0), (", with a hard border", 0)].map { name, falloff in
                KernelCase(name: "variable, radius 21, \(light)\(name)") { level, source, result in
                    let map = StrengthMap.gradient(
                        StrengthGradient(
                            shape: .radial, centerX: 60, centerY: 20, degrees: 0, sharp: 3, falloff: falloff))
                    Variable(radius: 21, map: map).running(on: level)
                        .render(
                            source, extent: result.rect, places: StrengthPlaces(clamping: result.rect, of: source),
                            light: light, into: &result)
                }
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
        cases: [(0.6, 0.2), (2, 0.1), (4.5, 0.03), (4.1, 0.2), (9, 0.1)].map { radius, range in
            KernelCase(name: "bilateral, radius \(radius), range \(range)") {
                Bilateral(radius: radius, range: range).running(on: $0).render($1, light: .encoded, into: &$2)
            }
        },
        hasOpaquePath: false)

    static let denoising = KernelFamily(
        name: "non-local means and guided filters",
        cases: [(0.05, 1, 3), (0.3, 3, 2)].map { strength, patch, search in
            KernelCase(name: "non-local means, strength \(strength), patch \(patch), search \(search)") {
                NonLocalMeans(strength: strength, patch: patch, search: search).running(on: $0)
                    .render($1, light: .encoded, into: &$2)
            }
        }
            + [1, 6].map { radius in
                KernelCase(name: "guided filter, radius \(radius)") {
                    GuidedSmoothing(radius: radius, strength: 0.1).running(on: $0)
                        .render($1, light: .encoded, within: nil, into: &$2)
                }
            },
        hasOpaquePath: false)

    static let colorings = KernelFamily(
        name: "filters of colour",
        cases: [
            recoloring(
                "levels", .channels(Levels(black: 0.1, white: 0.9, gamma: 1.4, darkest: 0, brightest: 1))),
            recoloring("hues", .colors(HueRotation(degrees: 77))),
            recoloring("a table of colours", twisted.function),
            recoloring("half of a table of colours", twisted.withStrength(0.5).function),
            recoloring(
                "tone mapping", .light(ToneMapping(.bt2390, exposure: 1, peak: 1000, target: 203))),
            recoloring(
                "tone mapping by Hable's curve", .light(ToneMapping(.hable, exposure: 2, peak: 400, target: 100))),
            recoloring(
                "tone mapping by Reinhard's curve", .light(ToneMapping(.reinhard, exposure: 2, peak: 900, target: 90))),
            localTones("shadows and highlights", .brightness(shadows: 0.7, highlights: -0.4)),
            localTones("clarity", .contrast(0.8)),
        ],
        hasOpaquePath: false)

    static let fronts = KernelFamily(
        name: "pictures in front", cases: BlendMode.allCases.map(inFront), hasOpaquePath: false)

    /// One picture between pixels, and copies of it.
    private static func inFront(_ mode: BlendMode) -> KernelCase {
        KernelCase(name: "picture in front, \(mode.rawValue)") { level, source, result in
            let place = (x: Double(result.rect.x) + 2.25, y: Double(result.rect.y) - 1.5)
            let period = (x: spots.rect.width + 2, y: spots.rect.height)
            let fronts = [
                Overlay.Front(spots, x: place.x, y: place.y, mode: mode),
                Overlay.Front(spots, x: 3, y: 2, repeatedBy: period, opacity: 0.8, mode: mode),
            ]
            Overlay(fronts).running(on: level).render(source, into: &result)
        }
    }

    /// Colours of all kinds, and every alpha.
    private static let spots: AnyRaster = {
        let rect = PixelRect(x: 0, y: 0, width: 23, height: 11)
        let samples = (0..<rect.area).flatMap { pixel -> [UInt8] in
            let (red, green, blue) = (pixel * 97 % 256, pixel * 61 % 256, pixel * 193 % 256)
            return [UInt8(red), UInt8(green), UInt8(blue), UInt8(min(255, pixel * 89 % 310))]
        }
        return .u8(Raster(rect: rect, layout: .rgba, samples: samples))
    }()

    private static func recoloring(_ name: String, _ function: Recoloring.Function) -> KernelCase {
        KernelCase(name: name) { level, source, result in
            Recoloring(function).running(on: level).render(source, within: nil, into: &result)
        }
    }

    private static func localTones(_ name: String, _ change: LocalTones.Change) -> KernelCase {
        KernelCase(name: name) { level, source, result in
            LocalTones(change, radius: 5).running(on: level)
                .render(source, light: .encoded, within: nil, into: &result)
        }
    }

    /// Colours that differ much from their places.
    private static let twisted: ColorCube = {
        let size = 5
        let points = (0..<size * size * size).map { index -> SIMD3<Float> in
            let (red, green, blue) = (index * 7919 % 101, index * 6101 % 97, index * 4421 % 89)
            return SIMD3<Float>(Float(red), Float(green), Float(blue)) / 100
        }
        return ColorCube(
            .colors, size: size, points: points, minimum: SIMD3(repeating: 0), maximum: SIMD3(repeating: 1))
    }()

    /// A picture is turned within its own rectangle; what lies outside is transparent, or not visible.
    static let warps = KernelFamily(
        name: "rotations and perspectives",
        cases: Warp.Kernel.allCases.flatMap { kernel in
            [3.3, 45, 171].map { (degrees: Double) in
                KernelCase(name: "rotation, \(degrees)°, \(kernel)") {
                    let center = $2.rect.center
                    let projection = Projection(degrees: degrees, center: center, pivot: center)
                    Warp(projection, kernel, within: $2.rect).running(on: $0).render($1, into: &$2)
                }
            } + [
                KernelCase(name: "perspective, \(kernel)") {
                    let rect = $2.rect
                    let (left, right) = (Double(rect.x), Double(rect.right))
                    let (top, bottom) = (Double(rect.y), Double(rect.bottom))
                    let (width, height) = (right - left, bottom - top)
                    guard
                        let projection = Projection(
                            rectangle: right, bottom,
                            to: [
                                (left + width / 4, top + height / 9), (right - width / 5, top + height / 7),
                                (right, bottom - height / 50), (left + width / 60, bottom - height / 20),
                            ])
                    else { preconditionFailure("four corners make a picture") }
                    Warp(projection, kernel).running(on: $0).render($1, into: &$2)
                }
            ]
        },
        hasOpaquePath: true)
}

extension DepthMap {
    /// Depths over the pixels of a source, with repeated edges.
    fileprivate init(_ picture: GrayPicture, like source: KernelSource) {
        self.init(picture, extent: source.raster.rect, columns: source.columns, rows: source.rows)
    }
}
