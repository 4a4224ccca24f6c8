import Geometry
import Kernels
import Raster
import Testing

/// The area of pixels that curves enclose, against polygons that are cut to each pixel, in float64.
struct OutlineTests {
    private typealias Point = Outline.Point

    /// A closed polygon with `count` corners around a centre, in order. Its sides cross each other if `skip` is more than 1.
    private static func star(_ count: Int, skip: Int = 1, x: Double, y: Double, radius: Double, turn: Double) -> [Point]
    {
        (0..<count).map { index in
            // Points of a circle without an angle: (1 − t²) / (1 + t²), 2t / (1 + t²), in both halves.
            let part = Double((index * skip) % count) / Double(count) * 4 + turn
            let quarter = Int(part.rounded(.down))
            let t = part - Double(quarter)
            let (c, s) = ((1 - t * t) / (1 + t * t), 2 * t / (1 + t * t))
            let (dx, dy) = [(c, s), (-s, c), (-c, -s), (s, -c)][quarter % 4]
            return Point(x + radius * dx, y + radius * dy)
        }
    }

    private static func outline(_ polygons: [[Point]]) -> Outline {
        Outline(polygons.flatMap { corners in corners.enumerated().map { $0 == 0 ? .move($1) : .line($1) } })
    }

    /// The part of a polygon within a pixel, by cutting off what lies beyond each of its sides; above 0 in one direction.
    private static func area(of polygon: [Point], in column: Int, _ row: Int) -> Double {
        var corners = polygon
        let (x, y) = (Double(column), Double(row))
        let distances: [(Point) -> Double] = [{ $0.x - x }, { x + 1 - $0.x }, { $0.y - y }, { y + 1 - $0.y }]
        for distance in distances {
            corners = corners.indices.flatMap { index -> [Point] in
                let (from, to) = (corners[index], corners[(index + 1) % corners.count])
                let (a, b) = (distance(from), distance(to))
                let crossing = (a < 0) != (b < 0)
                let share = crossing ? a / (a - b) : 0
                let cut = Point(from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share)
                return (a >= 0 ? [from] : []) + (crossing ? [cut] : [])
            }
        }
        return corners.indices.reduce(0) { sum, index in
            let (from, to) = (corners[index], corners[(index + 1) % corners.count])
            return sum + (from.x * to.y - to.x * from.y) / 2
        }
    }

    private static func worst(_ polygons: [[Point]], _ outline: Outline, _ rect: PixelRect) -> Double {
        let drawn = outline.coverage(of: rect)
        return rect.rows.reduce(0) { worst, row in
            rect.columns.reduce(worst) { worst, column in
                let truth = min(abs(polygons.reduce(0) { $0 + area(of: $1, in: column, row) }), 1) * 255
                return max(worst, abs(truth - Double(drawn.samples[drawn.index(x: column, y: row)])))
            }
        }
    }

    @Test(arguments: [(3, 1), (4, 1), (7, 1), (31, 1)], [(1, 1), (17, 13), (40, 29)])
    func `polygons cover each pixel by their exact area`(shape: (Int, Int), size: (Int, Int)) {
        for (index, turn) in [0, 0.3, 1.7].enumerated() {
            let (width, height) = (Double(size.0), Double(size.1))
            let corners = Self.star(
                shape.0, skip: shape.1, x: width / 2 + 0.13, y: height / 2 - 0.21,
                radius: min(width, height) * 0.45, turn: turn)
            let polygon = index == 1 ? corners.reversed() : corners
            let outline = Self.outline([polygon])
            let rect = PixelRect(x: 0, y: 0, width: size.0, height: size.1).union(outline.bounds)
            #expect(Self.worst([polygon], outline, rect) <= 0.5001)
        }
    }

