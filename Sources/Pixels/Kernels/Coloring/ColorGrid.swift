package import Catalogs
package import Raster

/// The results of a colour conversion at the points of a grid, with interpolation between them. Alpha does not change.
///
/// RGB is interpolated in the tetrahedron around a colour (J. Sakamoto and K. Itooka, US patent 4275413, 1981, which has
/// expired), so that grays depend on grays alone. Gray has a point for each value. All arithmetic is on integers.
package struct ColorGrid: Sendable {
    /// The points along each axis of RGB. Colour libraries use as many for 16 bits.
    private static let side = 33
    private static let full = 65535

    /// The colours without alpha.
    package let source: PixelLayout
    package let result: PixelLayout
    private let points: [UInt16]

    /// The samples of all points in order, as a grid of `source` needs their results.
    package static func inputs(_ source: PixelLayout) -> [UInt16] {
        guard source == .rgb else { return Array(0...UInt16.max) }
        let values = (0..<side).map { UInt16(($0 * full + (side - 1) / 2) / (side - 1)) }
        return values.flatMap { blue in values.flatMap { green in values.flatMap { red in [red, green, blue] } } }
    }

    /// - Parameter points: the results of ``inputs(_:)``.
    package init(from source: PixelLayout, to result: PixelLayout, points: [UInt16]) {
        precondition(
            !source.hasAlpha && !result.hasAlpha
                && points.count == Self.inputs(source).count / source.channels * result.channels, "a grid is complete")
        (self.source, self.result, self.points) = (source, result, points)
    }

    /// - Precondition: the raster has the colours of ``source``. It has no alpha if the result can have none.
    package func convert(_ raster: Raster<UInt16>) -> Raster<UInt16> {
        precondition(raster.layout.removingAlpha == source, "the grid is for these colours")
        let layout = raster.layout.hasAlpha ? result.addingAlpha : result
        precondition(layout.hasAlpha == raster.layout.hasAlpha, "no alpha is lost")
        let samples = raster.samples.span
        var converted: [UInt16] = []
        converted.reserveCapacity(raster.samples.count / raster.layout.channels * layout.channels)
        for pixel in Swift.stride(from: 0, to: samples.count, by: raster.layout.channels) {
            if source == .rgb {
                append(samples[pixel], samples[pixel + 1], samples[pixel + 2], to: &converted)
            } else {
                let start = Int(samples[pixel]) * result.channels
                converted.append(contentsOf: points[start..<start + result.channels])
            }
            if layout.hasAlpha { converted.append(samples[pixel + raster.layout.channels - 1]) }
        }
        return Raster(rect: raster.rect, layout: layout, samples: converted)
    }

    /// The cell of a value, and the place in it: 0 to ``full``.
    private func cell(_ value: UInt16) -> (index: Int, rest: Int) {
        let place = Int(value) * (Self.side - 1)
        let index = min(place / Self.full, Self.side - 2)
        return (index, place - index * Self.full)
    }

    private func append(_ red: UInt16, _ green: UInt16, _ blue: UInt16, to converted: inout [UInt16]) {
        let points = points.span
        let (red, green, blue) = (cell(red), cell(green), cell(blue))
        let channels = result.channels
        let (right, up, far) = (channels, channels * Self.side, channels * Self.side * Self.side)
        let dark = red.index * right + green.index * up + blue.index * far
        // The way from the dark corner to the bright one: the largest share first.
        var axes = (
            large: (share: red.rest, step: right), middle: (share: green.rest, step: up),
            small: (share: blue.rest, step: far)
        )
        if axes.large.share < axes.middle.share { swap(&axes.large, &axes.middle) }
        if axes.middle.share < axes.small.share { swap(&axes.middle, &axes.small) }
        if axes.large.share < axes.middle.share { swap(&axes.large, &axes.middle) }
        let first = dark + axes.large.step
        let second = first + axes.middle.step
        let bright = second + axes.small.step
        for channel in 0..<channels {
            // The shares of the corners add up to `full`.
            let sum =
                Int(points[dark + channel]) * (Self.full - axes.large.share)
                + Int(points[first + channel]) * (axes.large.share - axes.middle.share)
                + Int(points[second + channel]) * (axes.middle.share - axes.small.share)
                + Int(points[bright + channel]) * axes.small.share
            converted.append(UInt16(truncatingIfNeeded: (sum + Self.full / 2) / Self.full))
        }
    }
}
