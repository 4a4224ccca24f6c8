import Catalogs
package import Geometry
package import Raster

/// Closed curves that enclose an area, such as the letters of a text. Coordinates are pixels, and y grows downwards.
package struct Outline: Hashable, Sendable {
    package struct Point: Hashable, Sendable {
        package let x: Double
        package let y: Double

        package init(_ x: Double, _ y: Double) {
            self.x = x
            self.y = y
        }
    }

    /// A step begins where the one before it ends.
    package enum Step: Hashable, Sendable {
        /// Begins a curve. The one before it is closed by a straight line.
        case move(Point)
        case line(Point)
        /// A parabola with its control point.
        case quadratic(Point, Point)
        /// A cubic Bézier curve with both control points.
        case cubic(Point, Point, Point)

        fileprivate var points: [Point] {
            switch self {
            case .move(let end), .line(let end): [end]
            case .quadratic(let control, let end): [control, end]
            case .cubic(let first, let second, let end): [first, second, end]
            }
        }
    }

    package private(set) var steps: [Step]

    package init(_ steps: [Step] = []) { self.steps = steps }

    package mutating func append(_ other: Outline, scaledBy scale: (x: Double, y: Double), at corner: Point) {
        func moved(_ point: Point) -> Point { Point(corner.x + point.x * scale.x, corner.y + point.y * scale.y) }
        for step in other.steps {
            switch step {
            case .move(let end): steps.append(.move(moved(end)))
            case .line(let end): steps.append(.line(moved(end)))
            case .quadratic(let control, let end): steps.append(.quadratic(moved(control), moved(end)))
            case .cubic(let first, let second, let end):
                steps.append(.cubic(moved(first), moved(second), moved(end)))
            }
        }
    }

    package func translated(x: Double, y: Double) -> Outline {
        var result = Outline()
        result.append(self, scaledBy: (1, 1), at: Point(x, y))
        return result
    }

    /// The pixels that the curves can touch.
    package var bounds: PixelRect {
        let points = steps.flatMap(\.points)
        guard let first = points.first else { return .empty }
        let (left, right) = points.reduce((first.x, first.x)) { (min($0.0, $1.x), max($0.1, $1.x)) }
        let (top, bottom) = points.reduce((first.y, first.y)) { (min($0.0, $1.y), max($0.1, $1.y)) }
        func range(_ low: Double, _ high: Double) -> Range<Int> {
            let first = Int(Self.limited(low, -1e9, 1e9).rounded(.down))
            return first..<max(first, Int(Self.limited(high, -1e9, 1e9).rounded(.up)))
        }
        return PixelRect(columns: range(left, right), rows: range(top, bottom))
    }
}

extension Outline {
    /// The value within limits; the low one for NaN, which `min` and `max` pass on.
    fileprivate static func limited(_ value: Double, _ low: Double, _ high: Double) -> Double {
        value > low ? (value < high ? value : high) : low
    }

    /// Whether all coordinates are numbers within a distance of 0.
    package func lies(within distance: Double) -> Bool {
        steps.allSatisfy { $0.points.allSatisfy { $0.x.magnitude <= distance && $0.y.magnitude <= distance } }
    }

    /// The part of each pixel that the curves enclose, 0–255. Where curves of one direction overlap, a pixel is covered once.
    ///
    /// This is the exact area within the polygon that follows the curves to 1/512 of a pixel.
    ///
    /// - Parameter rect: contains ``bounds``.
    package func coverage(of rect: PixelRect) -> Raster<UInt8> {
        var result = Raster<UInt8>(rect: rect, layout: .gray, repeating: 0)
        guard !rect.isEmpty else { return result }
        var waiting = [[Edge]](repeating: [], count: rect.height)
        for edge in edges(in: rect) { waiting[Int(edge.top.y)].append(edge) }
        var active: [Edge] = []
        // The change of the covered part from each pixel to the next.
        var changes = [Double](repeating: 0, count: rect.width + 2)
        for row in 0..<rect.height {
            active += waiting[row]
            guard !active.isEmpty else { continue }
            for edge in active { edge.add(to: &changes, row: row) }
            active.removeAll { $0.bottom.y <= Double(row + 1) }
            var covered = 0.0
            for x in 0..<rect.width {
                covered += changes[x]
                result.samples[row * rect.width + x] = UInt8(rounding: min(abs(covered), 1) * 255)
            }
            for x in changes.indices { changes[x] = 0 }
        }
        return result
    }

    /// A piece of the polygon, from the top down, in coordinates of the raster.
    struct Edge {
        let top: Point
        let bottom: Point
        /// 1 for pieces that go down, −1 for others.
        let direction: Double

        func x(at y: Double) -> Double {
            if y <= top.y { return top.x }
            if y >= bottom.y { return bottom.x }
            return top.x + (bottom.x - top.x) * ((y - top.y) / (bottom.y - top.y))
        }

