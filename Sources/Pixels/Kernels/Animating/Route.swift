import Catalogs
package import Geometry
package import Raster

/// A path of straight lines from point to point. The speed along it does not depend on the number of points.
package struct Route: Hashable, Sendable {
    package struct Point: Hashable, Sendable {
        package let x: Double
        package let y: Double

        package init(x: Double, y: Double) {
            self.x = x
            self.y = y
        }

        package func distance(to other: Point) -> Double {
            let (dx, dy) = (other.x - x, other.y - y)
            return (dx * dx + dy * dy).squareRoot()
        }
    }

    /// One line of the path.
    package struct Line: Hashable, Sendable {
        let start: Point
        let end: Point
        /// The length of the path before this line.
        let before: Double
        let length: Double

        /// The line's direction, a vector of length 1.
        package var direction: Point { Point(x: (end.x - start.x) / length, y: (end.y - start.y) / length) }
    }

    private let first: Point
    /// The lines, without those of length 0.
    package let lines: [Line]
    package let length: Double

    /// - Parameter points: at least one.
    package init(_ points: [Point]) {
        precondition(!points.isEmpty, "a way begins somewhere")
        first = points[0]
        var (lines, length): ([Line], Double) = ([], 0)
        for (start, end) in zip(points, points.dropFirst()) where start != end {
            let line = Line(start: start, end: end, before: length, length: start.distance(to: end))
            lines.append(line)
            length += line.length
        }
        (self.lines, self.length) = (lines, length)
    }

    /// The position after a share of the path. Before 0 the first line is extended, after 1 the last line.
    package func position(at progress: Double) -> Point {
        guard let line = line(at: progress) else { return first }
        // The end of the path is returned exactly, without rounding.
        if progress == 1, line == lines.last { return line.end }
        let share = (progress * length - line.before) / line.length
        return Point(
            x: line.start.x + share * (line.end.x - line.start.x), y: line.start.y + share * (line.end.y - line.start.y)
        )
    }

    /// The line at a share of the path. Nil if all points are the same.
    package func line(at progress: Double) -> Line? { lines.last { $0.before <= progress * length } ?? lines.first }
}

