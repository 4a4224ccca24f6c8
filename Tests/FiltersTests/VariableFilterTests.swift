import Catalogs
import Filters
import Foundation
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// The blur of changing radius against its definition in float64.
struct VariableFilterTests {
    private static let radii = [0.15, 0.28, 0.7, 1, 2.4, 6, 19]
    private static let rect = PixelRect(x: -5, y: 3, width: 37, height: 29)

    /// Every strength beside every other one.
    private static func mask(_ width: Int, _ height: Int, seed: UInt64 = 3) -> GrayPicture {
        var mask = GrayPicture(width: width, height: height)
        mask.paste(Pattern.noise.picture(PixelRect(x: 0, y: 0, width: width, height: height), .gray, .u16, seed: seed))
        return mask
    }

    private func filter(
        _ radius: Double, mask: GrayPicture?, _ values: [String: ParameterValue] = [:]
    ) throws -> any Filter {
        let registry = FilterRegistry(
            BuiltInFilters.all,
            pictures: PictureSource(
                picture: { _, _ in mask ?? Self.mask(1, 1) }, layer: { _, _ in throw UnreadableLayer() }))
        let picture = mask == nil ? [:] : ["mask": ParameterValue.picture(PictureReference(path: "/mask.png"))]
        return try registry.make("variable", values.merging(picture) { $1 }.merging(["radius": .number(radius)]) { $1 })
    }

    private func worst(
        _ radius: Double, _ picture: AnyRaster, mask: GrayPicture, edge: Edge = .clamp, light: Light = .encoded,
        _ values: [String: ParameterValue] = [:]
    ) throws -> Double {
        let more = ["edge": ParameterValue.word(edge.rawValue), "light": .word(light.rawValue)]
        let filter = try filter(radius, mask: mask, values.merging(more) { $0 != .word("expand") ? $1 : $0 })
        let output = filter.extent(of: picture.rect)
        let truth = TruePixels(picture, light: light, addsAlpha: filter.outputLayout(for: picture.layout).hasAlpha)
            .variable(edge: edge, output: output) {
                radius * trueStrength(of: mask, x: $0, y: $1, over: picture.rect)
            }
        return worstError(try filter.render(picture), truth, light: light)
    }

    @Test(arguments: radii, Pattern.allCases)
    func `every pattern, layout and format stays inside its bound`(radius: Double, pattern: Pattern) throws {
        for format in SampleFormat.allCases {
            for layout in PixelLayout.allCases {
                let picture = pattern.picture(Self.rect, layout, format)
                let error = try worst(radius, picture, mask: Self.mask(37, 29))
                #expect(error <= format.allowedVariableError, "\(layout) \(format)")
            }
        }
    }

    @Test(arguments: Edge.allCases, [0.6, 4, 40])
    func `every edge is exact, on pictures smaller than the halo too`(edge: Edge, radius: Double) throws {
        let sizes = [(1, 1), (1, 19), (23, 1), (31, 17)].map { PixelRect(x: -7, y: 3, width: $0.0, height: $0.1) }
        for rect in sizes {
            for format in SampleFormat.allCases {
                for layout in [PixelLayout.rgb, .grayAlpha] {
                    let picture = Pattern.binaryNoise.picture(rect, layout, format)
                    let error = try worst(radius, picture, mask: Self.mask(11, 9), edge: edge)
                    #expect(error <= format.allowedVariableError, "\(rect) \(layout) \(format)")
                }
            }
        }
    }

    @Test(arguments: [(1, 1), (5, 200), (300, 2), (74, 58)])
    func `a mask of any size is spread over the picture`(width: Int, height: Int) throws {
        let picture = Pattern.noise.picture(Self.rect, .rgb, .u16)
        #expect(try worst(8, picture, mask: Self.mask(width, height)) <= SampleFormat.u16.allowedVariableError)
    }

    @Test(arguments: SampleFormat.allCases, PixelLayout.allCases)
    func `linear light is filtered as light`(format: SampleFormat, layout: PixelLayout) throws {
        let picture = Pattern.noise.picture(Self.rect, layout, format)
        let error = try worst(5, picture, mask: Self.mask(37, 29), light: .linear)
        #expect(error <= 2.3 * format.allowedVariableError)
    }

    @Test func `an expanded picture grows by three radii, and fades out by the mask's border`() throws {
        let picture = Pattern.photograph.picture(PixelRect(x: 5, y: -3, width: 23, height: 11), .rgb, .u16)
        let grown = PixelRect(x: 5 - 8, y: -3 - 8, width: 23 + 16, height: 11 + 16)
        let values = ["extent": ParameterValue.word("expand"), "edge": .word("transparent")]
        #expect(try filter(2.5, mask: Self.mask(9, 9), values).extent(of: picture.rect) == grown)
        let error = try worst(2.5, picture, mask: Self.mask(9, 9), edge: .transparent, values)
        #expect(error <= SampleFormat.u16.allowedVariableError)
    }