        /// Adds what it changes of a row. Everything to the right of it is enclosed.
        func add(to changes: inout [Double], row: Int) {
            let (start, end) = (max(top.y, Double(row)), min(bottom.y, Double(row + 1)))
            guard start < end else { return }
            let (from, to) = (x(at: start), x(at: end))
            let (left, right) = (min(from, to), max(from, to))
            let height = (end - start) * direction
            let (first, last) = (Int(left), Int(right))
            for column in first...last {
                let (near, far) = (max(left, Double(column)), min(right, Double(column + 1)))
                let part = first == last ? height : height * ((far - near) / (right - left))
                let share = (near + far) / 2 - Double(column)
                changes[column] += part * (1 - share)
                changes[column + 1] += part * share
            }
        }
    }

    /// The pieces of the polygon, cut to a rectangle. Pieces on the left of it become parts of its left side, and pieces on the right
    /// parts of its right side.
    func edges(in rect: PixelRect) -> [Edge] {
        let (right, bottom) = (Double(rect.width), Double(rect.height))
        var edges: [Edge] = []
        var (start, here) = (Point(0, 0), Point(0, 0))
        func relative(_ point: Point) -> Point { Point(point.x - Double(rect.x), point.y - Double(rect.y)) }
        func inside(_ point: Point) -> Point {
            Point(Self.limited(point.x, 0, right), Self.limited(point.y, 0, bottom))
        }
        /// Ends of curves may lie next to the rectangle because they were rounded.
        func isInside(_ point: Point) -> Bool {
            let moved = inside(point)
            return (moved.x - point.x).magnitude < 1e-6 && (moved.y - point.y).magnitude < 1e-6
        }
        func append(_ from: Point, _ to: Point) {
            if from.y < to.y { edges.append(Edge(top: from, bottom: to, direction: 1)) }
            if from.y > to.y { edges.append(Edge(top: to, bottom: from, direction: -1)) }
        }
        func line(to end: Point) {
            let (from, to) = (relative(here), relative(end))
            here = end
            if isInside(from), isInside(to) { return append(inside(from), inside(to)) }
            guard from.y != to.y else { return }
            let whole =
                from.y < to.y ? Edge(top: from, bottom: to, direction: 1) : Edge(top: to, bottom: from, direction: -1)
            edges += whole.cut(right: right, bottom: bottom)
        }
        for step in steps {
            switch step {
            case .move(let end):
                line(to: start)
                (start, here) = (end, end)
            case .line(let end): line(to: end)
            case .quadratic, .cubic:
                for point in Self.points(of: step, from: here) { line(to: point) }
            }
        }
        line(to: start)
        return edges
    }

    /// The distance of the polygon from the curves, in pixels.
    private static let tolerance = 1.0 / 512
    /// For curves beyond all measure.
    private static let mostPieces = 4096.0

    /// The ends of the straight pieces that follow a curve.
    private static func points(of step: Step, from start: Point) -> [Point] {
        func bend(_ a: Point, _ b: Point, _ c: Point) -> Double {
            let (x, y) = (a.x - 2 * b.x + c.x, a.y - 2 * b.y + c.y)
            return (x * x + y * y).squareRoot()
        }
        func pieces(_ deviation: Double) -> Int {
            let count = (deviation / tolerance).squareRoot().rounded(.up)
            return Int(limited(count, 1, mostPieces))
        }
        func points(_ count: Int, _ point: (_ t: Double, _ rest: Double) -> Point) -> [Point] {
            (1...count).map { index in
                let t = Double(index) / Double(count)
                return point(t, 1 - t)
            }
        }
        switch step {
        case .move(let end), .line(let end): return [end]
        case .quadratic(let control, let end):
            return points(pieces(bend(start, control, end) / 4)) { t, rest in
                let (a, b, c) = (rest * rest, 2 * rest * t, t * t)
                return Point(a * start.x + b * control.x + c * end.x, a * start.y + b * control.y + c * end.y)
            }
        case .cubic(let first, let second, let end):
            let most = max(bend(start, first, second), bend(first, second, end))
            return points(pieces(most * 0.75)) { t, rest in
                let (a, b) = (rest * rest * rest, 3 * rest * rest * t)
                let (c, d) = (3 * rest * t * t, t * t * t)
                return Point(
                    a * start.x + b * first.x + c * second.x + d * end.x,
                    a * start.y + b * first.y + c * second.y + d * end.y)
            }
        }
    }
}

extension Outline.Edge {
    /// The parts between 0 and `bottom`. What lies beyond a side becomes a part of that side.
    fileprivate func cut(right: Double, bottom limit: Double) -> [Outline.Edge] {
        let (first, last) = (max(top.y, 0), min(bottom.y, limit))
        guard first < last else { return [] }
        // Where the line crosses a side, from the top down.
        var heights = [first]
        if top.x != bottom.x {
            let crossings = [0, right].map { side in
                top.y + (bottom.y - top.y) * ((side - top.x) / (bottom.x - top.x))
            }
            heights += crossings.filter { $0 > first && $0 < last }.sorted()
        }
        heights.append(last)
        return zip(heights, heights.dropFirst()).compactMap { upper, lower in
            guard upper < lower else { return nil }
            return Outline.Edge(
                top: Outline.Point(Outline.limited(x(at: upper), 0, right), upper),
                bottom: Outline.Point(Outline.limited(x(at: lower), 0, right), lower), direction: direction)
        }
    }
}
