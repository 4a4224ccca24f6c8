import Catalogs
package import Filters
import Foundation
package import Geometry
package import Kernels
package import Raster

/// A picture in float64 as a filter should see it: premultiplied, in encoded or linear light, on the samples' scale.
///
/// Written for the eye, with the functions of the C library; shares no code with what it judges.
package struct TruePixels: Sendable {
    package let rect: PixelRect
    package let channels: Int
    package var values: [Double]

    package init(rect: PixelRect, channels: Int, values: [Double]) {
        self.rect = rect
        self.channels = channels
        self.values = values
    }

    /// - Parameter addsAlpha: gives an opaque picture an alpha of full.
    package init(_ picture: AnyRaster, light: Light, addsAlpha: Bool = false) {
        let full = picture.format.full
        let samples = picture.doubles
        let stored = picture.layout.channels
        let colors = picture.layout.removingAlpha.channels
        var values: [Double] = []
        for pixel in 0..<picture.rect.area {
            let alpha = picture.layout.hasAlpha ? samples[pixel * stored + colors] : full
            for channel in 0..<colors {
                let sample = samples[pixel * stored + channel]
                let color = light == .linear ? full * trueLinear(sample / full) : sample
                values.append(picture.layout.hasAlpha ? color * alpha / full : color)
            }
            if picture.layout.hasAlpha || addsAlpha { values.append(alpha) }
        }
        let hasAlpha = picture.layout.hasAlpha || addsAlpha
        self.init(rect: picture.rect, channels: hasAlpha ? colors + 1 : colors, values: values)
    }

    /// The value at any coordinate, as `edge` says for those outside.
    package func value(_ x: Int, _ y: Int, _ channel: Int, _ edge: Edge) -> Double {
        guard let column = trueEdge(x, rect.columns, edge), let row = trueEdge(y, rect.rows, edge) else { return 0 }
        return values[((row - rect.y) * rect.width + column - rect.x) * channels + channel]
    }
}

/// The linear light of a stored value, 0…1 being the nominal range.
package func trueLinear(_ value: Double) -> Double {
    if value < 0 { return -trueLinear(-value) }
    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
}

/// The stored value of linear light.
package func trueEncoded(_ linear: Double) -> Double {
    if linear < 0 { return -trueEncoded(-linear) }
    return linear <= 0.0031308 ? linear * 12.92 : 1.055 * pow(linear, 1 / 2.4) - 0.055
}

/// Steps a coordinate into a range, one reflection or one turn at a time.
package func trueEdge(_ coordinate: Int, _ range: Range<Int>, _ edge: Edge) -> Int? {
    var place = coordinate - range.lowerBound
    let count = range.count
    switch edge {
    case .clamp:
        place = place < 0 ? 0 : place >= count ? count - 1 : place
    case .mirror:
        while place < 0 || place >= count { place = place < 0 ? -1 - place : 2 * count - 1 - place }
    case .wrap:
        while place < 0 { place += count }
        while place >= count { place -= count }
    case .transparent:
        if place < 0 || place >= count { return nil }
    }
    return range.lowerBound + place
}

extension AnyRaster {
    /// All samples, on their own scale.
    package var doubles: [Double] {
        switch self {
        case .u8(let raster): raster.samples.map { Double($0) }
        case .u16(let raster): raster.samples.map { Double($0) }
        case .f32(let raster): raster.samples.map { Double($0) }
        }
    }
}
