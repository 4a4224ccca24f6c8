import Catalogs
import Geometry
import JobModel
import Kernels
import Raster

/// `trim`: cuts off a border of one colour. Once the picture is measured, it is a crop.
enum TrimFilter {
    static let entry = FilterEntry(
        FilterDescriptor(
            name: "trim", kind: .geometry, summary: "Cuts off a border of one colour", renderingVersion: 1,
            parameters: [
                ParameterDescriptor(
                    "color", .color,
                    summary:
                        "Sets the colour of the border. Without it, it is that of the corner with the largest border"),
                ParameterDescriptor(
                    "tolerance", .number(minimum: 0, maximum: 100), fallback: .number(4), unit: "%",
                    summary:
                        "Sets how much the border may differ from its colour in any channel, as a part of full intensity"
                ),
                ParameterDescriptor(
                    "margin", .distance, fallback: .length(.pixels(0)),
                    summary: "Sets how much of the border stays on each side"),
            ], measures: .part),
        measuring: { arguments, picture, layout, format in
            BorderMeasure(
                border: PictureBorder(width: picture.width, height: picture.height, layout: layout, format: format),
                picture: picture, color: try arguments.optionalColor("color"),
                tolerance: try arguments.number("tolerance") / 100, margin: try arguments.length("margin"))
        },
        make: { _, measurement in
            guard case .part(let part) = measurement else { return nil }
            return CropFilter(keeping: part)
        })
}

/// Finds the part of a picture that `trim` keeps.
private final class BorderMeasure: PictureMeasure {
    private let border: PictureBorder
    private let picture: PixelRect
    private let color: BackgroundColor?
    private let tolerance: Double
    private let margin: Length

    init(border: PictureBorder, picture: PixelRect, color: BackgroundColor?, tolerance: Double, margin: Length) {
        self.border = border
        self.picture = picture
        self.color = color
        self.tolerance = tolerance
        self.margin = margin
    }

    func add(_ rows: AnyRaster) { border.add(rows) }

    /// A picture that is nothing but border stays as it is: a blank page among scans is no mistake.
    func measurement(of part: PixelRect) -> Measurement {
        let content = border.content(within: color, tolerance: tolerance)
        guard !content.isEmpty else { return .part(nil) }
        let (x, y) = (margin.wholePixels(of: picture.width), margin.wholePixels(of: picture.height))
        let kept = content.expanded(by: Halo(horizontal: x, vertical: y)).intersection(picture)
        return .part(kept == picture ? nil : kept)
    }
}
