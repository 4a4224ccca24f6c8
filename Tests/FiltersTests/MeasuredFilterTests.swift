import Catalogs
import Filters
import Geometry
import JobModel
import Kernels
import Raster
import TestSupport
import Testing

/// Filters that depend on the pixels of the picture.
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
        let values: [String: ParameterValue] =
            filter == "gray-point" ? ["x": .length(.pixels(1)), "y": .length(.pixels(1))] : [:]
        return try FilterRegistry.builtIn.makeFilter(
            FilterInvocation(filter: filter, values: values), measurement: measurement)
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

    /// A yellowish gray, in the left half of a picture, beside red.
    private func cast(_ layout: PixelLayout, _ format: SampleFormat) -> AnyRaster {
        let rect = PixelRect(x: 0, y: 0, width: 40, height: 30)
        var picture = AnyRaster.filled(rect, layout, format, [0.9, 0.1, 0.1, 1])
        picture.paste(.filled(PixelRect(x: 0, y: 0, width: 20, height: 30), layout, format, [0.8, 0.7, 0.5, 1]))
        return picture
    }

    @Test(arguments: [PixelLayout.rgb, .rgba], SampleFormat.allCases)
    func `a place that should be gray becomes gray, as bright as before`(layout: PixelLayout, format: SampleFormat)
        throws
    {
        let picture = cast(layout, format)
        let values: [String: ParameterValue] = [
            "x": .length(.percent(25)), "y": .length(.pixels(15)), "radius": .number(4),
        ]
        let measured = try measurement("gray-point", values, of: picture)
        guard case .light(let light?) = measured else {
            Issue.record("no light")
            return
        }
        let wanted = picture.doubles[..<3].map { trueLinear($0 / format.full) }
        #expect(zip(light, wanted).allSatisfy { abs($0 - $1) < 1e-12 })
        let filter = try FilterRegistry.builtIn.makeFilter(
            FilterInvocation(filter: "gray-point", values: values), measurement: measured)
        let result = try filter.render(picture).doubles.map { $0 / format.full }
        let gray = trueEncoded(0.2126 * wanted[0] + 0.7152 * wanted[1] + 0.0722 * wanted[2])
        let step = format == .f32 ? 1e-6 : 0.51 / format.full
        #expect(result[..<3].allSatisfy { abs($0 - gray) <= step })
    }

    @Test func `the light around the place is a mean over the pixels that can be seen`() throws {
        let picture = cast(.rgb, .u8)
        func light(_ x: Length, _ y: Length, radius: Double, of picture: AnyRaster) throws -> [Double]? {
            let values: [String: ParameterValue] = ["x": .length(x), "y": .length(y), "radius": .number(radius)]
            guard case .light(let light) = try measurement("gray-point", values, of: picture) else { return [] }
            return light
        }
        // The disc lies half in both halves.
        let both = try #require(try light(.pixels(20), .pixels(15), radius: 5, of: picture))
        let halves = picture.doubles
        for channel in 0..<3 {
            let mean = (trueLinear(halves[channel] / 255) + trueLinear(halves[3 * 39 + channel] / 255)) / 2
            #expect(abs(both[channel] - mean) < 1e-9)
        }
        // One pixel, in the corner, and none.
        #expect(try light(.pixels(39.9), .pixels(29.9), radius: 0, of: picture) != nil)
        for place in [Length.pixels(-40), .pixels(41), .pixels(1e9), .percent(300)] {
            #expect(try light(place, .pixels(3), radius: 0, of: picture) == nil)
        }
        #expect(
            try light(.pixels(3), .pixels(3), radius: 2, of: .filled(picture.rect, .rgba, .u8, [0, 0, 0, 0])) == nil)
    }

    @Test func `a place without light is refused, and gray stays as it is`() throws {
        func failure(_ light: [Double]?) -> String? {
            do {
                _ = try make("gray-point", .light(light))
                return nil
            } catch { return "\(error)" }
        }
        #expect(
            failure(nil)
                == "gray-point: the place lies outside of the picture, or only transparent pixels are there; take another place"
        )
        #expect(
            failure([0.5, 0.5, 0])
                == "gray-point: one channel has no light at the place, and no factor makes it gray; take a brighter or less colourful place"
        )
        #expect(try make("gray-point", .light([0.2, 0.2, 0.2])).isIdentity)
        let gray = Pattern.noise.picture(PixelRect(x: 0, y: 0, width: 9, height: 7), .gray, .u8)
        #expect(try make("gray-point", .light([0.2, 0.3, 0.2])).render(gray) == gray)
        // A gray picture has no place that is not gray, also where it is black or transparent.
        for layout in [PixelLayout.gray, .grayAlpha] {
            let black = AnyRaster.filled(gray.rect, layout, .u8, [0, 0, 0, 0])
            let values: [String: ParameterValue] = ["x": .length(.pixels(99)), "y": .length(.pixels(1))]
            let measured = try measurement("gray-point", values, of: black)
            #expect(try make("gray-point", measured).isIdentity)
        }
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
            let values: [String: ParameterValue] =
                descriptor.name == "gray-point" ? ["x": .length(.pixels(0)), "y": .length(.pixels(0))] : [:]
            let invocation = FilterInvocation(filter: descriptor.name, values: values)
            return try registry.makeMeasure(invocation, of: dot, .rgb, .u8) != nil
        }
        #expect(measuring.map(\.name) == ["deskew", "gray-point", "trim"])
        #expect(measuring.map(\.measures) == [.angle, .light, .part])
        #expect(registry.descriptors.filter { $0.measures != nil }.map(\.name) == ["deskew", "gray-point", "trim"])
        let error = #expect(throws: FilterError.self) {
            try registry.makeMeasure(
                FilterInvocation(filter: "deskew", values: ["limit": .number(16)]), of: dot, .rgb, .u8)
        }
        #expect(error?.description == "deskew: 'limit' is 16.0, but must be in 1.0…15.0")
    }
}

extension AnyRaster {
    /// One colour, as shares of full intensity.
    fileprivate static func filled(
        _ rect: PixelRect, _ layout: PixelLayout, _ format: SampleFormat, _ color: [Double]
    ) -> AnyRaster {
        let pixel = Array(color[..<layout.removingAlpha.channels]) + (layout.hasAlpha ? [color[3]] : [])
        func samples<Sample: PixelSample>(_: Sample.Type) -> Raster<Sample> {
            let values = pixel.map { Sample(rounding: $0 * Sample.full) }
            return Raster(rect: rect, layout: layout, samples: (0..<rect.area).flatMap { _ in values })
        }
        return switch format {
        case .u8: .u8(samples(UInt8.self))
        case .u16: .u16(samples(UInt16.self))
        case .f32: .f32(samples(Float.self))
        }
    }
}
