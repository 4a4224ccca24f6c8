public import FilterKit

/// `color-adjust`: exposure, white balance, contrast, a curve and saturation, in this order. With all of them 0 it
/// changes nothing. Nothing is rounded or cut off between these steps: what contrast has made darker than black, `shadows`
/// can bring back.
///
/// Exposure and white balance multiply linear light, all else changes stored values. Gray pictures have no white balance
/// and no saturation. Alpha is kept. Floating-point values outside 0…1 go on along the same functions.
struct ColorAdjust: PointFilter {
    static let exposure = Parameter(
        "exposure", -10...10, fallback: 0, unit: "stops", "Sets the exposure. Each stop doubles the light")
    static let temperature = Parameter(
        "temperature", -100...100, fallback: 0, unit: "%", "Makes the colours colder or warmer")
    static let tint = Parameter("tint", -100...100, fallback: 0, unit: "%", "Makes the colours greener or more magenta")
    static let contrast = Parameter(
        "contrast", -100...100, fallback: 0, unit: "%",
        "Sets the slope about the middle. -100 is flat, 100 is twice as steep")
    static let saturation = Parameter(
        "saturation", -100...100, fallback: 0, unit: "%", "Sets the saturation. -100 is gray, 100 is twice as colourful"
    )
    static let shadows = point("shadows", "Raises or lowers black")
    static let darks = point("darks", "Raises or lowers a quarter of full intensity")
    static let midtones = point("midtones", "Raises or lowers half of full intensity")
    static let lights = point("lights", "Raises or lowers three quarters of full intensity")
    static let highlights = point("highlights", "Raises or lowers white")

    static let description = FilterDescription(
        name: "color-adjust", version: "1.2.0",
        summary: "Adjusts exposure, white balance, contrast, curve and saturation",
        renderingVersion: 3, parameters: [exposure, temperature, tint, contrast, saturation] + curve)

    /// The points of the curve, from black to white.
    private static let curve = [shadows, darks, midtones, lights, highlights]

    private static func point(_ name: String, _ summary: String) -> Parameter<Double> {
        Parameter(name, -100...100, fallback: 0, unit: "%", summary)
    }

    private let tones: ColorTones
    private let saturation: Float

    init(_ values: FilterValues) {
        tones = ColorTones(
            WhiteBalance(temperature: values[Self.temperature] / 100, tint: values[Self.tint] / 100),
            Tone(
                gain: DeterministicMath.exp2(values[Self.exposure]), slope: 1 + values[Self.contrast] / 100,
                curve: MonotoneCurve(offsets: Self.curve.map { values[$0] / 100 })))
        saturation = Float(1 + values[Self.saturation] / 100)
    }

    var isIdentity: Bool { tones.isIdentity && saturation == 1 }

    func pixel(_ pixel: Pixel, x: Int, y: Int, in picture: Picture) -> Pixel {
        var adjusted = pixel
        if picture.isGray {
            adjusted.colors = SIMD3(repeating: tones.neutral.value(pixel.red))
            return adjusted
        }
        adjusted.colors = SIMD3(
            tones.red.value(pixel.red), tones.green.value(pixel.green), tones.blue.value(pixel.blue))
        guard saturation != 1 else { return adjusted }
        let gray = SIMD3(repeating: adjusted.luminance)
        adjusted.colors = gray + (adjusted.colors - gray) * saturation
        return adjusted
    }
}

@c(penumbra_plugin_entry) public func plugin(_ host: UInt32) -> PluginAddress? {
    Plugin.export(ColorAdjust.self, to: host)
}
