import Catalogs
import Filters
import Foundation
import Geometry
import JobModel
import Kernels
import Raster
import Rendering
import TestSupport
import Testing

/// `light: linear` with the curves of a picture's profile: what a filter makes of a picture is what it makes of its light.
struct ProfileLightTests {
    /// What the definition of a colour space says of its channels, in float64.
    struct Space: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let curves: [ToneCurve]
        /// Of a stored value, 0–1 each, in a channel.
        let light: @Sendable (Double, Int) -> Double

        init(_ name: String, powers: [Double]) {
            testDescription = name
            curves = powers.map { .power(g: $0) }
            light = { value, channel in pow(value, powers[channel % powers.count]) }
        }

        init(_ name: String, _ curve: ToneCurve, light: @escaping @Sendable (Double) -> Double) {
            testDescription = name
            curves = [curve]
            self.light = { value, _ in light(value) }
        }

        static let proPhoto = Space("ProPhoto", powers: [1.8])
        static let adobeRGB = Space("Adobe RGB", powers: [563.0 / 256])
        static let display = Space("a display with three curves", powers: [1.9, 2.2, 2.4])
        static let displayP3 = Space("Display P3", .sRGB, light: trueLinear)
    }

    private static let rect = PixelRect(x: 0, y: 0, width: 61, height: 47)
    private static let linear: [String: ParameterValue] = ["light": .word("linear")]

    static let filters: [ChainCase] = [
        ChainCase("gaussian 1.2", [.gaussian(1.2)]), ChainCase("gaussian 6", [.gaussian(6)]),
        ChainCase("motion", [.motion(4, 30)]), ChainCase("motion along", [.motion(9, 0)]),
        ChainCase("box", [.family("box", .number(3.4))]), ChainCase("disc", [.family("disc", .number(4))]),
        ChainCase("median", [.family("median", .integer(2))]),
        ChainCase("bilateral", [.family("bilateral", .number(1.5))]),
        ChainCase("zoom", [FilterInvocation(filter: "zoom", values: ["amount": .number(40)])]),
        ChainCase("spin", [FilterInvocation(filter: "spin", values: ["angle": .number(30)])]),
        ChainCase("variable", [.variable(5, "tilt")]),
        ChainCase("resize", [.resize("17x", ["kernel": .word("box")])]),
    ]
    /// What goes beyond black and white is cut off where it is stored.
    static let overshooting: [ChainCase] = [
        ChainCase("thumbnail", [.thumbnail("17x")]), ChainCase("resize up", [.resize("90x")]),
        ChainCase("sharpen", [FilterInvocation(filter: "sharpen", values: ["radius": .number(2)])]),
        ChainCase("material", [FilterInvocation(filter: "material", values: ["radius": .number(3)])]),
    ]

    private func light(_ picture: AnyRaster, _ space: Space) -> [Double] {
        let (channels, hasAlpha, full) = (picture.layout.channels, picture.layout.hasAlpha, picture.format.full)
        let samples = picture.doubles.map { $0 / full }
        return samples.enumerated().map { index, value in
            let channel = index % channels
            guard hasAlpha else { return space.light(value, channel) }
            let alpha = samples[index / channels * channels + channels - 1]
            return channel == channels - 1 ? value : space.light(value, channel) * alpha
        }
    }

    /// The picture's light, stored as it is.
    private func linearized(_ picture: AnyRaster, _ space: Space) -> AnyRaster {
        let (channels, hasAlpha, full) = (picture.layout.channels, picture.layout.hasAlpha, picture.format.full)
        let samples = picture.doubles.enumerated().map { index, value in
            hasAlpha && index % channels == channels - 1
                ? Float(value / full) : Float(space.light(value / full, index % channels))
        }
        return .f32(Raster(rect: picture.rect, layout: picture.layout, samples: samples))
    }

    private func whole(_ chain: Chain, _ picture: AnyRaster) throws -> AnyRaster {
        try chain.render(chain.plan(input: picture.rect, layout: picture.layout).output, from: picture)
    }

    @Test(arguments: filters, [Space.proPhoto, .adobeRGB, .display, .displayP3])
    func `a filter averages the light of the profile`(chainCase: ChainCase, space: Space) throws {
        let encoded = try chainCase.make()
        let chain = try ChainCase("", chainCase.invocations.map { $0.adding(Self.linear) }).make()
        for (layout, format) in [
            (PixelLayout.rgb, SampleFormat.u8), (.rgba, .u8), (.gray, .u16), (.rgba, .u16), (.rgb, .f32),
        ] {
            let picture = Pattern.photograph.picture(Self.rect, layout, format)
            let result = try whole(chain.over(TransferCurve(space.curves)), picture)
            let truth = try whole(encoded, linearized(picture, space))
            let expected = light(truth, Space("stored as it is", powers: [1]))
            let errors = zip(light(result, space), expected).map { abs($0 - $1) * format.full }
            // Where the curve is steepest, at white, one step of the stored value is 2.4 of light.
            #expect((errors.max() ?? 1) <= 2.4 * format.allowedError, "\(layout) \(format)")
        }
    }

    @Test(arguments: filters + overshooting)
    func `tiles and streams of a profiled picture have the pixels of the whole`(chainCase: ChainCase) throws {
        let chain = try ChainCase("", chainCase.invocations.map { $0.adding(Self.linear) }).make()
            .over(TransferCurve(Space.display.curves))
        for (layout, format) in [(PixelLayout.rgb, SampleFormat.u8), (.rgba, .u16), (.rgba, .f32)] {
            let picture = Pattern.noise.picture(Self.rect, layout, format)
            let plan = chain.plan(input: picture.rect, layout: picture.layout)
            let expected = try chain.render(plan.output, from: picture)
            for tile in TileGrid(extent: plan.output, tileWidth: 19, tileHeight: 13).tiles {
                #expect(try chain.render(tile, from: picture).hasSameBytes(as: expected.cropped(to: tile)), "\(tile)")
            }
            guard plan.isRowLocal else { continue }
            var rows: AnyRaster? = picture
            let stream = chain.stream(plan, format: format, bandHeights: [11]) {
                defer { rows = nil }
                return rows
            }
            while let band = try stream() {
                #expect(band.hasSameBytes(as: expected.cropped(to: band.rect)))
            }
        }
    }

    /// The grays of materials are those of sRGB, in whatever space a picture is.
    @Test(arguments: [Space.proPhoto, .display, .displayP3])
    func `a material has the gray of sRGB over pictures of every space`(space: Space) throws {
        let styles: [(name: String, gray: Double)] = [("extra-light", 0.97), ("light", 1), ("dark", 0.11), ("tint", 1)]
        for (style, gray) in styles {
            let material = FilterInvocation(
                filter: "material", values: ["style": .word(style), "reduce_transparency": .boolean(true)])
            let chain = try Chain([material], registry: .builtIn).over(TransferCurve(space.curves))
            let picture = Pattern.noise.picture(Self.rect, .rgb, .f32)
            let result = light(try whole(chain, picture), space)
            #expect((result.map { abs($0 - trueLinear(gray)) }.max() ?? 1) < 1e-6, "\(style)")
        }
    }

    @Test func `a crossfade ends with what was filtered by the profile`() throws {
        let picture = Pattern.noise.picture(Self.rect, .rgb, .u8)
        let curve = TransferCurve(Space.proPhoto.curves)
        let blur = FilterInvocation.gaussian(3, Self.linear)
        let fade = FilterInvocation(
            filter: "crossfade", values: ["duration": .number(0.1), "fps": .number(30), "filters": .integer(1)])
        let last = try whole(Chain([blur, fade].showing(frame: 3), registry: .builtIn).over(curve), picture)
        #expect(last.hasSameBytes(as: try whole(Chain([blur], registry: .builtIn).over(curve), picture)))
    }
}

extension FilterInvocation {
    fileprivate func adding(_ values: [String: ParameterValue]) -> FilterInvocation {
        FilterInvocation(filter: filter, values: self.values.merging(values) { $1 })
    }
}
