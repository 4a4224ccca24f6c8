import Catalogs
import Geometry
import JobModel
import Kernels
import Raster

/// `deskew`: turns a scanned page so that its lines are level. Once the picture is measured, it is `straighten`.
enum DeskewFilter {
    static let entry = FilterEntry(
        FilterDescriptor(
            name: "deskew", kind: .geometry, summary: "Turns a scanned page so that its lines of text are level",
            renderingVersion: 1,
            parameters: [
                ParameterDescriptor(
                    "limit", .number(minimum: 1, maximum: 15), fallback: .number(10), unit: "°",
                    summary:
                        "Sets the largest angle that is looked for. A page that is turned further, or has no clear lines, stays as it is"
                )
            ] + StraightenFilter.appearance, measures: .angle),
        measuring: { arguments, picture, _, _ in
            SkewMeasure(
                page: PageSkew(width: picture.width, height: picture.height), limit: try arguments.number("limit"))
        },
        make: { arguments, measurement in
            guard case .angle(let angle) = measurement else { return nil }
            return try StraightenFilter(by: angle, arguments)
        })
}

/// Finds the angle by which `deskew` turns a picture.
private final class SkewMeasure: PictureMeasure {
    private let page: PageSkew
    private let limit: Double

    init(page: PageSkew, limit: Double) {
        self.page = page
        self.limit = limit
    }

    func add(_ rows: AnyRaster) { page.add(rows) }

    func measurement(of part: PixelRect) -> Measurement { .angle(0 - page.angle(in: part, limit: limit)) }
}
