import Catalogs
import Filters
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// The unsharp mask against its definition in float64.
struct SharpenFilterTests {
    private struct Setting {
        var radius = 1.0
        var amount = 1.0
        var threshold = 0.0
    }

    private func worst(
        _ setting: Setting, _ picture: AnyRaster, _ values: [String: ParameterValue] = [:], edge: Edge = .clamp,
        light: Light = .encoded
    ) throws -> Double {
        let all = values.merging([
            "radius": .number(setting.radius), "amount": .number(setting.amount),
            "threshold": .number(setting.threshold), "light": .word(light.rawValue),
        ]) { $1 }
        let filter = try FilterRegistry.builtIn.make("sharpen", all)
        let hasAlpha = filter.outputLayout(for: picture.layout).hasAlpha
        let full = picture.format.full
        let truth = TruePixels(picture, light: light, addsAlpha: hasAlpha).sharpened(
            sigma: setting.radius, amount: setting.amount, threshold: setting.threshold / 100 * full, edge: edge,
            output: filter.extent(of: picture.rect), full: picture.format == .f32 ? nil : full, hasAlpha: hasAlpha)
        return worstError(try filter.render(picture), truth, light: light)
    }

    /// The Gaussian's own error times the amount, and half a level for rounding. In 8 bits a quarter of a level is left
    /// of the former, since it is taken before it is rounded.
    private func bound(_ format: SampleFormat, _ amount: Double) -> Double {
        switch format {
        case .u8: 0.5 + 0.25 * amount
        case .u16: 0.5 + 8 * amount
        case .f32: 1e-4 * max(1, amount)
        }
    }

    @Test(arguments: [0.3, 1, 2.7, 5, 12, 40, 60], Pattern.allCases)
    func `every pattern, layout and format stays inside its bound`(radius: Double, pattern: Pattern) throws {
        for format in SampleFormat.allCases {
            for layout in PixelLayout.allCases {
                for amount in [0.5, 1, 4] {
                    let picture = pattern.picture(PixelRect(x: 0, y: 0, width: 37, height: 29), layout, format)
                    let error = try worst(Setting(radius: radius, amount: amount), picture)
                    #expect(error <= bound(format, amount), "\(layout) \(format) amount \(amount)")
                }
            }
        }
    }

    @Test(arguments: [1.0, 7], Edge.allCases)
    func `every edge is exact, on pictures smaller than the halo too`(radius: Double, edge: Edge) throws {
        let sizes = [PixelRect(x: 0, y: 0, width: 1, height: 1), PixelRect(x: -7, y: 3, width: 31, height: 17)]
        for rect in sizes {
            for format in SampleFormat.allCases {
                for layout in [PixelLayout.rgb, .grayAlpha] {
                    let picture = Pattern.binaryNoise.picture(rect, layout, format)
                    let error = try worst(
                        Setting(radius: radius), picture, ["edge": .word(edge.rawValue)], edge: edge)
                    #expect(error <= bound(format, 1), "\(rect) \(layout) \(format)")
                }
            }
        }
    }

    @Test(arguments: SampleFormat.allCases)
    func `differences below the threshold stay`(format: SampleFormat) throws {
        let picture = Pattern.photograph.picture(PixelRect(x: 0, y: 0, width: 47, height: 31), .rgb, format)
        for threshold in [1.0, 5, 30] {
            let setting = Setting(radius: 2, amount: 2, threshold: threshold)
            #expect(try worst(setting, picture) <= bound(format, 2))
        }
        let filter = try FilterRegistry.builtIn.make("sharpen", ["radius": .number(2), "threshold": .number(100)])
        #expect(try filter.render(picture) == picture)
    }

    @Test(arguments: SampleFormat.allCases)
    func `linear light is sharpened as light`(format: SampleFormat) throws {
        // In the shadows a step of light is many steps of what is stored, but here light is compared.
        let picture = Pattern.photograph.picture(PixelRect(x: 0, y: 0, width: 37, height: 29), .rgb, format)
        #expect(try worst(Setting(radius: 1.5), picture, light: .linear) <= 2.3 * bound(format, 1))
    }

    @Test func `an expanded picture grows as under the Gaussian`() throws {
        let rect = PixelRect(x: 5, y: -3, width: 23, height: 11)
        let filter = try FilterRegistry.builtIn.make("sharpen", ["radius": .number(1.5), "extent": .word("expand")])
        #expect(filter.extent(of: rect) == rect.expanded(by: Halo(horizontal: 5, vertical: 5)))
        let picture = Pattern.steps.picture(rect, .rgb, .u16)
        let error = try worst(Setting(radius: 1.5), picture, ["extent": .word("expand")], edge: .transparent)
        #expect(error <= bound(.u16, 1))
    }

    @Test func `an edge is made steeper, and no colour exceeds its alpha`() throws {
        let rect = PixelRect(x: 0, y: 0, width: 8, height: 1)
        let gray = AnyRaster.u8(Raster(rect: rect, layout: .gray, samples: [100, 100, 100, 100, 150, 150, 150, 150]))
        let result = try FilterRegistry.builtIn.make("sharpen").render(gray).doubles
        #expect(result[3] < 90 && result[4] > 160 && result[0] == 100 && result[7] == 150)
        let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 40, height: 9), .rgba)
        let sharp = try FilterRegistry.builtIn.make("sharpen", ["amount": .number(10)]).render(picture)
        #expect(sharp.doubles.allSatisfy { (0...255).contains($0) })
    }

    @Test(arguments: ["radius", "amount"])
    func `nothing to add is the identity`(name: String) throws {
        #expect(try FilterRegistry.builtIn.make("sharpen", [name: .number(0)]).isIdentity)
    }
}
