public import FilterKit

/// `halftone`: a picture of dots, as printing presses make it: one screen of black, or four of cyan, magenta, yellow and
/// black.
///
/// The plane is cut into square cells that hang on the whole picture's coordinates. Each cell has one dot, whose area is
/// the mean of the picture in that cell; its border is one pixel wide at full `sharpness`, and as wide as the cell at
/// none. A line is as wide as that in the middle of each cell, and grows or shrinks evenly between two of them. With
/// `light: linear` the dots reflect as much light as the picture did. Values beyond 0…1 count as 0 and 1, and so does what
/// is no number as 0. Alpha is kept; under it the paper is as transparent as the ink.
struct Halftone: TileFilter {
    /// Which inks there are.
    enum Colors: String, CaseIterable { case gray, cmyk }

    static let screen = Parameter("screen", fallback: DotShape.round, "Chooses the shape of the dots")
    static let size = Parameter(
        "size", 2...200, fallback: 8, unit: "px", "Sets the distance from a dot to the next one")
    static let colors = Parameter(
        "colors", fallback: Colors.gray, "Chooses one screen of black, or four screens of printing inks")
    static let angle = angle("angle", 45, "Turns the screen of black, counter-clockwise")
    static let cyan = angle("cyan_angle", 15, "Turns the screen of cyan").needing(colors, .cmyk)
    static let magenta = angle("magenta_angle", 75, "Turns the screen of magenta").needing(colors, .cmyk)
    static let yellow = angle("yellow_angle", 0, "Turns the screen of yellow").needing(colors, .cmyk)
    static let black = Parameter(
        "black", 0...100, fallback: 100, unit: "%",
        "Sets how much of the common part of the three inks is printed in black"
    ).needing(colors, .cmyk)
    static let sharpness = Parameter(
        "sharpness", 0...100, fallback: 100, unit: "%",
        "Sets the sharpness of the dots. With 100, their borders are one pixel wide")

    static let description = FilterDescription(
        name: "halftone", version: "1.2.0", summary: "Draws dots of one or four inks, as in print", renderingVersion: 5,
        parameters: [screen, size, colors, angle, cyan, magenta, yellow, black, sharpness])

    private static func angle(_ name: String, _ fallback: Double, _ summary: String) -> Parameter<Double> {
        Parameter(name, -360...360, fallback: fallback, unit: "°", summary)
    }

    private let inks: Inks
    private let screens: [Screen]

    init(_ values: FilterValues) {
        let angles: [Parameter<Double>]
        switch values[Self.colors] {
        case .gray: (inks, angles) = (.black, [Self.angle])
        case .cmyk:
            inks = .cmyk(black: Float(values[Self.black] / 100))
            angles = [Self.cyan, Self.magenta, Self.yellow, Self.angle]
        }
        let size = values[Self.size]
        let border = 1 + (1 - values[Self.sharpness] / 100) * (size - 1)
        screens = angles.map { Screen(values[Self.screen], size: size, degrees: values[$0], border: border) }
    }

    var halo: Halo {
        Halo(horizontal: screens.map(\.reach.left).max() ?? 0, vertical: screens.map(\.reach.top).max() ?? 0)
    }

    func render(_ tile: borrowing Tile) throws {
        var dots: [Dots] = []
        for (ink, screen) in screens.enumerated() {
            let means = try CellMeans(screen, tile)
            dots.append(Dots(screen, means) { inks.amounts(for: $0)[ink] })
        }
        let columns = tile.area.columns
        var amounts = [SIMD4<Float>](repeating: .zero, count: columns.count)
        for y in tile.area.rows {
            try tile.checkCancellation()
            for (ink, dots) in dots.enumerated() { dots.cover(columns, row: y, ink, of: &amounts) }
            tile.map(row: y) { x, pixel in
                let light = inks.light(through: amounts[x - columns.lowerBound])
                return Pixel(SIMD4(light * pixel.alpha, pixel.alpha))
            }
        }
    }
}

@c(penumbra_plugin_entry) public func plugin(_ host: UInt32) -> PluginAddress? {
    Plugin.export(Halftone.self, to: host)
}
