import Catalogs
import Geometry
import JobModel
import Kernels
import Raster

/// `gray-point`: a place of the picture that should be gray becomes gray. Once the picture is measured, it is a white balance.
enum GrayPointFilter {
    static let entry = FilterEntry(
        FilterDescriptor(
            name: "gray-point", kind: .point,
            summary: "Makes a place of the picture that should be gray gray, and shifts all colours alike",
            renderingVersion: 1,
            parameters: [
                ParameterDescriptor(
                    "x", .length(),
                    summary: "Sets the distance of the place from the left side of the picture, as it is in its file",
                    requiredLike: "40%"),
                ParameterDescriptor(
                    "y", .length(),
                    summary: "Sets the distance of the place from the top side of the picture, as it is in its file",
                    requiredLike: "60%"),
                ParameterDescriptor(
                    "radius", .number(minimum: 0, maximum: 100), fallback: .number(5), unit: "px",
                    summary: "Sets how far around the place the picture is looked at. The mean of the light counts"),
            ] + MaskOptions.parameters,
            rules: MaskOptions.rules(of: MaskOptions.parameters), refusesValues: true, measures: .light),
        measuring: { arguments, picture, layout, _ in
            // Gray pictures are gray.
            if layout.removingAlpha == .gray { return NeutralMeasure() }
            let place = Point(x: try arguments.length("x"), y: try arguments.length("y"))
            return LightMeasure(
                PlaceLight(
                    x: place.x.coordinate(along: picture.columns), y: place.y.coordinate(along: picture.rows),
                    radius: try arguments.number("radius"), layout: layout))
        },
        make: { arguments, measurement in
            guard case .light(let light) = measurement else { return nil }
            return try WhiteBalanceFilter(try balance(light), arguments)
        })

    private static func balance(_ light: [Double]?) throws(FilterError) -> NeutralBalance {
        guard let light else {
            throw failure(
                "the place lies outside of the picture, or only transparent pixels are there; take another place")
        }
        guard let balance = NeutralBalance(light: light) else {
            throw failure(
                "one channel has no light at the place, and no factor makes it gray; take a brighter or less colourful place"
            )
        }
        return balance
    }

    private static func failure(_ reason: String) -> FilterError {
        FilterError(filter: "gray-point", problem: .failed(reason: reason))
    }
}

/// Leaves a picture as it is.
private final class NeutralMeasure: PictureMeasure {
    func add(_ rows: AnyRaster) {}
    func measurement(of part: PixelRect) -> Measurement { .light([1, 1, 1]) }
}

/// Measures the light at the place that should be gray.
private final class LightMeasure: PictureMeasure {
    private let place: PlaceLight

    init(_ place: PlaceLight) { self.place = place }

    func add(_ rows: AnyRaster) { place.add(rows) }

    func measurement(of part: PixelRect) -> Measurement {
        .light(place.mean.map { light in (0..<3).map { light[$0] } })
    }
}
