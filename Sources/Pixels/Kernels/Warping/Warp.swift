import Arithmetic
import Catalogs
package import Geometry
package import Raster

/// Where each place of an output lies in its input: straight lines stay straight.
///
/// The matrix maps (x, y, 1) of the output to (u·w, v·w, w) of the input; pixel centres lie at halves.
package struct Projection: Hashable, Sendable {
    /// Row by row.
    private let matrix: [Double]

    private init(_ matrix: [Double]) { self.matrix = matrix }

    /// A rotation about a place: the output's `center` shows the input's `pivot`.
    ///
    /// - Parameter degrees: counter-clockwise, as seen.
    package init(degrees: Double, center: (x: Double, y: Double), pivot: (x: Double, y: Double)) {
        let (sin, cos) = DeterministicMath.sinCos(degrees: degrees)
        self.init([
            cos, -sin, pivot.x - cos * center.x + sin * center.y,
            sin, cos, pivot.y - sin * center.x - cos * center.y,
            0, 0, 1,
        ])
    }

    /// The map of a rectangle from (0, 0) on to a quadrilateral. Nil unless that is convex, and turns as the corners of a
    /// rectangle do. (P. Heckbert, "Fundamentals of Texture Mapping and Image Warping", 1989, 2.2.3.)
    ///
    /// Nil, too, if the perspective is so strong that a pixel at one corner shows far more of the picture than one at another.
    ///
    /// - Parameter corners: top left, top right, bottom right, bottom left.
    package init?(rectangle width: Double, _ height: Double, to corners: [(x: Double, y: Double)]) {
        precondition(corners.count == 4, "a quadrilateral has four corners")
        let turns = (0..<4).map { index in
            let (a, b, c) = (corners[index], corners[(index + 1) % 4], corners[(index + 2) % 4])
            return (b.x - a.x) * (c.y - b.y) - (b.y - a.y) * (c.x - b.x)
        }
        let longest =
            (0..<4).map { index in
                let (a, b) = (corners[index], corners[(index + 1) % 4])
                return (b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y)
            }.max() ?? 0
        // Smaller areas are of the size of rounding errors.
        guard turns.allSatisfy({ $0 > 1e-6 * longest }), width > 0, height > 0 else { return nil }
        let (a, b, c, d) = (corners[0], corners[1], corners[2], corners[3])
        let (dx1, dx2) = (b.x - c.x, d.x - c.x)
        let (dy1, dy2) = (b.y - c.y, d.y - c.y)
        let (sumX, sumY) = (a.x - b.x + c.x - d.x, a.y - b.y + c.y - d.y)
        let area = dx1 * dy2 - dx2 * dy1
        let g = (sumX * dy2 - dx2 * sumY) / area
        let h = (dx1 * sumY - sumX * dy1) / area
        // w at the corners. In between it lies between these.
        let depths = [1, 1 + g, 1 + g + h, 1 + h]
        guard let nearest = depths.min(), let farthest = depths.max(), nearest > 0,
            farthest <= Self.strongest * nearest
        else { return nil }
        self.init([
            (b.x - a.x + g * b.x) / width, (d.x - a.x + h * d.x) / height, a.x,
            (b.y - a.y + g * b.y) / width, (d.y - a.y + h * d.y) / height, a.y,
            g / width, h / height, 1,
        ])
    }

    /// The largest ratio of two depths.
    private static let strongest = 64.0

    /// Whether all pixels have the same size.
    var isAffine: Bool { matrix[6] == 0 && matrix[7] == 0 }

    @inline(__always) package func place(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
        let w = matrix[6] * x + matrix[7] * y + matrix[8]
        return (
            (matrix[0] * x + matrix[1] * y + matrix[2]) / w, (matrix[3] * x + matrix[4] * y + matrix[5]) / w
        )
    }

    /// How many input pixels lie along an output pixel at most, at the pixel's centre.
    func scale(_ x: Double, _ y: Double) -> Double {
        let (middle, right, down) = (place(x, y), place(x + 0.5, y), place(x, y + 0.5))
        func length(_ other: (x: Double, y: Double)) -> Double {
            let (dx, dy) = (2 * (other.x - middle.x), 2 * (other.y - middle.y))
            return (dx * dx + dy * dy).squareRoot()
        }
        return max(length(right), length(down))
    }
}

