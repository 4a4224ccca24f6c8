import Catalogs
import Filters
import Geometry
import JobModel
import Raster
import Rendering
import TestSupport
import Testing

/// A picture of one colour stays of that colour, whatever its alpha is and whatever a filter does to that.
struct ConstantColorTests {
    private static let rect = PixelRect(x: 0, y: 0, width: 61, height: 47)
    /// Of full intensity.
    private static let color = 100.0 / 255

    enum Alpha: CaseIterable {
        case random
        case disc
        case gradient
        case singlePixels
        case full

        /// 0…1.
        func value(x: Int, y: Int, _ random: inout SplitMix64) -> Double {
            switch self {
            case .random: Double(random.next() % 1001) / 1000
            case .disc: (x - 30) * (x - 30) + (y - 23) * (y - 23) < 300 ? 1 : 0
            case .gradient: Double(x) / 60
            case .singlePixels: x % 9 == 4 && y % 7 == 3 ? 1 : 0
            case .full: 1
            }
        }
    }

    private static func picture(_ alpha: Alpha, _ layout: PixelLayout, _ format: SampleFormat) -> AnyRaster {
        var random = SplitMix64(seed: 7)
        let full = format.full
        var samples: [Double] = []
        for y in rect.rows {
            for x in rect.columns {
                let share = alpha.value(x: x, y: y, &random) * full
                let stored = format == .f32 ? share : share.rounded(.up)
                samples += Array(repeating: stored == 0 ? 0 : color * full, count: layout.channels - 1) + [stored]
            }
        }
        switch format {
        case .u8: return .u8(Raster(rect: rect, layout: layout, samples: samples.map { UInt8($0) }))
        case .u16: return .u16(Raster(rect: rect, layout: layout, samples: samples.map { UInt16($0) }))
        case .f32: return .f32(Raster(rect: rect, layout: layout, samples: samples.map { Float($0) }))
        }
    }

    /// Every filter that averages or interpolates, with values that keep every colour.
    private static let chains: [ChainCase] = [
        ChainCase("gaussian 1.3", [.gaussian(1.3)]),
        ChainCase("gaussian 7", [.gaussian(7)]),
        ChainCase("gaussian 7 in regions", [.gaussian(7, ["within": ChainCase.regions])]),
        ChainCase("gaussian 7 under a soft mask", [.gaussian(7, ["mask": ChainCase.mask, "feather": .number(2)])]),
        ChainCase("motion 9 under a mask", [.motion(9, 25, ["mask": ChainCase.mask])]),
        ChainCase("bilateral 2 under a mask", [.family("bilateral", .number(2), ["mask": ChainCase.mask])]),
        ChainCase("gaussian 3 expand", [.gaussian(3, ["extent": .word("expand")])]),
        ChainCase("motion 9", [.motion(9, 25)]),
        ChainCase("box 3.4", [.family("box", .number(3.4))]),
        ChainCase("disc 4", [.family("disc", .number(4))]),
        ChainCase("lens-blur 4", [.family("lens-blur", .number(4), ["blades": .integer(5)])]),
        ChainCase("lens-blur 5 with depths", [.family("lens-blur", .number(5), ["depth": ChainCase.mask])]),
        ChainCase("median 2", [.family("median", .integer(2))]),
        ChainCase("bilateral 2", [.family("bilateral", .number(2))]),
        ChainCase("guided 2", [.family("guided", .integer(2))]),
        ChainCase("guided 9 under a mask", [.family("guided", .integer(9), ["mask": ChainCase.mask])]),
        ChainCase(
            "non-local means",
            [FilterInvocation(filter: "non-local-means", values: ["patch": .integer(1), "search": .integer(3)])]),
        ChainCase("variable 6", [.variable(6, "linear")]),
        ChainCase(
            "variable 6 with a hard border", [.variable(6, "linear", ["falloff": .length(.pixels(0))])]),
        ChainCase("zoom 40", [.zoom(40)]),
        ChainCase("zoom -180", [.zoom(-180)]),
        ChainCase("zoom 200 off the centre", [.zoom(200, ["x": .length(.percent(0)), "y": .length(.pixels(2.5))])]),
        ChainCase("spin 20", [.spin(20)]),
        ChainCase("spin 75", [.spin(75)]),
        ChainCase("spin 240 expand", [.spin(240, ["extent": .word("expand")])]),
        ChainCase("spin 20 linear", [.spin(20, ["light": .word("linear")])]),
        ChainCase("sharpen 1", [.family("sharpen", .number(1))]),
        ChainCase(
            "white balance",
            [
                FilterInvocation(
                    filter: "white-balance", values: ["neutral": .color(red: 80, green: 80, blue: 80, alpha: 255)])
            ]),
        ChainCase("sharpen 1, 8 times", [.family("sharpen", .number(1), ["amount": .number(8)])]),
        ChainCase(
            "sharpen 2 from a threshold",
            [.family("sharpen", .number(2), ["amount": .number(3), "threshold": .number(12)])]),
        ChainCase(
            "sharpen 2 from a threshold in light",
            [.family("sharpen", .number(2), ["threshold": .number(9), "light": .word("linear")])]),
        ChainCase("material without a tint", [material(saturation: 1)]),
        ChainCase(
            "backdrop without paint",
            [
                .backdrop([:]).with([
                    "border_width": .number(0), "gloss": .number(0), "corner_radius": .length(.pixels(9)),
                ])
            ]),
        ChainCase("half of a crossfade", crossfade(.family("sharpen", .number(2), ["amount": .number(5)]))),
        ChainCase("half of a crossfade to a spin", crossfade(.spin(60))),
        ChainCase("sharpen 4 expand", [.family("sharpen", .number(4), ["extent": .word("expand")])]),
        ChainCase("thumbnail 23", [.thumbnail("23")]),
        ChainCase("resize 30x23", [.resize("30x23")]),
        ChainCase("resize 140x", [.resize("140x")]),
        ChainCase("resize 140x linear", [.resize("140x", ["light": .word("linear")])]),
        ChainCase("rotate 30°", [.rotate(.number(30))]),
        ChainCase("rotate 171.3°", [.rotate(.number(171.3))]),
        ChainCase("rotate 30°, then sharpen 2", [.rotate(.number(30)), .family("sharpen", .number(2))]),
    ]

