package import Catalogs
import Geometry
import Kernels
import Raster

/// `thumbnail`: a small version of a large picture, by the Lanczos kernel.
///
/// As the first filter of a chain it lets decoders shrink while they decode, by integer factors that leave at least one and a
/// half times the necessary pixels along each side. (On a photograph the result differs from a thumbnail of all pixels by 49
/// dB or more of PSNR. With twice the pixels it is 52 dB.)
package struct ThumbnailFilter: ScalingFilter {
    package private(set) var scaling: Scaling

    static let entry = FilterEntry(
        FilterDescriptor(
            name: "thumbnail", kind: .geometry, summary: "Makes a small picture of a large one", renderingVersion: 2,
            parameters: [
                Scaling.size,
                ParameterDescriptor(
                    "fit", .choice(Fit.allCases.map(\.rawValue)), fallback: .word("inside"),
                    summary:
                        "Chooses how the picture fits the size: 'inside' it, 'cover' it and cut off, 'fill' it and change the proportions, or 'pad' it with bars"
                ),
                ParameterDescriptor(
                    "crop", .choice(CropChoice.allCases.map(\.rawValue)), fallback: .word("centre"),
                    summary:
                        "Chooses the part that 'fit: cover' keeps: the middle, the part that draws the eye, or the part with most details"
                ),
            ] + FocalPoint.parameters(keeping: "'fit: cover' keeps") + [
                ParameterDescriptor(
                    "enlarge", .boolean, fallback: .boolean(false), summary: "Lets small pictures become larger"),
                ParameterDescriptor(
                    "background", .color, fallback: .color(red: 255, green: 255, blue: 255, alpha: 255),
                    summary: "Sets the colour of the bars that 'fit: pad' adds"),
                AreaOptions.light,
            ],
            rules: [
                .needs(parameter: "crop", other: "fit", words: ["cover"]),
                .needs(parameter: "background", other: "fit", words: ["pad"]),
                .needs(parameter: "focus_x", other: "fit", words: ["cover"]),
                .needs(parameter: "focus_y", other: "fit", words: ["cover"]),
            ] + FocalPoint.rules(replacing: ["crop"])),
        make: { arguments in
            var scaling = Scaling(
                wish: try arguments.size("size"), fit: Fit(rawValue: try arguments.word("fit")) ?? .inside,
                enlarges: try arguments.boolean("enlarge"), kernel: .lanczos3,
                light: Light(rawValue: try arguments.word("light")) ?? .encoded)
            scaling.focus = try FocalPoint(arguments)
            if scaling.focus == nil { scaling.crop = CropChoice(rawValue: try arguments.word("crop")) ?? .centre }
            scaling.background = try arguments.color("background")
            return ThumbnailFilter(scaling: scaling)
        })

    package var isIdentity: Bool { false }
    package func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double {
        (format == .u8 ? 20 : 34) * Double(layout.channels)
    }

    /// The smallest number of decoded pixels for one pixel of the thumbnail, along each side.
    private static let leastLeft = 1.5

    /// The factor by which a decoder may shrink a picture of this size: 1, 2, 4 or 8.
    package func shrinkOnLoad(_ size: Sizing.Size) -> Int {
        guard scaling.light == .encoded else { return 1 }  // decoders average encoded values
        let rect = PixelRect(x: 0, y: 0, width: size.width, height: size.height)
        let scale = scaling.scale(in: rect)
        return [8, 4, 2].first { Double($0) * Self.leastLeft <= min(scale.x, scale.y) } ?? 1
    }

    /// The same filter for a picture that was shrunk during decoding.
    ///
    /// - Parameter original: the picture's size in the file.
    package func afterShrinking(_ original: Sizing.Size, by factor: Int) -> ThumbnailFilter {
        var result = self
        result.scaling.original = original
        result.scaling.shrink = factor
        return result
    }
}
