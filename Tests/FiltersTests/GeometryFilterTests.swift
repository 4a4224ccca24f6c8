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

    /// The first column, and the first row, that `crop` keeps of 100 × 40 pixels from (7, -3) on.
    private func cropped(_ values: [String: ParameterValue]) throws -> PixelRect {
        try FilterRegistry.builtIn.make("crop", values).extent(of: PixelRect(x: 7, y: -3, width: 100, height: 40))
    }

    @Test func `a crop lies around its focal point, and stays in the picture`() throws {
        func length(_ value: Double) -> ParameterValue { .length(.pixels(value)) }
        let size = ["width": length(20), "height": length(10)]
        func crop(_ x: ParameterValue, _ y: ParameterValue) throws -> PixelRect {
            try cropped(size.merging(["focus_x": x, "focus_y": y]) { $1 })
        }
        #expect(try crop(length(30), length(25)) == PixelRect(x: 27, y: 17, width: 20, height: 10))
        #expect(
            try crop(.length(.percent(30)), .length(.percent(62.5))) == PixelRect(x: 27, y: 17, width: 20, height: 10))
        #expect(try crop(length(0), length(4)) == PixelRect(x: 7, y: -3, width: 20, height: 10))
        #expect(try crop(length(100), length(39)) == PixelRect(x: 87, y: 27, width: 20, height: 10))
        // One of the two: the other one is the middle.
        #expect(
            try cropped(size.merging(["focus_x": length(30)]) { $1 }) == PixelRect(x: 27, y: 12, width: 20, height: 10))
        // A rectangle that is larger than the picture is the picture.
        #expect(
            try cropped(["width": length(500), "height": length(10), "focus_y": length(40)])
                == PixelRect(x: 7, y: 27, width: 100, height: 10))
    }

    @Test(arguments: [(97, 41), (96, 40), (3, 200), (1, 1)])
    func `a thumbnail around the middle is that of no focal point`(width: Int, height: Int) throws {
        let picture = AnyRaster.u8(
            Raster(
                rect: PixelRect(x: 0, y: 0, width: width, height: height), layout: .gray,
                samples: (0..<width * height).map { UInt8(truncatingIfNeeded: $0 * 37) }))
        let usual: [String: ParameterValue] = [
            "size": .size(try #require(SizeWish("20x31"))), "fit": .word("cover"),
        ]
        let middle = ParameterValue.length(.percent(50))
        let around = usual.merging(["focus_x": middle, "focus_y": middle]) { $1 }
        #expect(try render("thumbnail", around, of: picture).samples == render("thumbnail", usual, of: picture).samples)
    }

    @Test func `a thumbnail keeps its focal point as near to its middle as the picture allows`() throws {
        /// Where the window of 20 × 20 pixels begins in a picture of 80 × 20 pixels, made of 160 × 40.
        func start(_ x: Length) throws -> Int {
            let focus: [String: ParameterValue] = [
                "size": .size(.box(20)), "fit": .word("cover"), "focus_x": .length(x), "focus_y": .length(.pixels(40)),
            ]
            let filter = try #require(try FilterRegistry.builtIn.make("thumbnail", focus) as? ThumbnailFilter)
            let needed = filter.needed(
                for: PixelRect(x: 10, y: 10, width: 1, height: 1), in: PixelRect(x: 0, y: 0, width: 160, height: 40))
            return (needed.x + needed.width / 2) / 2 - 10
        }
        #expect(try start(.pixels(0)) == 0)
        #expect(try start(.pixels(20)) == 0)
        #expect(try start(.pixels(60)) == 20)
        #expect(try start(.percent(50)) == 30)
        #expect(try start(.pixels(140)) == 60)
        #expect(try start(.percent(100)) == 60)
    }

    @Test func `a focal point outside of the picture is refused`() throws {
        func objection(_ filter: String, _ values: [String: ParameterValue]) throws -> String? {
            let chain = try Chain([FilterInvocation(filter: filter, values: values)], registry: .builtIn)
            return chain.objection(chain.plan(input: picture.rect, layout: .gray))
        }
        let outside = "'focus_x' and 'focus_y' name a place outside of 3 × 2 pixels"
        let width = ["width": ParameterValue.length(.pixels(1))]
        #expect(try objection("crop", width.merging(["focus_x": .length(.pixels(3))]) { $1 }) == nil)
        #expect(try objection("crop", width.merging(["focus_x": .length(.pixels(3.1))]) { $1 }) == outside)
        #expect(try objection("crop", width.merging(["focus_y": .length(.percent(101))]) { $1 }) == outside)
        let size: [String: ParameterValue] = ["size": .size(.box(1)), "focus_y": .length(.pixels(4))]
        #expect(try objection("thumbnail", size.merging(["fit": .word("cover")]) { $1 }) == outside)
        #expect(try objection("thumbnail", size) == nil)
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