    @Test func `a hole has the other direction, and what overlaps in one direction is covered once`() {
        let outer = Self.star(9, x: 20, y: 20, radius: 18, turn: 0.2)
        let hole = Array(Self.star(5, x: 21, y: 19, radius: 8, turn: 0.7).reversed())
        let rect = PixelRect(x: 0, y: 0, width: 40, height: 40)
        #expect(Self.worst([outer, hole], Self.outline([outer, hole]), rect) <= 0.5001)
        let drawn = Self.outline([outer, hole]).coverage(of: rect)
        #expect(drawn.samples[drawn.index(x: 20, y: 20)] == 0)
        let twice = Self.outline([outer, outer]).coverage(of: rect)
        #expect(twice.samples[twice.index(x: 20, y: 20)] == 255)
    }

    @Test func `curves are followed to less than a level`() {
        // A lens of two parabolas, and the same with cubic curves, against very many straight pieces.
        let (left, right) = (Point(2.3, 15.1), Point(37.8, 14.2))
        let (above, below) = (Point(19, -12), Point(22, 47))
        func at(_ a: Point, _ b: Point, _ c: Point, _ t: Double) -> Point {
            let (u, v, w) = ((1 - t) * (1 - t), 2 * t * (1 - t), t * t)
            return Point(u * a.x + v * b.x + w * c.x, u * a.y + v * b.y + w * c.y)
        }
        func pieces(_ a: Point, _ b: Point, _ c: Point) -> [Point] { (0..<2000).map { at(a, b, c, Double($0) / 2000) } }
        func cubic(_ a: Point, _ b: Point, _ c: Point) -> Outline.Step {
            func toward(_ end: Point) -> Point { Point(end.x + (b.x - end.x) * 2 / 3, end.y + (b.y - end.y) * 2 / 3) }
            return .cubic(toward(a), toward(c), c)
        }
        let polygon = pieces(left, above, right) + pieces(right, below, left)
        let rect = PixelRect(x: 0, y: -1, width: 41, height: 33)
        for outline in [
            Outline([.move(left), .quadratic(above, right), .quadratic(below, left)]),
            Outline([.move(left), cubic(left, above, right), cubic(right, below, left)]),
        ] {
            #expect(Self.worst([polygon], outline, rect) <= 1)
        }
    }

    @Test func `an open curve is closed, and none covers nothing`() {
        let rect = PixelRect(x: -2, y: 3, width: 5, height: 4)
        let corners = [Point(-2, 3), Point(3, 3), Point(3, 7), Point(-2, 7)]
        #expect(Self.outline([corners]).coverage(of: rect).samples.allSatisfy { $0 == 255 })
        #expect(Outline().coverage(of: rect).samples.allSatisfy { $0 == 0 })
        #expect(Outline([.move(Point(0, 4)), .line(Point(2, 6))]).coverage(of: rect).samples.allSatisfy { $0 == 0 })
        #expect(Outline().bounds == .empty)
        #expect(Self.outline([corners]).bounds == rect)
    }

    @Test(arguments: [0, 1, 2, 3]) func `numbers that are none trap nothing, and are told`(place: Int) {
        func value(_ index: Int, _ usual: Double) -> Double { index == place ? .nan : usual }
        let outline = Outline([
            .move(.init(value(0, 1), value(1, 1))), .line(.init(8, 2)), .line(.init(value(2, 4), value(3, 7))),
            .quadratic(.init(.infinity, 3), .init(1, 1)),
        ])
        #expect(!outline.lies(within: 1e9))
        #expect(outline.bounds.width >= 0 && outline.bounds.height >= 0)
        _ = outline.coverage(of: PixelRect(x: 0, y: 0, width: 9, height: 9))
        #expect(Outline([.move(.init(1, -3))]).lies(within: 3) && !Outline([.move(.init(1, -3))]).lies(within: 2.9))
    }

    @Test func `an outline is moved and scaled with all its curves`() {
        let step = Outline([.move(Point(1, 2)), .quadratic(Point(2, 3), Point(4, 5)), .line(Point(0, 1))])
        var moved = Outline()
        moved.append(step, scaledBy: (2, -1), at: Point(10, 20))
        #expect(
            moved
                == Outline([.move(Point(12, 18)), .quadratic(Point(14, 17), Point(18, 15)), .line(Point(10, 19))]))
        #expect(moved.translated(x: 1, y: -1).steps.first == .move(Point(13, 17)))
    }
}
