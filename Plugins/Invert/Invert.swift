public import FilterKit

/// `invert`: the negative of a picture. Each colour becomes full intensity minus itself; alpha is kept.
struct Invert: PointFilter {
    static let description = FilterDescription(
        name: "invert", version: "1.1.0", summary: "Makes the negative of a picture", renderingVersion: 2)

    init(_ values: FilterValues) {}

    func pixel(_ pixel: Pixel, x: Int, y: Int, in picture: Picture) -> Pixel {
        var negative = pixel
        negative.colors = 1 - pixel.colors
        return negative
    }
}

@c(penumbra_plugin_entry) public func plugin(_ host: UInt32) -> PluginAddress? { Plugin.export(Invert.self, to: host) }
