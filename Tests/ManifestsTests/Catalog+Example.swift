import Catalogs

extension Catalog {
    /// A small installation: filters and formats that show every kind of parameter.
    static let example = Catalog(
        versions: ["penumbra": "1.0.0"], filters: [.gaussian, .motion, .invert, .fill, .place],
        formats: [.jpeg, .png, .tiff, .webp, .heic])
}

extension FilterDescriptor {
    static let gaussian = FilterDescriptor(
        name: "gaussian", kind: .area, summary: "Blurs by a Gaussian", renderingVersion: 1,
        parameters: [
            ParameterDescriptor(
                "radius", .numberOrPair(minimum: 0, maximum: 1000), fallback: .number(10), unit: "px",
                summary: "Standard deviation", synonyms: [.init("sigma")])
        ] + ParameterDescriptor.area,
        rules: ParameterRule.area)

    static let motion = FilterDescriptor(
        name: "motion", kind: .area, summary: "Blurs along a line", renderingVersion: 1,
        parameters: [
            ParameterDescriptor(
                "radius", .number(minimum: 0, maximum: 1000), fallback: .number(40), unit: "px",
                summary: "Half the length", synonyms: [.init("length", scale: 0.5)]),
            ParameterDescriptor(
                "angle", .number(minimum: -360, maximum: 360), fallback: .number(90), unit: "°",
                summary: "Counter-clockwise from +x"),
            ParameterDescriptor(
                "samples", .integerOrWord(minimum: 1, maximum: 10_000, words: ["continuous"]), fallback: .integer(5),
                summary: "Samples on each side"),
        ] + ParameterDescriptor.area,
        rules: ParameterRule.area)

    static let invert = FilterDescriptor(
        name: "invert", kind: .point, summary: "Inverts colors", renderingVersion: 1, parameters: [])

    /// Has the kinds that no other filter has.
    static let fill = FilterDescriptor(
        name: "fill", kind: .point, summary: "Fills with a color", renderingVersion: 1,
        parameters: [
            ParameterDescriptor("color", .color, summary: "Color"),
            ParameterDescriptor("opaque", .boolean, fallback: .boolean(true), summary: "Ignores alpha", isShared: true),
            ParameterDescriptor("label", .text, summary: "A text"),
            ParameterDescriptor(
                "steps", .integer(minimum: 1, maximum: 8), summary: "Steps",
                synonyms: [.init("half_steps", scale: 0.5)]),
        ])
}

extension FilterDescriptor {
    /// Has the kinds of filters that move pixels.
    static let place = FilterDescriptor(
        name: "place", kind: .geometry, summary: "Changes sizes", renderingVersion: 1,
        parameters: [
            ParameterDescriptor("size", .size, summary: "Size", requiredLike: "320x240"),
            ParameterDescriptor(
                "left", .length(within: LengthLimit(pixels: 100_000, percent: 1000)), fallback: .length(.pixels(0)),
                summary: "Left side"),
            ParameterDescriptor(
                "angle", .numberOrWord(minimum: -360, maximum: 360, words: ["left", "right"]), summary: "Angle"),
        ])
}

extension ParameterDescriptor {
    /// The parameters that all area filters have.
    static let area = [
        ParameterDescriptor(
            "edge", .choice(["clamp", "mirror", "wrap", "transparent"]), fallback: .word("clamp"), summary: "Edge"),
        ParameterDescriptor("extent", .choice(["crop", "expand"]), fallback: .word("crop"), summary: "Extent"),
        ParameterDescriptor(
            "light", .choice(["encoded", "linear"]), fallback: .word("encoded"), summary: "Stored values or light"),
        ParameterDescriptor("within", .regions, summary: "Filters only there"),
    ]
}

extension ParameterRule {
    static let area: [ParameterRule] = [
        .implies(parameter: "extent", value: "expand", other: "edge", required: "transparent"),
        .excludes(parameter: "extent", value: "expand", other: "within"),
    ]
}

extension FormatDescriptor {
    static let jpeg = make(
        "jpeg", ["jpg", "jpeg"],
        [
            ParameterDescriptor("quality", .integer(minimum: 1, maximum: 100), summary: "Quality"),
            ParameterDescriptor("progressive", .boolean, summary: "Progressive"),
        ])
    static let png = make(
        "png", ["png"], [ParameterDescriptor("compression", .integer(minimum: 0, maximum: 9), summary: "Level")])
    static let tiff = make(
        "tiff", ["tif", "tiff"],
        [ParameterDescriptor("compression", .choice(["none", "lzw", "deflate"]), summary: "Method")])
    static let webp = make(
        "webp", ["webp"],
        [
            ParameterDescriptor("quality", .integer(minimum: 1, maximum: 100), summary: "Quality"),
            ParameterDescriptor("lossless", .boolean, summary: "Lossless"),
        ])
    /// Can be read only.
    static let heic = make("heic", ["heic"], [], canWrite: false)

    private static func make(
        _ name: String, _ extensions: [String], _ options: [ParameterDescriptor], canWrite: Bool = true
    ) -> FormatDescriptor {
        FormatDescriptor(
            name: name, extensions: extensions, canRead: true, canWrite: canWrite, sampleFormats: [.u8],
            holdsAlpha: name != "jpeg", holdsProfile: name != "webp", holdsTexts: name != "webp", isLossless: false,
            largestSide: 65_535,
            options: options)
    }
}
