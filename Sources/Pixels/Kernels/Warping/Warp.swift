import Arithmetic
import Catalogs
package import Geometry
package import Raster

/// Where each place of an output lies in its input: straight lines stay straight.
///
/// The matrix maps (x, y, 1) of the output to (u·w, v·w, w) of the input; pixel centres lie at halves.
package struct Projection: Hashable, Sendable {
    /// Row by row.
    let matrix: [Double]

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

    /// The input place of an output place.
    @inline(__always) package func place(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
        let w = matrix[6] * x + matrix[7] * y + matrix[8]
        return (
            (matrix[0] * x + matrix[1] * y + matrix[2]) / w, (matrix[3] * x + matrix[4] * y + matrix[5]) / w
        )
    }
}

/// Draws a picture through a projection.
///
/// Each output pixel is an interpolation of the input pixels around its place, with premultiplied colours. Where more than 1¼ pixels of
/// the input lie along it, it is the mean of n × n such interpolations, where n is that number less ¼, rounded up, up to 8. Places
/// are computed in double precision. Colours are computed in single precision, in a fixed order, and those of 8-bit pictures in
/// fixed point (``ByteWarp``).
package struct Warp: Hashable, Sendable, LevelChoosing {
    package enum Kernel: String, Hashable, Sendable, CaseIterable {
        /// The Catmull-Rom cubic: 4 × 4 pixels.
        case catmullRom = "catmull-rom"
        /// The Lanczos kernel with three lobes: 6 × 6 pixels. It is sharper.
        case lanczos3

        /// The pixels on each side of a place.
        var reach: Int { self == .catmullRom ? 2 : 3 }
    }

    let projection: Projection
    let kernel: Kernel
    /// The input, if nothing is visible beyond it.
    private let input: PixelRect?
    package var level = CPULevel.current
    static let mostSamples = 8
    /// The most input pixels that are read at once, unless a single output pixel needs more.
    private static let mostPixels = 1 << 20

    /// - Parameter input: the input, if the source is transparent around it. Where no pixel of it is near, the output is transparent.
    ///   Nil if its border is repeated.
    package init(_ projection: Projection, _ kernel: Kernel, within input: PixelRect? = nil) {
        (self.projection, self.kernel, self.input) = (projection, kernel, input)
    }

    /// The input pixels that an output rectangle needs; some may lie outside the input.
    ///
    /// - Parameter output: in coordinates where the whole output begins at (0, 0).
    package func needed(for output: PixelRect) -> PixelRect {
        guard !output.isEmpty else { return PixelRect(x: input?.x ?? 0, y: input?.y ?? 0, width: 0, height: 0) }
        // The border of a block may be rounded to the other side of a pixel's border than the same border of the whole.
        return visible(bounds(of: output).expanded(by: Halo(horizontal: 1, vertical: 1)))
    }

    /// The input pixels around an output rectangle.
    private func bounds(of output: PixelRect) -> PixelRect {
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

    /// The part of a rectangle where pixels can be seen.
    private func visible(_ rect: PixelRect) -> PixelRect {
        guard let input else { return rect }
        let seen = 2 * kernel.reach - 1
        let part = rect.intersection(input.expanded(by: Halo(horizontal: seen, vertical: seen)))
        return part.isEmpty ? PixelRect(x: input.x, y: input.y, width: 0, height: 0) : part
    }

    /// A part of the output, and the part of the input that it shows.
    struct Block {
        let rect: PixelRect
        let area: PixelRect
        /// Whether places of the block may lie outside of the area.
        let isCut: Bool
    }

    /// Divides an output rectangle into blocks of a width and a height.
    func blocks(of rect: PixelRect, _ size: (width: Int, height: Int)) -> [Block] {
        var blocks: [Block] = []
        for rows in rect.rows.pieces(of: size.height) {
            for columns in rect.columns.pieces(of: size.width) {
                append(PixelRect(columns: columns, rows: rows), to: &blocks)
            }
        }
        return blocks
    }

    private func append(_ rect: PixelRect, to blocks: inout [Block]) {
        let bounds = bounds(of: rect)
        let area = visible(bounds)
        guard area.area > Self.mostPixels, rect.area > 1 else {
            return blocks.append(Block(rect: rect, area: area, isCut: area != bounds))
        }
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
        ] { append(part, to: &blocks) }
    }

    /// Writes every pixel of `destination`, in coordinates where the whole output begins at (0, 0).
    ///
    /// - Precondition: the source's tables cover what is needed. The destination has an alpha if nothing is visible beyond the input.
    package func render(_ source: KernelSource, into destination: inout AnyRaster) {
        if case .u8 = source.raster { return renderBytes(source, into: &destination) }
        let reader = PixelReader(source, layout: destination.layout, light: .encoded)
        let blocks = blocks(of: destination.rect, (width: 192, height: 64))
        var sink = PixelWriter(destination.take(), light: .encoded)
        var pixels = RowBuffer<Float>(count: 0)
        let pass = WarpPass(reader, .of(level))
        for block in blocks { render(block, pass, &pixels, to: &sink) }
        destination = sink.raster
    }

    private func render(
        _ block: Block, _ pass: WarpPass, _ pixels: inout RowBuffer<Float>, to sink: inout PixelWriter
    ) {
        let (rect, area) = (block.rect, block.area)
        pass.read(area, into: &pixels)
        let (values, channels) = (pass.values, pass.channels)
        let row = RowBuffer<Float>(count: rect.width * values)
        let rectangle = [area.x, area.y, area.width, area.height]
        let (table, map) = (kernel == .lanczos3 ? Self.lanczos3 : nil, projection.matrix)
        let scratch = RowBuffer<Double>(count: 8 * (rect.width + 15))
        let planes = PlaneBuffer(rect.columns, channels: channels)
        for y in rect.rows {
            pass.operations.warpRow(
                Row(pixels.start), area: rectangle, values: values, table: table, map: map, x: rect.x, y: y,
                most: Self.mostSamples, count: rect.width, scratch: scratch.start, out: row.start)
            if values == 1 {
                planes.plane(0).update(from: Row(row.start), count: rect.width)
            } else {
                pass.operations.splitPixels(
                    Row(row.start), channels: channels, count: rect.width, planes: planes.plane(0),
                    planeStride: planes.planeStride)
            }
            sink.write(planes.row(y, pass.operations))
        }
    }

    /// The weights of six pixels for 1025 places from the third to the fourth, eight numbers for each. Weights between two of the
    /// places are interpolated, with an error below 2e-6.
    private static let lanczos3: [Float] = (0...1024).flatMap { step in
        let weights = (0..<6).map { lanczos(Double(step) / 1024 - Double($0 - 2)) }
        let sum = weights.reduce(0, +)
        return weights.map { Float($0 / sum) } + [0, 0]
    }

    static func lanczos(_ distance: Double) -> Double {
        guard distance != 0 else { return 1 }
        guard distance.magnitude < 3 else { return 0 }
        let one = DeterministicMath.sinCos(degrees: 180 * distance).sin
        let third = DeterministicMath.sinCos(degrees: 60 * distance).sin
        return 3 * one * third / (Double.pi * Double.pi * distance * distance)
    }
}

