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

/// A rotation about the picture's centre by any angle, counter-clockwise as seen.
///
/// Each output pixel is an interpolation of the input pixels around its position, with premultiplied colours. It is computed in
/// double precision, in a fixed order.
package struct Rotation: Hashable, Sendable {
    private let sin: Double
    private let cos: Double
    private let kernel: Warp.Kernel

    package init(degrees: Double, kernel: Warp.Kernel = .catmullRom) {
        (sin, cos) = DeterministicMath.sinCos(degrees: degrees)
        self.kernel = kernel
    }

    /// The smallest size that contains a rotated picture.
    package func size(width: Int, height: Int) -> (width: Int, height: Int) {
        func side(_ a: Double, _ b: Double) -> Int {
            max(1, Int(min((abs(a) + abs(b) - 1e-9).rounded(.up), 100_000_000)))
        }
        let (w, h) = (Double(width), Double(height))
        return (side(w * cos, h * sin), side(w * sin, h * cos))
    }

    /// Converts a position relative to the output's centre into one relative to the input's centre, with y downwards.
    private func source(_ x: Double, _ y: Double) -> (x: Double, y: Double) { (x * cos - y * sin, x * sin + y * cos) }

    /// The input pixels that an output rectangle needs; some may lie outside the input.
    ///
    /// - Parameter output: in coordinates where the whole output begins at (0, 0).
    package func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        let map = Map(self, input)
        let corners = [
            (output.x, output.y), (output.right, output.y), (output.x, output.bottom), (output.right, output.bottom),
        ].map { map.place(Double($0.0), Double($0.1)) }
        let (xs, ys) = (corners.map(\.x), corners.map(\.y))
        func range(_ values: [Double]) -> Range<Int> {
            // One more than the kernel reads: the border of a block may be rounded to the other side of a pixel's border.
            let reach = kernel.reach + 1
            let low = Int((values.min() ?? 0).rounded(.down)) - reach
            return low..<max(low, Int((values.max() ?? 0).rounded(.up))) + reach
        }
        let whole = PixelRect(columns: range(xs), rows: range(ys))
        // Pixels farther outside are never visible.
        let seen = 2 * kernel.reach - 1
        let part = whole.intersection(input.expanded(by: Halo(horizontal: seen, vertical: seen)))
        return part.isEmpty ? PixelRect(x: input.x, y: input.y, width: 0, height: 0) : part
    }

    private struct Map {
        let rotation: Rotation
        let center: (x: Double, y: Double)
        let half: (x: Double, y: Double)

        init(_ rotation: Rotation, _ input: PixelRect) {
            self.rotation = rotation
            let size = rotation.size(width: input.width, height: input.height)
            half = (Double(size.width) / 2, Double(size.height) / 2)
            center = (Double(input.x) + Double(input.width) / 2, Double(input.y) + Double(input.height) / 2)
        }

        /// The input position of an output position.
        func place(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
            let turned = rotation.source(x - half.x, y - half.y)
            return (turned.x + center.x, turned.y + center.y)
        }
    }

    /// The side of a block of the output, in pixels. Each block reads its own small part of the input.
    private static let block = 64

    /// Writes every pixel of `destination`, which must have an alpha.
    package func render(_ source: KernelSource, input: PixelRect, into destination: inout AnyRaster) {
        let rect = destination.rect
        let reader = PixelReader(source, layout: destination.layout, light: .encoded)
        var sink = PixelWriter(destination.take(), light: .encoded)
        for top in stride(from: rect.y, to: rect.bottom, by: Self.block) {
            for left in stride(from: rect.x, to: rect.right, by: Self.block) {
                let block = PixelRect(
                    columns: left..<min(left + Self.block, rect.right), rows: top..<min(top + Self.block, rect.bottom))
                render(block, reader, input, to: &sink)
            }
        }
        destination = sink.raster
    }

    private func render(_ rect: PixelRect, _ reader: PixelReader, _ input: PixelRect, to sink: inout PixelWriter) {
        let area = needed(for: rect, in: input)
        let pixels = Self.read(reader, area)
        let (map, channels) = (Map(self, input), reader.layout.channels)
        let weights = kernel.weights
        var row = [Double](repeating: 0, count: rect.width * channels)
        for y in rect.rows {
            for (index, x) in rect.columns.enumerated() {
                let place = map.place(Double(x) + 0.5, Double(y) + 0.5)
                let sample = Sample(x: place.x - 0.5, y: place.y - 0.5, kernel.reach, weights)
                var values = row.mutableSpan
                switch kernel {
                case .catmullRom:
                    sample.write(pixels.span, area, channels, taps: 4, to: &values, at: index * channels)
                case .lanczos3:
                    sample.write(pixels.span, area, channels, taps: 6, to: &values, at: index * channels)
                }
            }
            sink.write(row.span, x: rect.x, y: y)
        }
    }

    private static func read(_ reader: PixelReader, _ area: PixelRect) -> [Double] {
        let stride = area.width * reader.layout.channels
        var pixels = [Double](repeating: 0, count: stride * area.height)
        var row = [Double](repeating: 0, count: stride)
        for (index, y) in area.rows.enumerated() {
            let position = reader.source.rows[y]
            guard position >= 0 else { continue }
            var span = row.mutableSpan
            reader.read(columns: area.columns, atPosition: position, into: &span)
            pixels.replaceSubrange(index * stride..<(index + 1) * stride, with: row)
        }
        return pixels
    }

    /// The neighbours of one position, and their weights.
    private struct Sample {
        let left: Int
        let top: Int
        let columns: SIMD8<Double>
        let rows: SIMD8<Double>

        @inline(__always) init(x: Double, y: Double, _ reach: Int, _ weights: WarpWeights) {
            let (floorX, floorY) = (x.rounded(.down), y.rounded(.down))
            left = Int(floorX) - reach + 1
            top = Int(floorY) - reach + 1
            columns = weights.weights(x - floorX)
            rows = weights.weights(y - floorY)
        }

        /// Writes a transparent pixel if no neighbour was read, because all of them lie outside the picture.
        ///
        /// - Parameter taps: the neighbours along each axis. A constant, so that the loops are unrolled.
        @inline(__always) func write(
            _ pixels: Span<Double>, _ area: PixelRect, _ channels: Int, taps: Int, to row: inout MutableSpan<Double>,
            at index: Int
        ) {
            let isSeen = left >= area.x && left + taps <= area.right && top >= area.y && top + taps <= area.bottom
            for channel in 0..<channels {
                var sum = 0.0
                for j in 0..<taps where isSeen {
                    let start = ((top + j - area.y) * area.width + left - area.x) * channels + channel
                    var part = 0.0
                    for i in 0..<taps { part += pixels[start + i * channels] * columns[i] }
                    sum += part * rows[j]
                }
                row[index + channel] = sum
            }
        }
    }
}