    private static let saturated = ChainCase("material that saturates gray", [material(saturation: 1.4)])

    private static func material(saturation: Double) -> FilterInvocation {
        FilterInvocation(
            filter: "material",
            values: [
                "color": .color(red: 0, green: 0, blue: 0, alpha: 0), "radius": .number(3),
                "saturation": .number(saturation),
            ])
    }

    private static let paint = ParameterValue.color(red: 100, green: 100, blue: 100, alpha: 255)

    private static func crossfade(_ filter: FilterInvocation) -> [FilterInvocation] {
        [
            filter,
            FilterInvocation(
                filter: "crossfade",
                values: [
                    "duration": .number(0.2), "fps": .number(10), "curve": .word("linear"), "filters": .integer(1),
                ]),
        ].showing(frame: 1)
    }

    @Test(arguments: chains + [saturated], Alpha.allCases)
    func `one colour stays that colour wherever there is alpha`(chainCase: ChainCase, alpha: Alpha) throws {
        let chain = try chainCase.make()
        for format in SampleFormat.allCases {
            for layout in [PixelLayout.grayAlpha, .rgba] {
                let picture = Self.picture(alpha, layout, format)
                let plan = chain.plan(input: picture.rect, layout: layout)
                let result = try chain.render(plan.output, from: picture).doubles
                let worst = worst(result, layout, format)
                #expect(worst <= 1, "\(layout) \(format)")
            }
        }
    }

    @Test(arguments: chains + [saturated], Alpha.allCases)
    func `one colour in front of the same background stays that colour`(chainCase: ChainCase, alpha: Alpha) throws {
        let flatten = FilterInvocation(filter: "flatten", values: ["background": Self.paint])
        let chain = try Chain(chainCase.invocations + [flatten], registry: .withMask)
        for format in SampleFormat.allCases {
            for layout in [PixelLayout.grayAlpha, .rgba] {
                let picture = Self.picture(alpha, layout, format)
                let plan = chain.plan(input: picture.rect, layout: layout)
                let error = worstOpaque(try chain.render(plan.output, from: picture).doubles, format)
                #expect(error <= Self.composed(format) + (format == .f32 ? 1e-6 : 1.02 / format.full))
            }
        }
    }

    @Test(arguments: SampleFormat.allCases, [PixelLayout.gray, .rgb])
    func `an opaque picture that is turned in front of its own colour stays that colour`(
        format: SampleFormat, layout: PixelLayout
    ) throws {
        let picture = Self.opaque(layout, format)
        for angle in [30, 171.3, -4] {
            let chain = try Chain([.rotate(.number(angle), ["background": Self.paint])], registry: .builtIn)
            let plan = chain.plan(input: picture.rect, layout: layout)
            #expect(plan.outputLayout == layout)
            let error = worstOpaque(try chain.render(plan.output, from: picture).doubles, format)
            #expect(error <= (format == .f32 ? 1e-6 : 0.51 / format.full))
        }
    }

    private static func opaque(_ layout: PixelLayout, _ format: SampleFormat) -> AnyRaster {
        let value = color * format.full
        return switch format {
        case .u8: .u8(Raster(rect: rect, layout: layout, repeating: UInt8(value)))
        case .u16: .u16(Raster(rect: rect, layout: layout, repeating: UInt16(value)))
        case .f32: .f32(Raster(rect: rect, layout: layout, repeating: Float(value)))
        }
    }

