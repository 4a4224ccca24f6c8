import Catalogs
import Manifests
import Testing

/// Numbers with a unit, where numbers stand alone: what is proposed means what was written.
@Suite struct UnitMessageTests {
    private static let catalog = Catalog(
        versions: [:],
        filters: [
            FilterDescriptor(
                name: "shade", kind: .area, summary: "Shades", renderingVersion: 1,
                parameters: [
                    ParameterDescriptor("radius", .number(minimum: 0, maximum: 1000), unit: "px", summary: "Radius"),
                    ParameterDescriptor("cells", .integer(minimum: 1, maximum: 100), unit: "px", summary: "Cells"),
                    ParameterDescriptor("x", .number(minimum: 0, maximum: 100), unit: "%", summary: "Of the width"),
                    ParameterDescriptor("angle", .number(minimum: 0, maximum: 360), unit: "°", summary: "Angle"),
                    ParameterDescriptor("amount", .number(minimum: 0, maximum: 10), summary: "A factor"),
                    ParameterDescriptor("quality", .integer(minimum: 1, maximum: 100), summary: "Without a unit"),
                    ParameterDescriptor(
                        "centre", .length(), fallback: .length(.percent(50)), summary: "Along the picture"),
                    ParameterDescriptor("reach", .distance, fallback: .length(.pixels(3)), summary: "How far"),
                ])
        ], formats: [.png])

    private func reading(_ parameters: String) -> Reading {
        .filter("shade: {\(parameters)}", catalog: Self.catalog)
    }

    @Test func `a number with its own unit is refused, and the number alone proposed`() {
        #expect(
            reading("radius: 12px").messages
                == """
                job.yaml:4:21: error: 'radius' needs a number, and '12px' is none
                4 |   - shade: {radius: 12px}
                  |                     ^^^^
                  = write 12, without a unit: it is in px
                """)
    }

    @Test func `percent of pixels are told as pixels`() {
        #expect(
            reading("radius: 30%").messages
                == """
                job.yaml:4:21: error: 'radius' needs a number, and '30%' is none
                4 |   - shade: {radius: 30%}
                  |                     ^^^
                  = write a number without a unit: it is in px, and 30% of 1000 px are 300
                """)
    }

    @Test(arguments: [
        ("x: 200px", "write a number without a unit: it is in %, and 200 px of 1000 px are 20"),
        ("x: 20%", "write 20, without a unit: it is in %"),
        ("x: 20 percent", "write 20, without a unit: it is in %"),
        ("cells: 2.5%", "write a number without a unit: it is in px, and 2.5% of 1000 px are 25"),
        ("cells: 8 pixels", "write 8, without a unit: it is in px"),
        ("angle: 90deg", "write 90, without a unit: it is in °"),
        ("angle: 90°", "write 90, without a unit: it is in °"),
        ("angle: 0.5rad", "write a number without a unit: it is in °, and 0.5 rad are 28.6479"),
        ("radius: 2cm", "write a number without a unit: it is in px"),
        ("amount: 150%", "write 1.5, without a unit: 150% are 1.5"), ("amount: 3x", "write 3, without a unit"),
        ("quality: 80%", "write 80, without a unit"),
    ])
    func `the remedy says what the unit is, and what the same value would be`(parameter: String, remedy: String) {
        #expect(reading(parameter).remedies == [remedy])
    }

    @Test func `a distance is not negative`() {
        #expect(
            reading("reach: -5%").messages
                == """
                job.yaml:4:20: error: 'reach' cannot be -5%
                4 |   - shade: {reach: -5%}
                  |                    ^^^
                  = write a value from 0 to 1000000000%
                """)
        #expect(reading("centre: -5%, reach: 0").messages == "")
    }

    @Test func `a length that may be meant in percent is worth a warning, unless its unit is written`() {
        #expect(
            reading("centre: 40").messages
                == """
                job.yaml:4:21: warning: 'centre: 40' is 40 px, not 40%
                4 |   - shade: {centre: 40}
                  |                     ^^
                  = write 40% if percent are meant, and 40px if pixels are
                """)
        for clear in ["40%", "40px", "0", "101", "-3"] { #expect(reading("centre: \(clear)").messages == "") }
    }
}
