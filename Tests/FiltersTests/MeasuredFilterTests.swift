import Catalogs
import Filters
import Geometry
import JobModel
import Kernels
import Raster
import TestSupport
import Testing

/// Filters whose geometry depends on the pixels of the picture.
struct MeasuredFilterTests {
    private func measurement(
        _ filter: String, _ values: [String: ParameterValue] = [:], of picture: AnyRaster, in part: PixelRect? = nil
    ) throws -> Measurement {
        let invocation = FilterInvocation(filter: filter, values: values)
        let measure = try #require(
            try FilterRegistry.builtIn.makeMeasure(invocation, of: picture.rect, picture.layout, picture.format))
        measure.add(picture)
        return measure.measurement(of: part ?? picture.rect)
    }

    private func make(_ filter: String, _ measurement: Measurement?) throws -> any Filter {
        try FilterRegistry.builtIn.makeFilter(
            FilterInvocation(filter: filter, values: [:]), measurement: measurement)
    }

    /// White, with a dark rectangle.
    private func page(_ rect: PixelRect, _ content: PixelRect) -> AnyRaster {
        var page = AnyRaster.u8(Raster(rect: rect, layout: .gray, repeating: 250))
        page.paste(.u8(Raster(rect: content, layout: .gray, repeating: 30)))
        return page
    }

    @Test func `trim keeps what differs from the border, and a margin as far as there is one`() throws {
        let page = page(
            PixelRect(x: 0, y: 0, width: 50, height: 40), PixelRect(x: 10, y: 5, width: 20, height: 30))
        #expect(try measurement("trim", of: page) == .part(PixelRect(x: 10, y: 5, width: 20, height: 30)))
        #expect(
            try measurement("trim", ["margin": .length(.pixels(7))], of: page)
                == .part(PixelRect(x: 3, y: 0, width: 34, height: 40)))
        // Percents are those of the picture.
        #expect(
            try measurement("trim", ["margin": .length(.percent(10))], of: page)
                == .part(PixelRect(x: 5, y: 1, width: 30, height: 38)))
        #expect(try measurement("trim", ["margin": .length(.pixels(1e9))], of: page) == .part(nil))
        let red = ParameterValue.color(red: 255, green: 0, blue: 0, alpha: 255)
        #expect(try measurement("trim", ["color": red], of: page) == .part(nil))
        #expect(try measurement("trim", ["tolerance": .number(87)], of: page) == .part(nil))
    }

    @Test func `a picture of one colour stays whole`() throws {
        let rect = PixelRect(x: 0, y: 0, width: 9, height: 7)
        #expect(try measurement("trim", of: page(rect, rect)) == .part(nil))
        let filter = try make("trim", .part(nil))
        #expect(filter.isIdentity)
    }

    @Test func `a measured trim is a crop`() throws {
        let picture = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 50, height: 40), .rgba, .u16)
        let part = PixelRect(x: 10, y: 5, width: 20, height: 30)
        let filter = try make("trim", .part(part))
        #expect(try filter.render(picture) == picture.cropped(to: part))
        #expect(filter.copiesSamples)
    }

    @Test(arguments: [-3.4, 0.7, 6])
    func `deskew turns lines back`(degrees: Double) throws {
        let page = AnyRaster.u8(TextPage.picture(width: 431, height: 587, degrees: degrees))
        guard case .angle(let angle) = try measurement("deskew", of: page) else {
            Issue.record("no angle")
            return
        }
        #expect(abs(angle + degrees) <= 0.1)
        let level = try make("deskew", .angle(angle)).render(page)
        #expect(try measurement("deskew", of: level) == .angle(0))
    }

    @Test func `a measured deskew straightens, and a level page stays as it is`() throws {
        let picture = Pattern.photograph.picture(PixelRect(x: 0, y: 0, width: 60, height: 41), .rgb)
        let straightened = try FilterRegistry.builtIn.make("straighten", ["angle": .number(-1.25)])
        #expect(try make("deskew", .angle(-1.25)).render(picture) == straightened.render(picture))
        #expect(try make("deskew", .angle(0)).isIdentity)
    }

    @Test func `the angle is that of the part which an earlier filter keeps`() throws {
        let (left, right) = (
            AnyRaster.u8(TextPage.picture(width: 300, height: 400, degrees: 2)),
            AnyRaster.u8(TextPage.picture(width: 300, height: 400, degrees: -4))
        )
        var both = AnyRaster(zeroed: PixelRect(x: 0, y: 0, width: 600, height: 400), layout: .gray, format: .u8)
        both.paste(left)
        both.paste(right.translated(x: 300, y: 0))
        guard case .angle(let angle) = try measurement("deskew", of: both, in: left.rect) else {
            Issue.record("no angle")
            return
        }
        #expect(abs(angle + 2) <= 0.1)
    }

    @Test(arguments: [("trim", Measurement.angle(1)), ("deskew", .part(nil)), ("trim", nil)])
    func `without its measurement no filter is made`(filter: String, measurement: Measurement?) throws {
        let error = #expect(throws: FilterError.self) { try make(filter, measurement) }
        #expect(
            error?.description
                == "\(filter): measures the picture as it is in its file, and must be the first filter")
    }

    @Test func `only filters that need a measurement have a measure, with the same checks of values`() throws {
        let registry = FilterRegistry.builtIn
        let dot = PixelRect(x: 0, y: 0, width: 1, height: 1)
        let measuring = try registry.descriptors.filter { descriptor in
            try registry.makeMeasure(FilterInvocation(filter: descriptor.name, values: [:]), of: dot, .rgb, .u8) != nil
        }
        #expect(measuring.map(\.name) == ["deskew", "trim"])
        #expect(measuring.map(\.measures) == [.angle, .part])
        #expect(registry.descriptors.filter { $0.measures != nil }.map(\.name) == ["deskew", "trim"])
        let error = #expect(throws: FilterError.self) {
            try registry.makeMeasure(
                FilterInvocation(filter: "deskew", values: ["limit": .number(16)]), of: dot, .rgb, .u8)
        }
        #expect(error?.description == "deskew: 'limit' is 16.0, but must be in 1.0…15.0")
    }
}
