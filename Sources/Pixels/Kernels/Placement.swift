import Arithmetic
import Catalogs
package import Geometry
package import Raster

/// The position of each output pixel in an input, for shifts, reflections and rotations by right angles.
package struct Placement: Sendable {
    /// The input coordinates of output pixel (0, 0).
    package let origin: (x: Int, y: Int)
    /// The steps in the input for one output pixel to the right, and for one down.
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

/// A rotation about the picture's centre by any angle, counter-clockwise as seen. Around the picture, the output is transparent.
package struct Rotation: Hashable, Sendable {
    private let degrees: Double
    private let kernel: Warp.Kernel

    package init(degrees: Double, kernel: Warp.Kernel = .catmullRom) {
        (self.degrees, self.kernel) = (degrees, kernel)
    }

    /// The smallest size that contains a rotated picture.
    package func size(width: Int, height: Int) -> (width: Int, height: Int) {
        let (sin, cos) = DeterministicMath.sinCos(degrees: degrees)
        func side(_ a: Double, _ b: Double) -> Int {
            max(1, Int(min((abs(a) + abs(b) - 1e-9).rounded(.up), 100_000_000)))
        }
        let (w, h) = (Double(width), Double(height))
        return (side(w * cos, h * sin), side(w * sin, h * cos))
    }

    /// The drawing of an input. The whole output begins at (0, 0).
    package func warp(_ input: PixelRect) -> Warp {
        let size = size(width: input.width, height: input.height)
        return Warp(
            Projection(
                degrees: degrees, center: (Double(size.width) / 2, Double(size.height) / 2), pivot: input.center),
            kernel, within: input)
    }
}