    /// The worst difference from the colour where there is no alpha, of full intensity.
    private func worstOpaque(_ samples: [Double], _ format: SampleFormat) -> Double {
        samples.reduce(0) { worst, sample in
            let error = abs(sample / format.full - Self.color)
            return error <= worst ? worst : error  // NaN is the worst
        }
    }

    /// What a chain may be off by in what a viewer composes, of full intensity. Sharpening by 8 makes a blur's error 8 times
    /// as large.
    private static func composed(_ format: SampleFormat) -> Double {
        switch format {
        case .u8: 2.5 / 255
        case .u16: 40.0 / 65535
        case .f32: 1e-4
        }
    }

    /// The worst difference from the colour, as a share of what is allowed: rounding of the colour and, in what a viewer
    /// composes, of alpha and of the kernel.
    private func worst(_ samples: [Double], _ layout: PixelLayout, _ format: SampleFormat) -> Double {
        let full = format.full
        let composed = Self.composed(format)
        let rounding = format == .f32 ? 1e-6 : 0.51 / full
        var worst = 0.0
        for pixel in stride(from: 0, to: samples.count, by: layout.channels) {
            let alpha = samples[pixel + layout.channels - 1] / full
            guard alpha > 0 else { continue }
            for channel in pixel..<pixel + layout.channels - 1 {
                let error = abs(samples[channel] / full - Self.color)
                worst = max(worst, error / (rounding + composed / alpha))
            }
        }
        return worst
    }

    @Test(arguments: SampleFormat.allCases)
    func `no rim shows where a turned opaque picture ends`(format: SampleFormat) throws {
        let picture = Self.picture(.full, .rgba, format)
        let chain = try Chain([.rotate(.number(30))], registry: .builtIn)
        let plan = chain.plan(input: picture.rect, layout: .rgba)
        let result = try chain.render(plan.output, from: picture).doubles
        for pixel in stride(from: 0, to: result.count, by: 4) where result[pixel + 3] >= format.full {
            #expect(abs(result[pixel] / format.full - Self.color) <= 1e-6)
        }
    }

    @Test(arguments: chains)
    func `a colour of floats beyond 0 and 1 stays that colour`(chainCase: ChainCase) throws {
        let color: [Float] = [3, -1.25, 1.75]
        let chain = try chainCase.make()
        for layout in PixelLayout.allCases {
            let pixel = color.prefix(layout.removingAlpha.channels) + (layout.hasAlpha ? [1] : [])
            let samples = (0..<Self.rect.area).flatMap { _ in pixel }
            let picture = AnyRaster.f32(Raster(rect: Self.rect, layout: layout, samples: samples))
            let plan = chain.plan(input: picture.rect, layout: layout)
            let result = try chain.render(plan.output, from: picture).doubles
            let channels = plan.outputLayout.channels
            var worst = 0.0
            for start in stride(from: 0, to: result.count, by: channels) {
                let alpha = plan.outputLayout.hasAlpha ? result[start + channels - 1] : 1
                guard alpha > 0 else { continue }
                for channel in 0..<plan.outputLayout.removingAlpha.channels {
                    let error = abs(result[start + channel] - Double(color[channel]))
                    worst = max(worst, error / (1e-5 + 1e-3 / alpha))
                }
            }
            #expect(worst <= 1, "\(layout)")
        }
    }

    @Test func `a material draws colours of floats beyond 0 and 1`() throws {
        let picture = AnyRaster.f32(
            Raster(rect: Self.rect, layout: .rgb, samples: (0..<Self.rect.area).flatMap { _ in [1.5, 0.25, 0] }))
        let chain = try Chain([Self.material(saturation: 2)], registry: .builtIn)
        let result = try chain.render(Self.rect, from: picture).doubles
        let luma = 0.2126 * 1.5 + 0.7152 * 0.25
        for (channel, color) in [1.5, 0.25, 0].enumerated() {
            #expect(abs(result[channel] - (2 * color - luma)) <= 1e-5)
        }
    }

    @Test func `floats are never kept in a range by sharpening`() throws {
        let rect = PixelRect(x: 0, y: 0, width: 6, height: 1)
        let samples: [Float] = [0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1]
        let picture = AnyRaster.f32(Raster(rect: rect, layout: .grayAlpha, samples: samples))
        let chain = try Chain([.family("sharpen", .number(1), ["amount": .number(4)])], registry: .builtIn)
        let result = try chain.render(rect, from: picture).doubles
        #expect(result[4] < -0.5 && result[6] > 1.5)
        #expect(stride(from: 1, to: 12, by: 2).allSatisfy { abs(result[$0] - 1) < 1e-5 })
    }
}

extension FilterInvocation {
    /// With other values.
    fileprivate func with(_ others: [String: ParameterValue]) -> FilterInvocation {
        FilterInvocation(filter: filter, values: values.merging(others) { $1 })
    }
}
