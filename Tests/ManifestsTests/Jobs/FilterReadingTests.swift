import Catalogs
import JobModel
import Testing

/// How filters and their parameters are typed.
@Suite struct FilterReadingTests {
    private static let areaDefaults: [String: ParameterValue] = [
        "edge": .word("clamp"), "extent": .word("crop"), "light": .word("encoded"),
    ]

    @Test(arguments: ["gaussian", "gaussian: {}"])
    func `a filter without parameters has its fallbacks`(item: String) {
        #expect(Reading.filter(item).values == Self.areaDefaults.merging(["radius": .number(10)]) { $1 })
    }

    @Test func `parameters may stand in braces or on lines of their own`() {
        let inBraces = Reading.filter("gaussian: {radius: 3, edge: wrap}").values
        #expect(inBraces?["radius"] == .number(3))
        #expect(inBraces == Reading.filter("gaussian:\n      radius: 3\n      edge: wrap").values)
        #expect(inBraces == Reading.filter("\n    gaussian: {radius: 3, edge: wrap}").values)
    }

    @Test func `a synonym gives the parameter`() {
        #expect(Reading.filter("gaussian: {sigma: 3}").values?["radius"] == .number(3))
        #expect(Reading.filter("motion: {length: 30, samples: 9}").values?["radius"] == .number(15))
        #expect(Reading.filter("fill: {half_steps: 4}").values?["steps"] == .integer(2))
    }

    @Test func `a number may be given for each axis`() {
        #expect(Reading.filter("gaussian: {radius: {x: 12, y: 0.5}}").values?["radius"] == .pair(x: 12, y: 0.5))
        #expect(Reading.filter("gaussian: {sigma: {y: 1, x: 2}}").values?["radius"] == .pair(x: 2, y: 1))
    }

    @Test func `an integer's place may take a word`() {
        #expect(Reading.filter("motion: {samples: 12}").values?["samples"] == .integer(12))
        #expect(Reading.filter("motion: {samples: continuous}").values?["samples"] == .word("continuous"))
    }

    @Test func `expanding implies a transparent edge`() {
        #expect(Reading.filter("gaussian: {extent: expand}").values?["edge"] == .word("transparent"))
        #expect(Reading.filter("gaussian: {extent: expand, edge: transparent}").values?["edge"] == .word("transparent"))
        #expect(Reading.filter("gaussian: {extent: crop, edge: mirror}").values?["edge"] == .word("mirror"))
    }

    @Test func `a region has lengths in pixels and percent`() {
        let reading = Reading.filter("gaussian: {within: {x: 10%, y: -5, width: 200px, height: 50%, corner_radius: 8}}")
        #expect(
            reading.values?["within"]
                == .region(
                    Region(
                        x: .percent(10), y: .pixels(-5), width: .pixels(200), height: .percent(50),
                        cornerRadius: .pixels(8))))
        #expect(Reading.filter("gaussian").values?["within"] == nil)
    }

    @Test func `sizes, lengths, and numbers or words are typed`() {
        #expect(
            Reading.filter("place: {size: 320x, left: 10%, angle: left}").values
                == [
                    "size": .size(.sides(width: 320, height: nil)), "left": .length(.percent(10)),
                    "angle": .word("left"),
                ])
        #expect(
            Reading.filter("place: {size: 50%, angle: -30}").values
                == ["size": .size(.percent(50)), "left": .length(.pixels(0)), "angle": .number(-30)])
    }

    @Test func `texts, truth values, integers and colors are typed`() {
        #expect(
            Reading.filter("fill: {color: '#f00', opaque: false, label: 007, steps: 8}").values
                == [
                    "color": .color(red: 255, green: 0, blue: 0, alpha: 255), "opaque": .boolean(false),
                    "label": .text("007"), "steps": .integer(8),
                ])
    }

    @Test(arguments: ["motion", "motion: {angle: 3}", "motion: {radius: 20}", "motion: {radius: 200, samples: 50}"])
    func `enough samples, and samples by default, need no warning`(item: String) {
        #expect(Reading.filter(item).messages.isEmpty)
    }

    @Test func `a filter occurs as often as it is named`() {
        #expect(
            Reading.job("filters: [invert, gaussian, invert]").job?.chain.map(\.filter) == [
                "invert", "gaussian", "invert",
            ])
    }
}
