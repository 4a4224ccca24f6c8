package import Catalogs
package import Geometry
package import Raster

/// The bilateral filter (Tomasi and Manduchi, 1998): a blur that keeps edges.
///
/// A pixel p becomes the mean of the pixels q within ⌈3s⌉ of it, weighted exp(−‖q − p‖²/2s²)·exp(−‖I(q) − I(p)‖²/2t²). The
/// second distance is Euclidean over all channels of the working values, alpha included.
///
/// Pixels beyond ⌈3s⌉ would weigh at most e^−4.5 of the centre, a ninetieth. With a limit of 2s a flat area would be blurred
/// by 0.83·s along each axis instead of 0.97·s. The cost grows with the number of pixels, about 28·s².
///
/// Samples of one channel have a ``BilateralGrid`` where it is faster. It has no limit of 3s.
package struct Bilateral: Sendable, LevelChoosing {
    private let offsets: [Offset]
    private let radius: Double
    private let range: Double
    /// The distance in pixels that the exact filter reads, ⌈3s⌉.
    package let reach: Int
    package var level = CPULevel.current

    private struct Offset {
        let dx: Int
        let dy: Int
        /// The base-2 logarithm of the spatial weight.
        let space: Float
    }

    /// - Parameters:
    ///   - radius: s, in pixels; above 0.
    ///   - range: t, as a share of full intensity; above 0.
    package init(radius: Double, range: Double) {
        precondition(radius > 0 && range > 0, "weights that fall have a width")
        let reach = Int((3 * radius).rounded(.up))
        self.reach = reach
        self.radius = radius
        self.range = range
        offsets = (-reach...reach).flatMap { dy in
            (-reach...reach).compactMap { dx in
                let square = dx * dx + dy * dy
                guard square <= reach * reach else { return nil }
                return Offset(dx: dx, dy: dy, space: Float(-Double(square) * Self.log2e / (2 * radius * radius)))
            }
        }
    }

    private static let log2e = 1.4426950408889634

    /// Layouts and formats have the same halo, so that it holds what the grid reads, too.
    package var halo: Halo {
        let pays = BilateralGrid.pays(radius: radius, range: range)
        let most = pays ? max(reach, BilateralGrid.reach(radius: radius)) : reach
        return Halo(horizontal: most, vertical: most)
    }

    /// The number of levels of the grid, or nil if pictures of this kind are filtered without one.
    ///
    /// Floats may be larger than full, so that the number of their levels has no bound. With alpha or colours, levels are
    /// points in two or more dimensions, and there would be too many. In linear light, errors near black grow when they are
    /// encoded.
    package func gridLevels(_ layout: PixelLayout, _ format: SampleFormat, _ light: Light) -> Int? {
        guard layout == .gray, format != .f32, light == .encoded,
            BilateralGrid.pays(radius: radius, range: range)
        else { return nil }
        return BilateralGrid.levelCount(range: range)
    }

    /// Filters into every pixel of `destination`; see ``Motion/render(_:light:within:into:)``.
    package func render(
        _ source: KernelSource, light: Light, within mask: Mask? = nil, into destination: inout AnyRaster
    ) {
        source.checkCoverage(of: destination, halo: halo, within: mask)
        if gridLevels(destination.layout, destination.format, light) != nil {
            let grid = BilateralGrid(radius: radius, range: range, RowOperations.of(level))
            return grid.render(source, light: light, within: mask, into: &destination)
        }
        let loops = Loops(self, full: source.raster.format.full)
        loops.render(source, light: light, within: mask, into: &destination)
    }

    /// The filter for one sample format.
    private struct Loops: WorkingKernel {
        let filter: Bilateral
        /// The factor by which differences are scaled, so that their square is the exponent to the base of 2.
        let scale: Float

        init(_ filter: Bilateral, full: Double) {
            self.filter = filter
            scale = Float((Bilateral.log2e / 2).squareRoot() / (filter.range * full))
        }

        func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
            for strip in area.columns.strips(rows: 2 * filter.reach + 1, margin: filter.reach) {
                apply(reader, PixelRect(columns: strip, rows: area.rows), to: &sink)
            }
        }

        private func apply(_ reader: PixelReader, _ area: PixelRect, to sink: inout some WorkingRowSink) {
            let (channels, reach) = (reader.layout.channels, filter.reach)
            let operations = RowOperations.of(filter.level)
            let columns = area.x - reach..<area.right + reach
            let source = FloatSource(reader, columns: columns, operations)
            let ring = RowRing<Float>(
                columns: columns, rows: area.y - reach..<area.bottom + reach, channels: 1, planes: channels,
                capacity: 2 * reach + 1, margin: 0)
            let window = Window(filter.offsets)
            let result = PlaneBuffer(area.columns, channels: channels)
            for y in area.rows {
                while ring.lacks(y + reach) {
                    source.read(ring.next, into: ring)
                    operations.scaleFloats(ring.whole(ring.next), by: scale, count: ring.wholeCount)
                    ring.next += 1
                }
                let center = Row(ring.pixel(x: area.x, y: y))
                window.set(in: ring, x: area.x, y: y)
                operations.bilateralRow(
                    taps: window.taps, space: window.space, tapCount: window.offsets.count, center: center,
                    planeStride: ring.planeStride, channels: channels, scale: 1 / scale, count: area.width,
                    out: result.plane(0), outStride: result.planeStride)
                sink.write(result.row(y, operations))
            }
        }
    }

    /// The memory positions of the pixels of a window.
    private final class Window {
        let offsets: [Offset]
        let space: [Float]
        let taps: RowList<Float>

        init(_ offsets: [Offset]) {
            self.offsets = offsets
            space = offsets.map(\.space)
            taps = RowList(count: offsets.count)
        }

        /// Sets ``taps`` to the pixels around a pixel.
        func set(in ring: RowRing<Float>, x: Int, y: Int) {
            for (index, offset) in offsets.enumerated() {
                taps.set(index, Row(ring.pixel(x: x + offset.dx, y: y + offset.dy)))
            }
        }
    }
}
