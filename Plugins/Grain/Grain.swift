public import FilterKit

/// `grain`: random noise as of film. It hangs on the whole picture's coordinates, so tiles fit together, on the frame of an
/// animation, and on `seed`, so that it comes out the same again. Its mean is 0: the picture gets neither lighter nor darker, but for what it loses
/// beyond black and white.
///
/// Gray pictures have one grain for all colours, whatever `monochrome` says. Alpha is kept.
struct Grain: Filter {
    static let amount = Parameter(
        "amount", 0...100, fallback: 6, unit: "%",
        "Sets the standard deviation of the noise, as a part of full intensity")
    static let size = Parameter("size", 1...16, fallback: 1, unit: "px", "Sets the width of a grain")
    static let seed = Parameter(
        integer: "seed", 0...999_999_999, fallback: 0, "Chooses the noise. Each number gives another one")
    static let monochrome = Parameter(
        "monochrome", fallback: true, "Adds the same noise to red, green and blue, as film does")
    static let midtones = Parameter(
        "midtones", 0...100, fallback: 50, unit: "%", "Sets how much less noise black and white get")

    static let description = FilterDescription(
        name: "grain", version: "1.2.0", summary: "Adds film grain: random noise", renderingVersion: 4,
        parameters: [amount, size, seed, monochrome, midtones])

    private let amount: Float
    private let isMonochrome: Bool
    private let midtones: Float
    private let shape: GrainShape

    init(_ values: FilterValues) {
        amount = Float(values[Self.amount] / 100)
        isMonochrome = values[Self.monochrome]
        midtones = Float(values[Self.midtones] / 100)
        shape = GrainShape(size: values[Self.size], seed: UInt64(values[Self.seed]))
    }

    var isIdentity: Bool { amount == 0 }

    func render(_ tile: borrowing Tile) throws {
        let isMonochrome = isMonochrome || tile.picture.isGray
        let left = tile.area.x
        var rows = GrainRows(shape.inFrame(tile.picture.frame), columns: tile.area.columns)
        for y in tile.area.rows {
            try tile.checkCancellation()
            let noise = rows.row(y)
            tile.map(row: y) { x, pixel in
                let numbers = noise[x - left]
                let colors = isMonochrome ? SIMD3(repeating: numbers.x) : SIMD3(numbers.x, numbers.y, numbers.z)
                var grainy = pixel
                grainy.colors += colors * strength(at: pixel.clamped.luminance)
                return grainy
            }
        }
    }

    /// Full in the middle, less by `midtones` at black and white.
    private func strength(at luminance: Float) -> Float {
        let darkOrLight = 1 - 4 * luminance * (1 - luminance)
        return amount * (1 - midtones * darkOrLight)
    }
}

@c(penumbra_plugin_entry) public func plugin(_ host: UInt32) -> PluginAddress? { Plugin.export(Grain.self, to: host) }
