import Catalogs
import Filters
import Geometry
import JobModel
import Kernels
import Raster
import Rendering
import TestSupport
import Testing

/// What filters that move pixels make of a few pixels, by hand.
struct GeometryFilterTests {
    /// 1 2 3
    /// 4 5 6
    private let picture = AnyRaster.u8(
        Raster(rect: PixelRect(x: 0, y: 0, width: 3, height: 2), layout: .gray, samples: [1, 2, 3, 4, 5, 6]))

    private func render(
        _ filter: String, _ values: [String: ParameterValue], of picture: AnyRaster? = nil
    ) throws -> (width: Int, samples: [UInt8], layout: PixelLayout) {
        let picture = picture ?? self.picture
        let chain = try Chain([FilterInvocation(filter: filter, values: values)], registry: .builtIn)
        let plan = chain.plan(input: picture.rect, layout: picture.layout)
        guard case .u8(let raster) = try chain.render(plan.output, from: picture) else { return (0, [], .gray) }
        return (raster.rect.width, raster.samples, raster.layout)
    }

    @Test func `flips mirror, and turns turn`() throws {
        #expect(try render("flip", ["axis": .word("horizontal")]).samples == [3, 2, 1, 6, 5, 4])
        #expect(try render("flip", ["axis": .word("vertical")]).samples == [4, 5, 6, 1, 2, 3])
        for (angle, width, samples) in [
            (ParameterValue.word("right"), 2, [4, 1, 5, 2, 6, 3] as [UInt8]), (.number(-90), 2, [4, 1, 5, 2, 6, 3]),
            (.word("left"), 2, [3, 6, 2, 5, 1, 4]), (.number(450), 2, [3, 6, 2, 5, 1, 4]),
            (.word("half"), 3, [6, 5, 4, 3, 2, 1]), (.number(180), 3, [6, 5, 4, 3, 2, 1]),
        ] {
            let turned = try render("rotate", ["angle": angle])
            #expect(turned.width == width && turned.samples == samples, "\(angle)")
        }
    }

    @Test func `a turn by a few degrees goes counter-clockwise`() throws {
        var samples = [UInt8](repeating: 0, count: 41 * 41)
        for x in 20..<41 { samples[20 * 41 + x] = 255 }  // a line from the centre to the right
        let line = AnyRaster.u8(
            Raster(rect: PixelRect(x: 0, y: 0, width: 41, height: 41), layout: .gray, samples: samples))
        let turned = try render(
            "rotate", ["angle": .number(30), "background": .color(red: 0, green: 0, blue: 0, alpha: 255)], of: line)
        let brightest = turned.samples.indices.filter { turned.samples[$0] > 100 }
        let middle = turned.width / 2
        #expect(brightest.contains { $0 / turned.width < middle - 5 && $0 % turned.width > middle + 5 })
        #expect(!brightest.contains { $0 / turned.width > middle + 2 })
    }

    @Test func `crop keeps what lies in both, in percent too`() throws {
        let length = { (value: Double) in ParameterValue.length(.pixels(value)) }
        #expect(
            try render("crop", ["x": length(1), "width": length(9), "height": .length(.percent(50))]).samples == [2, 3])
        let plan = try Chain(
            [FilterInvocation(filter: "crop", values: ["x": length(3)])], registry: .builtIn
        ).plan(input: picture.rect, layout: .gray)
        #expect(plan.output.isEmpty)
    }

    @Test func `flatten shows the background through`() throws {
        let glass = AnyRaster.u8(
            Raster(
                rect: PixelRect(x: 0, y: 0, width: 3, height: 1), layout: .grayAlpha,
                samples: [200, 255, 200, 0, 200, 51]))
        let black = ParameterValue.color(red: 0, green: 0, blue: 0, alpha: 255)
        let flat = try render("flatten", ["background": black], of: glass)
        #expect(flat.layout == .gray)
        #expect(flat.samples == [200, 0, 40])
        #expect(try render("flatten", [:], of: glass).samples == [200, 255, 244])
    }

    @Test func `bars surround what is padded`() throws {
        let size = try #require(SizeWish("5x4"))
        let padded = try render(
            "thumbnail",
            [
                "size": .size(size), "fit": .word("pad"),
                "background": .color(red: 9, green: 9, blue: 9, alpha: 255),
            ])
        #expect(padded.width == 5)
        #expect(padded.samples == [9, 9, 9, 9, 9, 9, 1, 2, 3, 9, 9, 4, 5, 6, 9, 9, 9, 9, 9, 9])
    }

    @Test func `a chain with nothing in it has a plan`() throws {
        for filter in ["resize", "thumbnail"] {
            let size = try #require(SizeWish("320"))
            let chain = try Chain(
                [
                    FilterInvocation(filter: "crop", values: ["x": .length(.pixels(1000))]),
                    FilterInvocation(filter: filter, values: ["size": .size(size)]),
                ], registry: .builtIn)
            #expect(chain.plan(input: picture.rect, layout: .gray).output.isEmpty)
        }
        let large = try #require(SizeWish("10000%"))
        let growing = try Chain(
            Array(repeating: FilterInvocation(filter: "resize", values: ["size": .size(large)]), count: 9),
            registry: .builtIn)
        #expect(growing.plan(input: picture.rect, layout: .rgba).output.width == 100_000_000)
    }
}