/// Draws a picture through a projection.
///
/// Each output pixel is an interpolation of the input pixels around its place, with premultiplied colours. Where a pixel covers more
/// than one of the input, it is the mean of n × n such interpolations, where n is that number, rounded up, up to 8. Everything is
/// computed in double precision, in a fixed order.
package struct Warp: Sendable {
    package enum Kernel: String, Hashable, Sendable, CaseIterable {
        /// The Catmull-Rom cubic: 4 × 4 pixels.
        case catmullRom = "catmull-rom"
        /// The Lanczos kernel with three lobes: 6 × 6 pixels. It is sharper.
        case lanczos3

        /// The pixels on each side of a place.
        var reach: Int { self == .catmullRom ? 2 : 3 }

        var weights: WarpWeights { self == .catmullRom ? .catmullRom : .lanczos3 }
    }

    private let projection: Projection
    private let kernel: Kernel
    private let weights: WarpWeights
    private static let mostSamples = 8
    /// The most input pixels that are read at once, unless a single output pixel needs more.
    private static let mostPixels = 1 << 20

    package init(_ projection: Projection, _ kernel: Kernel) {
        (self.projection, self.kernel) = (projection, kernel)
        weights = kernel.weights
    }

    /// The input pixels that an output rectangle needs; some may lie outside the input.
    ///
    /// - Parameter output: in coordinates where the whole output begins at (0, 0).
    package func needed(for output: PixelRect) -> PixelRect {
        guard !output.isEmpty else { return output }
        // The border of a block may be rounded to the other side of a pixel's border than the same border of the whole.
        return area(of: output).expanded(by: Halo(horizontal: 1, vertical: 1))
    }

    /// The input pixels that are read for an output rectangle.
    private func area(of output: PixelRect) -> PixelRect {
        let corners = [
            (output.x, output.y), (output.right, output.y), (output.x, output.bottom), (output.right, output.bottom),
        ].map { projection.place(Double($0.0), Double($0.1)) }
        func range(_ values: [Double]) -> Range<Int> {
            func bounded(_ value: Double?) -> Double { min(max(value ?? 0, -1e9), 1e9) }
            let low = Int(bounded(values.min()).rounded(.down)) - kernel.reach
            return low..<max(low, Int(bounded(values.max()).rounded(.up)) + kernel.reach)
        }
        return PixelRect(columns: range(corners.map(\.x)), rows: range(corners.map(\.y)))
    }

    /// The side of a block of the output, in pixels. Each block reads its own part of the input.
    private static let block = 64

    /// Writes every pixel of `destination`, in coordinates where the whole output begins at (0, 0).
    ///
    /// - Precondition: the source's tables cover what is needed, with the input's border repeated around it.
    package func render(_ source: KernelSource, into destination: inout AnyRaster) {
        let rect = destination.rect
        let reader = PixelReader(source, layout: destination.layout, light: .encoded)
        var sink = PixelWriter(destination.take(), light: .encoded)
        for top in stride(from: rect.y, to: rect.bottom, by: Self.block) {
            for left in stride(from: rect.x, to: rect.right, by: Self.block) {
                let block = PixelRect(
                    columns: left..<min(left + Self.block, rect.right), rows: top..<min(top + Self.block, rect.bottom))
                render(block, reader, to: &sink)
            }
        }
        destination = sink.raster
    }

    private func render(_ rect: PixelRect, _ reader: PixelReader, to sink: inout PixelWriter) {
        let area = area(of: rect)
        let channels = reader.layout.channels
        if area.area > Self.mostPixels, rect.area > 1 {
            // Near the horizon a block may show much of the picture.
            let isWide = rect.width >= rect.height
            let half = isWide ? rect.x + rect.width / 2 : rect.y + rect.height / 2
            for part in [
                isWide
                    ? PixelRect(columns: rect.x..<half, rows: rect.rows)
                    : PixelRect(columns: rect.columns, rows: rect.y..<half),
                isWide
                    ? PixelRect(columns: half..<rect.right, rows: rect.rows)
                    : PixelRect(columns: rect.columns, rows: half..<rect.bottom),
            ] { render(part, reader, to: &sink) }
            return
        }
        let pixels = Self.read(reader, area)
        let usual = projection.isAffine ? samples(Double(rect.x) + 0.5, Double(rect.y) + 0.5) : nil
        var row = [Double](repeating: 0, count: rect.width * channels)
        for y in rect.rows {
            for (index, x) in rect.columns.enumerated() {
                let samples = usual ?? samples(Double(x) + 0.5, Double(y) + 0.5)
                var sum = SIMD4<Double>()
                for j in 0..<samples {
                    for i in 0..<samples {
                        sum += value(
                            projection.place(
                                Double(x) + (Double(i) + 0.5) / Double(samples),
                                Double(y) + (Double(j) + 0.5) / Double(samples)), pixels.span, area)
                    }
                }
                let mean = sum / Double(samples * samples)
                for channel in 0..<channels { row[index * channels + channel] = mean[channel] }
            }
            sink.write(row.span, x: rect.x, y: y)
        }
    }

    /// The interpolations along each axis of a pixel.
    private func samples(_ x: Double, _ y: Double) -> Int {
        let scale = (projection.scale(x, y) - 1e-6).rounded(.up)
        return Int(min(max(scale, 1), Double(Self.mostSamples)))
    }

    /// The interpolation at a place.
    @inline(__always) private func value(
        _ place: (x: Double, y: Double), _ pixels: Span<SIMD4<Double>>, _ area: PixelRect
    ) -> SIMD4<Double> {
        let taps = 2 * kernel.reach
        let (x, y) = (place.x - 0.5, place.y - 0.5)
        let (floorX, floorY) = (x.rounded(.down), y.rounded(.down))
        let left = Int(floorX) - kernel.reach + 1 - area.x
        let top = Int(floorY) - kernel.reach + 1 - area.y
        let (columns, rows) = (weights.weights(x - floorX), weights.weights(y - floorY))
        var sum = SIMD4<Double>()
        for j in 0..<taps {
            let start = (top + j) * area.width + left
            var part = SIMD4<Double>()
            for i in 0..<taps { part += pixels[start + i] * columns[i] }
            sum += part * rows[j]
        }
        return sum
    }

    private static func read(_ reader: PixelReader, _ area: PixelRect) -> [SIMD4<Double>] {
        let channels = reader.layout.channels
        var pixels = [SIMD4<Double>](repeating: SIMD4(), count: area.area)
        var row = [Double](repeating: 0, count: area.width * channels)
        for (index, y) in area.rows.enumerated() {
            let position = reader.source.rows[y]
            guard position >= 0 else { continue }
            var span = row.mutableSpan
            reader.read(columns: area.columns, atPosition: position, into: &span)
            for column in 0..<area.width {
                var pixel = SIMD4<Double>()
                for channel in 0..<channels { pixel[channel] = row[column * channels + channel] }
                pixels[index * area.width + column] = pixel
            }
        }
        return pixels
    }
}

