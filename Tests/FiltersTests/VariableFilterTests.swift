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

    /// Every strength from a half on beside every other one: all pixels spread fully.
    private static func evenMask(_ width: Int, _ height: Int) -> GrayPicture {
        let rect = PixelRect(x: 0, y: 0, width: width, height: height)
        let samples = Self.mask(width, height).samples.map { 32768 + $0 / 2 }
        var mask = GrayPicture(width: width, height: height)
        mask.paste(.u16(Raster(rect: rect, layout: .gray, samples: samples)))
        return mask
    }

    /// Full strength, but for a disc of strength 0.
    private static func disc(_ width: Int, _ height: Int, around center: (x: Int, y: Int), radius: Int) -> GrayPicture {
        let rect = PixelRect(x: 0, y: 0, width: width, height: height)
        let samples = rect.rows.flatMap { y in
            rect.columns.map { x in isInside(x, y, center, radius) ? UInt16(0) : 65535 }
        }
        var mask = GrayPicture(width: width, height: height)
        mask.paste(.u16(Raster(rect: rect, layout: .gray, samples: samples)))
        return mask
    }

    private static func isInside(_ x: Int, _ y: Int, _ center: (x: Int, y: Int), _ radius: Int) -> Bool {
        let (dx, dy) = (x - center.x, y - center.y)
        return dx * dx + dy * dy <= radius * radius
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
                let even = try worst(radius, picture, mask: Self.evenMask(37, 29))
                #expect(even <= format.allowedVariableError, "\(layout) \(format)")
                let error = try worst(radius, picture, mask: Self.mask(37, 29))
                #expect(error <= format.allowedBorderError, "\(layout) \(format)")
            }
        }
    }

    @Test(arguments: Edge.allCases, [0.6, 4, 40])
    func `every edge is exact, on pictures smaller than the halo too`(edge: Edge, radius: Double) throws {
        let sizes = [(1, 1), (1, 19), (23, 1), (31, 17)].map { PixelRect(x: -7, y: 3, width: $0.0, height: $0.1) }
        for rect in sizes {
            // Beyond a transparent edge, a finer mask goes on to its own border, and the truth has the strength of the last pixel.
            let (width, height) = (min(11, rect.width), min(9, rect.height))
            for format in SampleFormat.allCases {
                for layout in [PixelLayout.rgb, .grayAlpha] {
                    let picture = Pattern.binaryNoise.picture(rect, layout, format)
                    let even = try worst(radius, picture, mask: Self.evenMask(width, height), edge: edge)
                    #expect(even <= format.allowedVariableError, "\(rect) \(layout) \(format)")
                    let error = try worst(radius, picture, mask: Self.mask(width, height), edge: edge)
                    #expect(error <= format.allowedBorderError, "\(rect) \(layout) \(format)")
                }
            }
        }
    }

    @Test(arguments: [(1, 1), (5, 200), (300, 2), (74, 58)])
    func `a mask of any size is spread over the picture`(width: Int, height: Int) throws {
        let picture = Pattern.noise.picture(Self.rect, .rgb, .u16)
        #expect(try worst(8, picture, mask: Self.evenMask(width, height)) <= SampleFormat.u16.allowedVariableError)
        #expect(try worst(8, picture, mask: Self.mask(width, height)) <= SampleFormat.u16.allowedBorderError)
    }

    @Test(arguments: SampleFormat.allCases, PixelLayout.allCases)
    func `linear light is filtered as light`(format: SampleFormat, layout: PixelLayout) throws {
        let picture = Pattern.noise.picture(Self.rect, layout, format)
        let even = try worst(5, picture, mask: Self.evenMask(37, 29), light: .linear)
        #expect(even <= 2.3 * format.allowedVariableError)
        let error = try worst(5, picture, mask: Self.mask(37, 29), light: .linear)
        #expect(error <= 2.3 * format.allowedBorderError)
    }

    @Test func `an expanded picture grows by three radii, and fades out by the mask's border`() throws {
        let picture = Pattern.photograph.picture(PixelRect(x: 5, y: -3, width: 23, height: 11), .rgb, .u16)
        let grown = PixelRect(x: 5 - 8, y: -3 - 8, width: 23 + 16, height: 11 + 16)
        let values = ["extent": ParameterValue.word("expand"), "edge": .word("transparent")]
        #expect(try filter(2.5, mask: Self.mask(9, 9), values).extent(of: picture.rect) == grown)
        let even = try worst(2.5, picture, mask: Self.evenMask(9, 9), edge: .transparent, values)
        #expect(even <= SampleFormat.u16.allowedVariableError)
        let error = try worst(2.5, picture, mask: Self.mask(9, 9), edge: .transparent, values)
        #expect(error <= SampleFormat.u16.allowedBorderError)
    }

    @Test func `what the mask leaves sharp keeps its bytes, what it blurs far from there has those of a Gaussian`()
        throws
    {
        let rect = PixelRect(x: -5, y: 3, width: 300, height: 29)
        var mask = GrayPicture(width: 300, height: 29)
        mask.paste(
            .u8(
                Raster(
                    rect: PixelRect(x: 0, y: 0, width: 300, height: 29), layout: .gray,
                    samples: rect.rows.flatMap { _ in (0..<300).map { $0 < 60 ? UInt8(0) : 255 } })))
        for format in SampleFormat.allCases {
            let picture = Pattern.noise.picture(rect, .rgb, format)
            let result = try filter(4, mask: mask).render(picture)
            let gaussian = try FilterRegistry.builtIn.make("gaussian", ["radius": .number(4)]).render(picture)
            let sharp = PixelRect(x: -5, y: 3, width: 60, height: 29)
            #expect(result.cropped(to: sharp) == picture.cropped(to: sharp))
            // A Gaussian's reach, and the blocks that are computed alike.
            let far = PixelRect(x: -5 + 60 + 160, y: 3, width: 80, height: 29)
            for (found, wanted) in zip(result.cropped(to: far).doubles, gaussian.cropped(to: far).doubles) {
                #expect(abs(found - wanted) <= (format == .u8 ? 1 : 0))
            }
        }
    }

    @Test(arguments: SampleFormat.allCases, PixelLayout.allCases)
    func `the light of a sharp disc does not get into the blur around it`(
        format: SampleFormat, layout: PixelLayout
    ) throws {
        let rect = PixelRect(x: 7, y: -4, width: 90, height: 70)
        let mask = Self.disc(90, 70, around: (x: 40, y: 31), radius: 12)
        let full = format.full
        let dark = (full / 10).rounded()
        for light in Light.allCases {
            for radius in [0.8, 5, 30] {
                let picture = AnyRaster(rect, layout, format) { x, y, channel in
                    let isAlpha = layout.hasAlpha && channel == layout.channels - 1
                    let isBright = Self.isInside(x - rect.x, y - rect.y, (x: 40, y: 31), 12)
                    return isAlpha ? (full * 0.8).rounded() : isBright ? full : dark
                }
                let result = try filter(radius, mask: mask, ["light": .word(light.rawValue)]).render(picture)
                // Not the least bit of light beside the rim, and each sample of the disc as it was.
                let allowed = format == .f32 ? 2e-6 : 0
                let worst = zip(result.doubles, picture.doubles).reduce(0) { max($0, abs($1.0 - $1.1)) }
                #expect(worst <= allowed, "\(light), radius \(radius)")
            }
        }
    }

    @Test func `a mask with a soft border lets through less than a third of the light`() throws {
        // The disc ends where the mask has half of the full strength, and six pixels further the mask is white.
        let rect = PixelRect(x: 0, y: 0, width: 160, height: 40)
        var mask = GrayPicture(width: 160, height: 40)
        mask.paste(
            .u16(
                Raster(
                    rect: rect, layout: .gray,
                    samples: rect.rows.flatMap { _ in
                        (0..<160).map { UInt16(min(65535, max(0, Double($0 - 74) / 12 * 65535))) }
                    })))
        let picture = AnyRaster(rect, .gray, .u16) { x, _, _ in x < 80 ? 65535 : 0 }
        let result = try filter(20, mask: mask).render(picture).doubles
        let plain = try FilterRegistry.builtIn.make("gaussian", ["radius": .number(20)]).render(picture).doubles
        let row = 20 * 160
        for x in 86..<160 { #expect(result[row + x] <= 0.3 * plain[row + x] + 1, "column \(x)") }
        for x in 0..<74 { #expect(result[row + x] == 65535, "column \(x)") }
    }

    @Test(arguments: SampleFormat.allCases, PixelLayout.allCases)
    func `one colour stays that colour under every mask`(format: SampleFormat, layout: PixelLayout) throws {
        let masks = [
            Self.mask(31, 23), Self.evenMask(31, 23), Self.disc(31, 23, around: (x: 14, y: 9), radius: 6),
            Self.disc(31, 23, around: (x: 14, y: 9), radius: 0),
            // One blurred pixel among sharp ones.
            GrayPicture(Self.disc(31, 23, around: (x: 14, y: 9), radius: 0)) { 65535 - $0 },
        ]
        let rect = PixelRect(x: 3, y: 5, width: 31, height: 23)
        let colors = [0.9, 0.31, 0.07, 0.6].map { $0 * format.full }.map { format == .f32 ? $0 : $0.rounded() }
        let picture = AnyRaster(rect, layout, format) { _, _, channel in
            layout.hasAlpha && channel == layout.channels - 1 ? colors[3] : colors[channel]
        }
        for (index, mask) in masks.enumerated() {
            for edge in [Edge.clamp, .mirror, .wrap] {
                for radius in [0.9, 7, 120] {
                    let result = try filter(radius, mask: mask, ["edge": .word(edge.rawValue)]).render(picture)
                    let worst = zip(result.doubles, picture.doubles).reduce(0) { max($0, abs($1.0 - $1.1)) }
                    #expect(worst <= (format == .f32 ? 4e-6 : 0), "mask \(index), \(edge), radius \(radius)")
                }
            }
        }
    }

    @Test(arguments: Edge.allCases, [1.2, 7])
    func `tiles are the same pixels, where some of the blur is weighted and some is not`(
        edge: Edge, radius: Double
    ) throws {
        // Some blocks on each side of a hard border, so that some parts see nothing of it.
        let rect = PixelRect(x: -37, y: 21, width: 420, height: 170)
        let mask = GrayPicture(Self.disc(420, 170, around: (x: 60, y: 70), radius: 40)) { $0 == 0 ? 4000 : 64000 }
        for (layout, format) in [(PixelLayout.rgb, SampleFormat.u8), (.rgba, .u8), (.gray, .u16), (.rgb, .f32)] {
            let picture = Pattern.photograph.picture(rect, layout, format)
            let filter = try filter(radius, mask: mask, ["edge": .word(edge.rawValue)])
            let whole = try filter.render(picture)
            for tile in [
                PixelRect(x: -37, y: 21, width: 61, height: 50), PixelRect(x: 24, y: 71, width: 150, height: 33),
                PixelRect(x: 174, y: 60, width: 209, height: 131), PixelRect(x: 90, y: 100, width: 1, height: 1),
            ] {
                #expect(
                    try filter.render(picture, tile: tile) == whole.cropped(to: tile), "\(layout) \(format) \(tile)")
            }
        }
    }

    @Test func `what is infinite and stays sharp does not get into the blur`() throws {
        let rect = PixelRect(x: 0, y: 0, width: 50, height: 40)
        let mask = Self.disc(50, 40, around: (x: 20, y: 20), radius: 6)
        let picture = AnyRaster(rect, .rgb, .f32) { x, y, _ in
            Self.isInside(x, y, (x: 20, y: 20), 5) ? (x < 20 ? .infinity : .nan) : 0.25
        }
        let result = try filter(5, mask: mask).render(picture)
        for (index, value) in result.doubles.enumerated() {
            let (x, y) = (index / 3 % 50, index / 150)
            if Self.isInside(x, y, (x: 20, y: 20), 5) { continue }
            #expect(abs(value - 0.25) < 1e-6)
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
        // Where the strength grows from 0, nodes weigh pixels differently.
        let error = worstError(try filter(5, mask: nil, values).render(picture), truth)
        #expect(error <= 48)
    }

    @Test(arguments: [3.0, 20], SampleFormat.allCases)
    func `a channel without light stays so, however small alpha is`(radius: Double, format: SampleFormat) throws {
        let rect = PixelRect(x: 0, y: 0, width: 120, height: 50)
        let picture = AnyRaster(rect, .rgba, format) { x, _, channel in
            format.full * (channel == 0 ? 1 : channel == 3 ? Double(max(0, 100 - x)) / 400 : 0)
        }
        for mask in [Self.evenMask(9, 7), Self.mask(9, 7)] {
            let values = try filter(radius, mask: mask).render(picture).doubles
            #expect(values.enumerated().allSatisfy { $0.offset % 4 == 0 || $0.offset % 4 == 3 || $0.element == 0 })
            #expect(values.contains { $0 > 0 })
        }
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
    /// Polynomials go through Gaussians in which the same pixel has different weights, where strengths differ by more than a
    /// half.
    fileprivate var allowedBorderError: Double {
        switch self {
        case .u8: 1
        case .u16: 0.5 / 255 * 65535
        case .f32: 0.5 / 255
        }
    }

    /// A polynomial between Gaussians adds to their own errors.
    fileprivate var allowedVariableError: Double {
        switch self {
        case .u8: 1
        case .u16: 8
        case .f32: 1e-4
        }
    }
}

extension AnyRaster {
    fileprivate init(
        _ rect: PixelRect, _ layout: PixelLayout, _ format: SampleFormat,
        value: (_ x: Int, _ y: Int, _ channel: Int) -> Double
    ) {
        func raster<Sample: PixelSample>() -> Raster<Sample> {
            Raster(
                rect: rect, layout: layout,
                samples: rect.rows.flatMap { y in
                    rect.columns.flatMap { x in
                        (0..<layout.channels).map { Sample(rounding: value(x, y, $0)) }
                    }
                })
        }
        self =
            switch format {
            case .u8: .u8(raster())
            case .u16: .u16(raster())
            case .f32: .f32(raster())
            }
    }
}

extension GrayPicture {
    /// The same picture with other shades.
    fileprivate init(_ other: GrayPicture, shade: (UInt16) -> UInt16) {
        self.init(width: other.width, height: other.height)
        let rect = PixelRect(x: 0, y: 0, width: other.width, height: other.height)
        paste(.u16(Raster(rect: rect, layout: .gray, samples: other.samples.map(shade))))
    }
}
