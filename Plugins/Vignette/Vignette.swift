public import FilterKit

/// `vignette`: darkens a picture towards its borders, or lightens it where `amount` is negative.
///
/// It hangs on the extent of the picture. Gray pictures and those with alpha are treated alike; alpha is kept.
struct Vignette: Filter {
    static let amount = Parameter(
        "amount", -100...100, fallback: 50, unit: "%",
        "Sets how dark the borders become. Negative values make them lighter")
    static let radius = Parameter(
        "radius", 1...200, fallback: 100, unit: "%",
        "Sets the distance at which the full amount is reached. 100 is the corners")
    static let softness = Parameter(
        "softness", 0...100, fallback: 75, unit: "%", "Sets the part of the radius in which the amount grows")
    static let roundness = Parameter(
        "roundness", 0...100, fallback: 0, unit: "%",
        "Sets the shape. 0 has the proportions of the picture, 100 is a circle")
    static let x = Parameter("x", 0...100, fallback: 50, unit: "%", "Sets the centre, as a part of the picture's width")
    static let y = Parameter(
        "y", 0...100, fallback: 50, unit: "%", "Sets the centre, as a part of the picture's height")

    static let description = FilterDescription(
        name: "vignette", version: "1.0.0", summary: "Makes the borders darker or lighter", renderingVersion: 2,
        parameters: [amount, radius, softness, roundness, x, y])

    private let amount: Float
    private let radius: Double
    private let softness: Double
    private let roundness: Double
    private let (centreX, centreY): (Double, Double)

    init(_ values: FilterValues) {
        amount = Float(values[Self.amount] / 100)
        radius = values[Self.radius] / 100
        softness = values[Self.softness] / 100
        roundness = values[Self.roundness] / 100
        (centreX, centreY) = (values[Self.x] / 100, values[Self.y] / 100)
    }

    var isIdentity: Bool { amount == 0 }

    func render(_ tile: borrowing Tile) throws {
        let falloff = falloff(in: tile.picture.extent)
        for y in tile.area.rows {
            try tile.checkCancellation()
            let row = falloff.row(y)
            tile.map(row: y) { x, pixel in shaded(pixel, by: falloff.share(x, row)) }
        }
    }

    /// Towards black by a share of the amount, or towards white.
    private func shaded(_ pixel: Pixel, by share: Float) -> Pixel {
        guard share > 0 else { return pixel }
        var shaded = pixel
        if amount > 0 {
            shaded.colors *= 1 - amount * share
        } else {
            shaded.colors += (1 - pixel.colors) * (-amount * share)
        }
        return shaded
    }

    /// An ellipse through the corners, and a circle through them, are the two ends of `roundness`.
    private func falloff(in extent: PixelRect) -> Falloff {
        let (width, height) = (Double(extent.width), Double(extent.height))
        let (across, down) = (width * 0.5.squareRoot(), height * 0.5.squareRoot())
        let circle = (width * width + height * height).squareRoot() / 2
        return Falloff(
            x: Double(extent.x) + centreX * width, y: Double(extent.y) + centreY * height,
            across: across + roundness * (circle - across), down: down + roundness * (circle - down),
            inner: radius * (1 - softness), outer: radius)
    }
}

@c(penumbra_plugin_entry) public func plugin(_ host: UInt32) -> PluginAddress? {
    Plugin.export(Vignette.self, to: host)
}