/// Reads the pixels of a picture in the form that the loop over a row of a ``Warp`` needs.
private struct WarpPass {
    let operations: RowOperations
    private let reader: PixelReader

    init(_ reader: PixelReader, _ operations: RowOperations) { (self.reader, self.operations) = (reader, operations) }

    var channels: Int { reader.layout.channels }
    /// The numbers of a pixel.
    var values: Int { channels == 3 ? 4 : channels }

    /// - Parameter pixels: replaced by a larger one if it has too little room.
    func read(_ area: PixelRect, into pixels: inout RowBuffer<Float>) {
        guard !area.isEmpty else { return }
        let stride = area.width * values
        if pixels.count < stride * area.height { pixels = RowBuffer(count: stride * area.height) }
        let source = FloatSource(reader, columns: area.columns, operations)
        let ring = RowRing<Float>(
            columns: area.columns, rows: area.rows, channels: 1, planes: channels, capacity: 1, margin: 0)
        for (index, y) in area.rows.enumerated() {
            source.read(y, into: ring)
            let (planes, target) = (Row(ring.plane(0, y: y)), pixels.start + index * stride)
            if values == 1 {
                target.update(from: planes, count: stride)
            } else {
                operations.joinPlanes(
                    planes, planeStride: ring.planeStride, channels: channels, count: area.width, out: target)
            }
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

extension PixelRect {
    package var center: (x: Double, y: Double) {
        (Double(x) + Double(width) / 2, Double(y) + Double(height) / 2)
    }
}
