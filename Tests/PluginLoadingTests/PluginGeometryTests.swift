import Catalogs
import Filters
import Geometry
import PluginLoading
import Raster
import TestSupport
import Testing

/// What becomes of rectangles that a plugin answers.
struct PluginGeometryTests {
    private let rect = PixelRect(x: -3, y: 4, width: 29, height: 13)

    private func mirror(_ defines: [String], _ values: [String: ParameterValue] = [:]) throws -> any Filter {
        try PluginFixture.filter("mirror", values, defines)
    }

    /// What a plugin answers, and what is said of it. The output is 32 × 13.
    private static let faults: [(define: String, words: String)] = [
        (
            "EXTENT=input.width=0;",
            "its function 'extent' answers 0×13 at -3, 4 for 29×13 at -3, 4, and sides are 1…1000000 pixels long"
        ),
        (
            "EXTENT=input.height=1000001;",
            "its function 'extent' answers 32×1000001 at -3, 4 for 29×13 at -3, 4, and sides are 1…1000000 pixels long"
        ),
        (
            "EXTENT=input.x=10000001;",
            "its function 'extent' answers 32×13 at 10000001, 4 for 29×13 at -3, 4, and places lie within 10000000 "
                + "pixels of 0, 0"
        ),
        (
            "REGION=read.y=-10000001;",
            "its function 'region_of_interest' answers 32×13 at -6, -10000001 for 32×13 at -3, 4, and places lie within "
                + "10000000 pixels of 0, 0"
        ),
        (
            "REGION=read.width=-1;",
            "its function 'region_of_interest' answers -1×13 at -6, 4 for 32×13 at -3, 4, and no side is empty or over "
                + "32768 pixels longer"
        ),
        (
            "REGION=read.height=output.height+32769;",
            "its function 'region_of_interest' answers 32×32782 at -6, 4 for 32×13 at -3, 4, and no side is empty or over "
                + "32768 pixels longer"
        ),
    ]

    @Test(arguments: faults)
    func `an answer that the header forbids fails the picture, whoever asks first`(
        fault: (define: String, words: String)
    ) throws {
        let message = "mirror: \(fault.words); report this to its author"
        let planned = try mirror([fault.define])
        _ = planned.regionOfInterest(for: planned.extent(of: rect), in: rect)
        let planning = #expect(throws: FilterError.self) { try planned.checkGeometry() }
        #expect(planning?.description == message)
        let rendered = try mirror([fault.define])
        let rendering = #expect(throws: FilterError.self) { try rendered.render(Pattern.noise.picture(rect)) }
        #expect(rendering?.description == message)
        if case .fault = rendering?.problem { return }
        Issue.record("it is not laid to the plugin")
    }

    @Test func `each side has its own bound`() throws {
        let filter = try mirror(["REGION=read.height=output.height+32768;"])
        _ = filter.regionOfInterest(for: PixelRect(x: 0, y: 4, width: 3, height: 13), in: rect)
        try filter.checkGeometry()
    }

    @Test func `a part of an output that reads more than all of it is a fault, and no crash`() throws {
        let region = Region(x: .pixels(2), y: .pixels(2), width: .pixels(5), height: .pixels(5))
        let filter = try mirror(
            ["KEEPS_EXTENT", "REGION=if(output.width<20)read.x-=90;"], ["within": .region(region)])
        let error = #expect(throws: FilterError.self) { try filter.render(Pattern.noise.picture(rect)) }
        #expect(
            error?.description
                == "mirror: its function 'region_of_interest' answers 5×5 at -71, 6 for 5×5 at -1, 6, which is more than for "
                + "a larger output; report this to its author")
    }
}