/// A motion blur: the mean of a moving picture over all its positions while a shutter is open.
package struct Shutter: Sendable {
    private let picture: AnyRaster
    private let taps: [SparseTaps.Tap]
    /// The area of the frame where the mean can be visible, in the frame's coordinates.
    private let area: PixelRect

    /// The largest distance between two sampled positions, in pixels. It keeps the mean of bilinear samples within a
    /// thousandth of the range of the integral. For paths of more than 32768 pixels the distance is larger, because such a
    /// picture is almost invisible.
    private static let step = 0.125
    private static let most = 1 << 18

    /// - Parameters:
    ///   - picture: the moving picture; its rectangle begins at 0, 0.
    ///   - times: the interval in which the shutter is open.
    ///   - frame: the visible rectangle.
    ///   - position: the position of the picture's corner at a time.
    package init(
        _ picture: AnyRaster, times: ClosedRange<Double>, in frame: PixelRect, location: (Double) -> Route.Point
    ) {
        self.picture = picture
        let locations = Self.locations(times, location)
        var taps = TapAccumulator()
        var seen: PixelRect?
        for point in locations where Self.reach(of: picture, in: frame).contains(point) {
            let corner = (x: Int(point.x.rounded(.down)), y: Int(point.y.rounded(.down)))
            let bilinear = BilinearCell(fractionX: point.x - Double(corner.x), fractionY: point.y - Double(corner.y))
            taps.add(bilinear, at: corner, times: 1 / Double(locations.count))
            let covered = PixelRect(
                x: corner.x, y: corner.y, width: picture.rect.width + 1, height: picture.rect.height + 1)
            seen = seen.map { $0.union(covered) } ?? covered
        }
        self.taps = taps.result.taps.filter { $0.weight > 0 }
        area = seen?.intersection(frame) ?? .empty
    }

    /// The positions of the picture's corner at which a part of the picture is visible.
    private static func reach(of picture: AnyRaster, in frame: PixelRect) -> Window {
        Window(
            x: Double(frame.x - picture.rect.width - 1)...Double(frame.right + 1),
            y: Double(frame.y - picture.rect.height - 1)...Double(frame.bottom + 1))
    }

    private struct Window {
        let x: ClosedRange<Double>
        let y: ClosedRange<Double>

        func contains(_ point: Route.Point) -> Bool { x.contains(point.x) && y.contains(point.y) }
    }

    /// The positions at the middles of intervals of equal length.
    private static func locations(_ times: ClosedRange<Double>, _ location: (Double) -> Route.Point) -> [Route.Point] {
        func locations(_ count: Int) -> [Route.Point] {
            let part = (times.upperBound - times.lowerBound) / Double(count)
            return (0..<count).map { location(times.lowerBound + (Double($0) + 0.5) * part) }
        }
        let rough = locations(64)
        let way = zip(rough, rough.dropFirst()).reduce(0) { $0 + $1.0.distance(to: $1.1) } * 64 / 63
        return locations(Int(min(max(64, way / step + 1), Double(most))))
    }

    /// The mean in single precision with alpha, and the position of its first corner. Nil if it is not visible. The cost grows
    /// with the size of the picture and the length of its path.
    package var mean: (picture: AnyRaster, x: Int, y: Int)? {
        guard !area.isEmpty else { return nil }
        let layout = picture.layout.addingAlpha
        let rect = PixelRect(x: 0, y: 0, width: area.width, height: area.height)
        var sink = PixelWriter(AnyRaster(zeroed: rect, layout: layout, format: .f32), light: .encoded)
        let rows = stored(layout)
        for y in rect.rows {
            var sums = [Double](repeating: 0, count: rect.width * layout.channels)
            for tap in taps where picture.rect.rows.contains(y + area.y - tap.dy) {
                add(rows[y + area.y - tap.dy], tap, layout.channels, to: &sums)
            }
            sink.write(sums.span, x: 0, y: y)
        }
        return (sink.raster, area.x, area.y)
    }

    /// - Parameter row: a row of the picture, which lies at `tap`.
    private func add(_ row: [Float], _ tap: SparseTaps.Tap, _ channels: Int, to sums: inout [Double]) {
        let columns = (tap.dx..<tap.dx + picture.rect.width).clamped(to: area.columns)
        let (from, to) = ((columns.lowerBound - tap.dx) * channels, (columns.lowerBound - area.x) * channels)
        let (source, weight) = (row.span, tap.weight)
        var target = sums.mutableSpan
        for index in 0..<columns.count * channels { target[to + index] += Double(source[from + index]) * weight }
    }

    /// All rows, premultiplied; 1 is full intensity.
    private func stored(_ layout: PixelLayout) -> [[Float]] {
        let reader = PixelReader(KernelSource(picture), layout: layout, light: .encoded)
        let full = picture.format.full
        return picture.rect.rows.map { y in
            var row = [Double](repeating: 0, count: picture.rect.width * layout.channels)
            var span = row.mutableSpan
            reader.read(columns: picture.rect.columns, atPosition: y, into: &span)
            return row.map { Float($0 / full) }
        }
    }
}

/// A picture blurred along its path, to be laid over the picture itself while it moves.
package struct SweptLayer: Sendable {
    /// The blurred picture in single precision with alpha. Its rectangle begins at 0, 0.
    package let picture: AnyRaster
    /// How far the blurred picture extends beyond the original on the left and at the top, in pixels.
    package let reach: (x: Int, y: Int)

    /// Blurs continuously along a line. Pixels outside of the picture are transparent.
    ///
    /// - Parameters:
    ///   - picture: the picture to blur; its rectangle begins at 0, 0.
    ///   - direction: a vector of length 1, with y down.
    ///   - radius: half of the line's length in pixels, at most 1000.
    package init(_ picture: AnyRaster, direction: Route.Point, radius: Double) {
        let motion = Motion(MotionTaps.Velocity(x: radius * direction.x, y: radius * direction.y), .continuous)
        let halo = motion.halo
        let own = picture.converted(to: .f32)
        let grown = own.rect.expanded(by: halo)
        let source = KernelSource(
            raster: own, columns: Self.table(grown.columns, halo.left, own.rect.columns),
            rows: Self.table(grown.rows, halo.top, own.rect.rows))
        var blurred = AnyRaster(zeroed: grown, layout: own.layout.addingAlpha, format: .f32)
        motion.render(source, light: .encoded, into: &blurred)
        self.picture = blurred.translated(x: -grown.x, y: -grown.y)
        reach = (halo.left, halo.top)
    }

    /// The table of a range that is extended on both sides by transparent pixels.
    private static func table(_ grown: Range<Int>, _ halo: Int, _ own: Range<Int>) -> AxisTable {
        let range = grown.lowerBound - halo..<grown.upperBound + halo
        return AxisTable(
            range: range, positions: range.map { own.contains($0) ? Int32($0 - own.lowerBound) : AxisTable.transparent }
        )
    }
}