    @Test func `what the mask leaves sharp keeps its bytes, what it blurs most has those of a Gaussian`() throws {
        var mask = GrayPicture(width: 37, height: 29)
        mask.paste(Pattern.steps.picture(PixelRect(x: 0, y: 0, width: 37, height: 29), .gray, .u8))
        for format in SampleFormat.allCases {
            let picture = Pattern.noise.picture(Self.rect, .rgb, format)
            let result = try filter(4, mask: mask).render(picture)
            let gaussian = try FilterRegistry.builtIn.make("gaussian", ["radius": .number(4)]).render(picture)
            for (index, y) in Self.rect.rows.enumerated() {
                for (column, x) in Self.rect.columns.enumerated() {
                    let pixel = PixelRect(x: x, y: y, width: 1, height: 1)
                    let isBlurred = mask.samples[index * 37 + column] > 0
                    let expected = (isBlurred ? gaussian : picture).cropped(to: pixel).doubles
                    for (found, wanted) in zip(result.cropped(to: pixel).doubles, expected) {
                        #expect(abs(found - wanted) <= (isBlurred && format == .u8 ? 1 : 0))
                    }
                }
            }
        }
    }

    @Test(arguments: ["tilt", "linear", "radial"], [0.0, 30, 90, -135])
    func `gradients grow as they are told`(shape: String, angle: Double) throws {
        let picture = Pattern.binaryNoise.picture(PixelRect(x: 2, y: -1, width: 60, height: 40), .gray, .u16)
        let values: [String: ParameterValue] = [
            "gradient": .word(shape), "angle": .number(angle), "x": .length(.percent(40)), "y": .length(.pixels(12.5)),
            "sharp": .length(.percent(8)), "falloff": .length(.pixels(17)),
        ]
        let (c, s) = (cos(angle * .pi / 180), sin(angle * .pi / 180))
        let along = shape == "radial" ? 40 : abs(c) * 60 + abs(s) * 40
        let truth = TruePixels(picture, light: .encoded).variable(edge: .clamp, output: picture.rect) { x, y in
            let (dx, dy) = (Double(x) + 0.5 - (2 + 0.4 * 60), Double(y) + 0.5 - (-1 + 12.5))
            let forward = dx * c - dy * s
            let distance: Double = shape == "tilt" ? abs(forward) : shape == "linear" ? forward : hypot(dx, dy)
            return 5 * trueStrength(at: distance, sharp: 0.08 * along, falloff: 17)
        }
        #expect(worstError(try filter(5, mask: nil, values).render(picture), truth) <= 8)
    }

    @Test func `no falloff is a hard border`() throws {
        let values: [String: ParameterValue] = ["falloff": .length(.pixels(0)), "sharp": .length(.pixels(10))]
        let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 20, height: 60), .rgb)
        let result = try filter(3, mask: nil, values).render(picture)
        let sharp = PixelRect(x: 0, y: 20, width: 20, height: 20)
        #expect(result.cropped(to: sharp) == picture.cropped(to: sharp))
        let above = PixelRect(x: 0, y: 19, width: 20, height: 1)
        #expect(result.cropped(to: above) != picture.cropped(to: above))
    }

    @Test func `a tile reads no farther than its own blur reaches`() throws {
        let input = PixelRect(x: 0, y: 0, width: 4000, height: 4000)
        let filter = try filter(100, mask: nil)
        let middle = PixelRect(x: 1000, y: 1900, width: 200, height: 200)
        #expect(filter.needed(for: middle, in: input) == middle)
        let top = PixelRect(x: 1000, y: 0, width: 200, height: 200)
        #expect(filter.needed(for: top, in: input) == top.expanded(by: filter.halo))
        let between = filter.needed(for: PixelRect(x: 1000, y: 1500, width: 200, height: 50), in: input)
        #expect(between.height > 50 && between.height < 50 + filter.halo.top)
    }

    @Test func `mask and gradient do not go together`() throws {
        #expect {
            try filter(3, mask: Self.mask(2, 2), ["gradient": .word("tilt")])
        } throws: {
            "\($0)" == "variable: 'mask' does not go with 'gradient'; leave one of them out"
        }
    }

    @Test func `a mask is gray, in the middle of its alpha`() {
        var mask = GrayPicture(width: 2, height: 1)
        let pixels: [UInt8] = [255, 255, 255, 128, 255, 0, 0, 255]
        mask.paste(.u8(Raster(rect: PixelRect(x: 0, y: 0, width: 2, height: 1), layout: .rgba, samples: pixels)))
        #expect(mask.samples == [128 * 257, 13933])
        mask.paste(
            .f32(Raster(rect: PixelRect(x: 0, y: 0, width: 2, height: 1), layout: .gray, samples: [.nan, 7])))
        #expect(mask.samples == [0, 65535])
    }
}

extension SampleFormat {
    /// A polynomial between Gaussians adds to their own errors.
    fileprivate var allowedVariableError: Double {
        switch self {
        case .u8: 1
        case .u16: 8
        case .f32: 1e-4
        }
    }
}