/// The weights of the pixels around a place between two of them. They have a sum of 1, but for rounding.
enum WarpWeights: Sendable {
    case catmullRom
    /// For 1025 places from one pixel to the next. Weights between two of them are interpolated, with an error below 1e-6.
    case table([SIMD8<Double>])

    static let lanczos3 = WarpWeights.table(
        (0...steps).map { step in
            let fraction = Double(step) / Double(steps)
            var weights = SIMD8<Double>()
            for tap in 0..<6 { weights[tap] = lanczos(fraction - Double(tap - 2)) }
            return weights / weights.sum()
        })

    private static let steps = 1024

    private static func lanczos(_ distance: Double) -> Double {
        guard distance != 0 else { return 1 }
        guard distance.magnitude < 3 else { return 0 }
        let one = DeterministicMath.sinCos(degrees: 180 * distance).sin
        let third = DeterministicMath.sinCos(degrees: 60 * distance).sin
        return 3 * one * third / (Double.pi * Double.pi * distance * distance)
    }

    /// - Parameter t: from 0 to 1, from the last pixel before the place to the first behind it.
    @inline(__always) func weights(_ t: Double) -> SIMD8<Double> {
        switch self {
        case .catmullRom:
            let (t2, t3) = (t * t, t * t * t)
            return SIMD8(
                -0.5 * t3 + t2 - 0.5 * t, 1.5 * t3 - 2.5 * t2 + 1, -1.5 * t3 + 2 * t2 + 0.5 * t, 0.5 * t3 - 0.5 * t2,
                0, 0, 0, 0)
        case .table(let table):
            let position = t * Double(Self.steps)
            let first = min(Int(position), Self.steps - 1)
            let points = table.span
            return points[first] + (position - Double(first)) * (points[first + 1] - points[first])
        }
    }
}

/// The largest upright rectangle in a rotated one.
package enum InscribedRect {
    /// The one with the most pixels.
    package static func largest(width: Double, height: Double, degrees: Double) -> (width: Double, height: Double) {
        let (sin, cos) = magnitudes(degrees)
        let (long, short) = (max(width, height), min(width, height))
        if short <= 2 * sin * cos * long || (sin - cos).magnitude < 1e-10 {
            // Two corners touch the long sides, and the others lie on the middle line.
            let half = short / 2
            let sides = width >= height ? (half / sin, half / cos) : (half / cos, half / sin)
            return (min(sides.0, width + height), min(sides.1, width + height))
        }
        let difference = cos * cos - sin * sin
        return ((width * cos - height * sin) / difference, (height * cos - width * sin) / difference)
    }

    /// The one with the proportions of the whole.
    package static func similar(width: Double, height: Double, degrees: Double) -> (width: Double, height: Double) {
        let (sin, cos) = magnitudes(degrees)
        let scale = min(width / (width * cos + height * sin), height / (width * sin + height * cos))
        return (width * scale, height * scale)
    }

    private static func magnitudes(_ degrees: Double) -> (Double, Double) {
        let (sin, cos) = DeterministicMath.sinCos(degrees: degrees)
        return (sin.magnitude, cos.magnitude)
    }
}
