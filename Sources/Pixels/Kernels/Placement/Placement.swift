import Catalogs
import Geometry
package import Raster

/// Where each pixel of an output lies in an input, when the grid is only moved, mirrored or turned by right angles.
package struct Placement: Sendable {
    /// Input coordinates of output pixel (0, 0).
    package let origin: (x: Int, y: Int)
    /// What one output pixel to the right, and one down, means in the input.
    package let right: (x: Int, y: Int)
    package let down: (x: Int, y: Int)

    package init(origin: (x: Int, y: Int), right: (x: Int, y: Int), down: (x: Int, y: Int)) {
        self.origin = origin
        self.right = right
        self.down = down
    }

    package func source(x: Int, y: Int) -> (x: Int, y: Int) {
        (origin.x + x * right.x + y * down.x, origin.y + x * right.y + y * down.y)
    }

    /// Copies stored pixels, bit for bit.
    ///
    /// - Precondition: the tables cover the sources of all pixels; layouts and sample formats are the same.
    package func copy(_ source: KernelSource, to target: inout AnyRaster) {
        switch source.raster {
        case .u8(let own): target.modifyU8 { copy(own, source, to: &$0) }
        case .u16(let own): target.modifyU16 { copy(own, source, to: &$0) }
        case .f32(let own): target.modifyF32 { copy(own, source, to: &$0) }
        }
    }

    private func copy<Sample: PixelSample>(
        _ own: Raster<Sample>, _ source: KernelSource, to result: inout Raster<Sample>
    ) {
        precondition(own.layout == result.layout, "a copy has the same layout")
        let rect = result.rect
        let channels = own.layout.channels
        let from = own.samples.span
        var to = result.samples.mutableSpan
        var index = 0
        for y in rect.rows {
            var place = self.source(x: rect.x, y: y)
            for _ in rect.columns {
                let (row, column) = (source.rows[place.y], source.columns[place.x])
                if row >= 0, column >= 0 {
                    let start = row * own.stride + column * channels
                    for channel in 0..<channels { to[index + channel] = from[start + channel] }
                }
                index += channels
                place = (place.x + right.x, place.y + right.y)
            }
        }
    }
}
