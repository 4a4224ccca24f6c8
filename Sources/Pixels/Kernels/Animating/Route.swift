/// A way along straight lines from point to point, at a speed that does not depend on how many there are.
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

    /// One line of the way.
    package struct Line: Hashable, Sendable {
        let start: Point
        let end: Point
        /// From the beginning of the way.
        let before: Double
        let length: Double

        /// Of length 1.
        package var direction: Point { Point(x: (end.x - start.x) / length, y: (end.y - start.y) / length) }
    }

    private let first: Point
    /// Without those that lead nowhere.
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

    /// Where one is after a share of the way. Before its beginning and behind its end the first and the last line go on.
    package func position(at progress: Double) -> Point {
        guard let line = line(at: progress) else { return first }
        // Its ends are met exactly.
        if progress == 1, line == lines.last { return line.end }
        let share = (progress * length - line.before) / line.length
        return Point(
            x: line.start.x + share * (line.end.x - line.start.x), y: line.start.y + share * (line.end.y - line.start.y)
        )
    }

    /// The line that one is on; nil where all points are the same.
    package func line(at progress: Double) -> Line? {
        lines.last { $0.before <= progress * length } ?? lines.first
    }
}
