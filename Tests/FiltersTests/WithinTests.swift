import Catalogs
import Filters
import Geometry
import Kernels
import Raster
import TestSupport
import Testing

/// `within`: a filter that applies to a part of the picture.
struct WithinTests {
    private let rect = PixelRect(x: -4, y: 2, width: 47, height: 39)
    private let region = Region(
        x: .pixels(5.25), y: .percent(20), width: .percent(50), height: .pixels(17.5), cornerRadius: .pixels(6))

    /// The same region in pixels, from the words of the manifest.
    private var mask: RoundedRect {
        RoundedRect(left: -4 + 5.25, top: 2 + 0.2 * 39, width: 23.5, height: 17.5, cornerRadius: 6)
    }

    private func filter(_ values: [String: ParameterValue] = [:]) throws -> any Filter {
        try FilterRegistry.builtIn.make(
            "gaussian", ["radius": .number(3), "within": .region(region)].merging(values) { $1 })
    }

    @Test(arguments: SampleFormat.allCases, PixelLayout.allCases)
    func `covered pixels are filtered, others keep their bytes`(format: SampleFormat, layout: PixelLayout) throws {
        let picture = Pattern.noise.picture(rect, layout, format)
        let whole = try FilterRegistry.builtIn.make("gaussian", ["radius": .number(3)]).render(picture)
        let result = try filter().render(picture)
        for y in rect.rows {
            for x in rect.columns {
                let pixel = PixelRect(x: x, y: y, width: 1, height: 1)
                let coverage = mask.coverage(x: x, y: y)
                if coverage == 0 { #expect(result.cropped(to: pixel) == picture.cropped(to: pixel)) }
                if coverage == 1 { #expect(result.cropped(to: pixel) == whole.cropped(to: pixel)) }
            }
        }
    }

    @Test(arguments: SampleFormat.allCases, Light.allCases)
    func `partly covered pixels are blended by coverage`(format: SampleFormat, light: Light) throws {
        let picture = Pattern.noise.picture(rect, .rgba, format)
        let original = TruePixels(picture, light: light)
        let truth = original.gaussian(sigmaX: 3, sigmaY: 3, edge: .clamp, output: rect)
            .blended(over: original) { mask.coverage(x: $0, y: $1) }
        let result = try filter(["light": .word(light.rawValue)]).render(picture)
        #expect(worstError(result, truth, light: light) <= (light == .linear ? 2.3 : 1) * format.allowedError)
    }

    private static let family: [(String, ParameterValue)] = [
        ("box", .number(2.5)), ("disc", .number(3)), ("sharpen", .number(1.5)), ("median", .integer(1)),
        ("median", .integer(3)),
    ]

    @Test(arguments: family, SampleFormat.allCases)
    func `every filter of the family keeps what is not covered`(
        filter: (name: String, radius: ParameterValue), format: SampleFormat
    ) throws {
        let values = ["radius": filter.radius]
        for layout in [PixelLayout.gray, .rgba] {
            let picture = Pattern.noise.picture(rect, layout, format)
            let whole = try FilterRegistry.builtIn.make(filter.name, values).render(picture)
            let result = try FilterRegistry.builtIn
                .make(filter.name, values.merging(["within": .region(region)]) { $1 }).render(picture)
            for y in rect.rows {
                for x in rect.columns {
                    let pixel = PixelRect(x: x, y: y, width: 1, height: 1)
                    let coverage = mask.coverage(x: x, y: y)
                    if coverage == 0 { #expect(result.cropped(to: pixel) == picture.cropped(to: pixel)) }
                    if coverage == 1 { #expect(result.cropped(to: pixel) == whole.cropped(to: pixel)) }
                }
            }
        }
    }

    @Test func `an added alpha is full outside the region`() throws {
        let picture = Pattern.noise.picture(rect)
        let result = try filter(["edge": .word("transparent")]).render(picture)
        #expect(result.layout == .rgba)
        let corner = PixelRect(x: -4, y: 2, width: 1, height: 1)
        #expect(result.cropped(to: corner).doubles == picture.cropped(to: corner).doubles + [255])
    }

    @Test func `a tile outside the region reads itself and nothing more`() throws {
        let tile = PixelRect(x: -4, y: 2, width: 5, height: 39)
        #expect(try filter().regionOfInterest(for: tile, in: rect) == [tile])
    }

    @Test func `a region that reaches beyond the picture filters what is there`() throws {
        let everywhere = Region(x: .pixels(-900), y: .percent(-50), width: .pixels(3000), height: .percent(200))
        let picture = Pattern.noise.picture(rect, .rgba, .u16)
        let whole = try FilterRegistry.builtIn.make("gaussian", ["radius": .number(3)]).render(picture)
        #expect(try filter(["within": .region(everywhere)]).render(picture) == whole)
    }

    @Test func `half of the shorter side as corner radius makes a pill`() throws {
        let pill = Region(
            x: .pixels(0), y: .pixels(10), width: .pixels(40), height: .pixels(10), cornerRadius: .percent(50))
        #expect(RoundedRect(pill, in: rect).cornerRadius == 5)
    }
}
