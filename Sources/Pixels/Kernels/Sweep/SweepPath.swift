import Arithmetic
import Geometry

/// The paths along which a filter averages, one for each pixel, all around one centre: what ``Sweep`` needs of them.
///
/// Long paths are averaged on *lines*: rings around the centre, or rays from it, on which the paths of all pixels are
/// windows. A pixel's place is a number across lines and one along them; which lines there are depends on the distance
/// from the centre alone, so that all tiles see the same.
protocol SweepPath: Sendable {
    var center: SweepCenter { get }
    /// Pixels of path for each pixel of distance from the centre.
    var steepness: Double { get }

    /// The pixels that are read for `area`.
    func needed(for area: PixelRect) -> PixelRect

    /// Averages on the paths themselves; see `zoomDirectly` and `spinDirectly`.
    func averageDirectly(
        _ picture: SweptPicture, _ operations: RowOperations, x: Int, y: Int, count: Int,
        into target: UnsafeMutablePointer<Float>)

    /// The lines for distances up to `distance`.
    func makeLines(upTo distance: Double) -> Lines

    associatedtype Lines: SweepLines
}

/// Groups of neighbouring pixels, and the lines that they are averaged on.
protocol SweepLines {
    var groupCount: Int { get }

    /// The group of a pixel; its direction is in turns.
    func group(distance: Double, turn: Double) -> Int

    /// A pixel's place among the lines of its group.
    func place(_ group: Int, distance: Double, turn: Double) -> (across: Double, along: Double)

    /// Writes the means on a line.
    ///
    /// - Parameters:
    ///   - positions: along the line.
    ///   - target: receives four values for each.
    func average(
        _ picture: SweptPicture, _ operations: RowOperations, _ group: Int, line: Int, positions: Range<Int>,
        _ room: LineRoom, into target: UnsafeMutablePointer<Float>)
}

/// The point that a zoom or a spin leaves where it is, in coordinates of pixel centres.
package struct SweepCenter: Hashable, Sendable {
    package let x: Double
    package let y: Double

    package init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// The distance to the farthest pixel of an area.
    func distance(toCornersOf area: PixelRect) -> Double {
        let dx = max((Double(area.x) - x).magnitude, (Double(area.right - 1) - x).magnitude)
        let dy = max((Double(area.y) - y).magnitude, (Double(area.bottom - 1) - y).magnitude)
        return (dx * dx + dy * dy).squareRoot()
    }
}

/// Memory for the samples of one line, and for their sums.
final class LineRoom {
    private(set) var samples = WorkBuffer<Float>(count: 0)
    private(set) var heads = WorkBuffer<Float>(count: 0)
    private(set) var tails = WorkBuffer<Float>(count: 0)

    /// - Parameter count: of samples.
    func reserve(_ count: Int) {
        guard samples.count < 4 * count else { return }
        samples = WorkBuffer(count: 6 * count)
        heads = WorkBuffer(count: 6 * count)
        tails = WorkBuffer(count: 6 * count)
    }
}

/// The cosine and sine of every multiple of one n-th of a turn, as products of two short tables.
struct TurnTable {
    let steps: Int
    let coarse: [Double]
    let fine: [Double]

    init(steps: Int) {
        self.steps = steps
        func values(_ step: Int) -> [Double] {
            let (sin, cos) = DeterministicMath.sinCos(degrees: 360 * Double(step) / Double(steps))
            return [cos, sin]
        }
        coarse = stride(from: 0, to: steps, by: 64).flatMap(values)
        fine = (0..<64).flatMap(values)
    }

    subscript(step: Int) -> (cos: Double, sin: Double) {
        let place = step % steps < 0 ? step % steps + steps : step % steps
        let (a, b) = (2 * (place >> 6), 2 * (place & 63))
        return (
            coarse[a] * fine[b] - coarse[a + 1] * fine[b + 1], coarse[a] * fine[b + 1] + coarse[a + 1] * fine[b]
        )
    }
}
