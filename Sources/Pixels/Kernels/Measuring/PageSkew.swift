import Arithmetic
import Catalogs
package import Geometry
package import Raster

/// The angle by which the lines of a scanned page are turned.
///
/// The page is reduced to a gray picture of at most 1500 pixels a side, while its rows come in. Its vertical differences
/// are then summed up along parallel lines of many angles (a projection profile; W. Postl, "Detection of linear oblique
/// structures and skew scan in digitized documents", 1986). Along the lines of a text, neighbouring sums differ most: the
/// squares of their differences have their largest sum there.
///
/// Everything is counted in integers, or computed in double precision in a fixed order, so that the angle is the same on
/// every machine.
package final class PageSkew {
    private let width: Int
    private let height: Int
    /// The pixels of the picture, along each axis, that become one pixel.
    private let factor: Int
    private let columns: Int
    private let rows: Int
    /// The sums of the brightness, 0–65535, of the pixels that become one pixel, row by row.
    private var sums: [UInt64]
    private var seen = 0

    private static let longestSide = 1500

    /// - Parameters:
    ///   - width, height: the size of the picture.
    package init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
        factor = max(1, (max(width, height) + Self.longestSide - 1) / Self.longestSide)
        columns = (width + factor - 1) / factor
        rows = (height + factor - 1) / factor
        sums = Array(repeating: 0, count: columns * rows)
    }

    /// Takes rows of the picture from the top down, in its full width and in coordinates that begin at (0, 0). Of an
    /// animation, the first frame counts.
    package func add(_ band: AnyRaster) {
        guard seen < height else { return }
        precondition(band.rect.width == width && band.rect.x == 0, "rows have the width of the picture")
        seen = band.rect.bottom
        switch band {
        case .u8(let raster): add(raster) { UInt64($0) * 257 }
        case .u16(let raster): add(raster) { UInt64($0) }
        // NaN becomes black, because comparisons with it fail.
        case .f32(let raster): add(raster) { $0 > 0 ? UInt64(min($0, 1) * 65535 + 0.5) : 0 }
        }
    }

    private func add<Sample: PixelSample>(_ raster: Raster<Sample>, _ level: (Sample) -> UInt64) {
        let (channels, hasAlpha) = (raster.layout.channels, raster.layout.hasAlpha)
        let samples = raster.samples.span
        var source = 0
        for y in raster.rect.rows {
            let line = y / factor * columns
            var (column, left) = (0, factor)
            var sum: UInt64 = 0
            for x in 0..<width {
                var gray = level(samples[source])
                if channels >= 3 {
                    gray = (2126 * gray + 7152 * level(samples[source + 1]) + 722 * level(samples[source + 2])) / 10_000
                }
                if hasAlpha {
                    // White paper behind transparent pixels.
                    let alpha = level(samples[source + channels - 1])
                    gray = (gray * alpha + 65535 * (65535 - alpha)) / 65535
                }
                sum += gray
                source += channels
                left -= 1
                if left == 0 || x == width - 1 {
                    sums[line + column] += sum
                    (column, left, sum) = (column + 1, factor, 0)
                }
            }
        }
    }
}

extension PageSkew {
    /// Between two angles of the first search, in steps of ``step``.
    private static let coarse = 4
    /// In degrees.
    private static let step = 0.02
    /// How far the second search goes on each side of the best angle of the first one, in steps.
    private static let fine = 30
    /// The first search goes at least this far to each side, in degrees, because a small range may lie within the peak.
    private static let leastReach = 10.0
    /// How much larger the sum of squares must be at least than at the median angle. Small print has 18 and more, and
    /// photographs without lines have 1 to 4.
    private static let leastContrast = 8.0
    /// In hundredths of a degree. Nobody sees less, and to turn a picture blurs it a little.
    private static let leastAngle = 10.0
    /// Smaller parts of a picture, after its reduction, are no pages.
    private static let shortestSide = 100

    /// The angle in degrees by which lines go up from the left to the right, in hundredths. 0 if there are no clear lines, if
    /// they are level within a tenth, or if they are turned by more than `limit`.
    ///
    /// - Parameters:
    ///   - part: the part of the picture that is looked at.
    ///   - limit: from 1 to 45.
    package func angle(in part: PixelRect, limit: Double) -> Double {
        let cells = PixelRect(
            columns: Self.cells(part.columns, factor, columns), rows: Self.cells(part.rows, factor, rows))
        guard min(cells.width, cells.height) >= Self.shortestSide, let edges = Edges(of: self, in: cells) else {
            return 0
        }
        let most = Int((max(limit, Self.leastReach) / Self.step).rounded())
        let angles = Array(stride(from: -(most / Self.coarse) * Self.coarse, through: most, by: Self.coarse))
        let strengths = angles.map { edges.strength(degrees: Double($0) * Self.step) }
        guard let best = angles.indices.max(by: { strengths[$0] < strengths[$1] }) else { return 0 }
        let usual = strengths.sorted()[strengths.count / 2]
        // At either end the lines may be turned further.
        guard strengths[best] >= Self.leastContrast * usual, best > 0, best < angles.count - 1 else { return 0 }
        let near = (angles[best] - Self.fine...angles[best] + Self.fine).map { step in
            (angle: Double(step) * Self.step, strength: edges.strength(degrees: Double(step) * Self.step))
        }
        // The middle of the peak, which a single noisy value does not move.
        let half = ((near.map(\.strength).max() ?? 0) + usual) / 2
        let (sum, weight) = near.reduce((0.0, 0.0)) { sums, point in
            let excess = max(0, point.strength - half)
            return (sums.0 + excess * point.angle, sums.1 + excess)
        }
        guard weight > 0 else { return 0 }
        let hundredths = (sum / weight * 100).rounded()
        return (Self.leastAngle...limit * 100).contains(hundredths.magnitude) ? hundredths / 100 : 0
    }

    /// The cells that lie completely in a range of pixels. The last cell may be narrower than the others.
    private static func cells(_ pixels: Range<Int>, _ factor: Int, _ count: Int) -> Range<Int> {
        let first = (pixels.lowerBound + factor - 1) / factor
        let end = pixels.upperBound / factor
        return first..<max(first, min(end, count))
    }

    /// The brightness of a cell.
    fileprivate func level(_ x: Int, _ y: Int) -> Int { Int(sums[y * columns + x] / UInt64(factor * factor)) }
}

/// The places where brightness changes from one row to the next.
private struct Edges {
    /// No reduced picture has more rows, and no difference is larger.
    private struct Edge {
        let row: UInt16
        let weight: UInt16
    }

    /// From the left to the right.
    private let columns: [[Edge]]
    private let height: Int

    /// A page has at least this difference of brightness, of 65535.
    private static let leastDifference = 2600

    /// Nil if the part has nothing that could be a line.
    init?(of page: PageSkew, in part: PixelRect) {
        let differences = part.columns.map { x in
            (part.y..<part.bottom - 1).map { y in UInt16(abs(page.level(x, y + 1) - page.level(x, y))) }
        }
        let strong = Self.strong(differences)
        guard strong >= Self.leastDifference else { return nil }
        height = part.height
        columns = differences.map { column in
            column.enumerated().compactMap { row, difference in
                // Less is noise. A line that is darker than others does not count for more.
                Int(difference) * 4 < strong
                    ? nil : Edge(row: UInt16(row), weight: UInt16(min(Int(difference), strong)))
            }
        }
    }

    /// The difference that one place in a hundred exceeds.
    private static func strong(_ differences: [[UInt16]]) -> Int {
        var counts = [Int](repeating: 0, count: 65536)
        for difference in differences.joined() { counts[Int(difference)] += 1 }
        var (rest, difference) = (differences.reduce(0) { $0 + $1.count } / 100, 65535)
        while difference > 0, rest >= counts[difference] {
            rest -= counts[difference]
            difference -= 1
        }
        return difference
    }

    /// How much the profile changes from row to row, along lines that go up by an angle: a sum of squares.
    func strength(degrees: Double) -> Double {
        let (sin, cos) = DeterministicMath.sinCos(degrees: degrees)
        let slope = sin / cos
        let reach = Int((slope.magnitude * Double(columns.count)).rounded(.up)) + 1
        var profile = [Int](repeating: 0, count: height + 2 * reach)
        for (x, edges) in columns.enumerated() {
            // In 256ths of a row. An edge between two rows counts for both.
            let fixed = Int((256 * slope * (Double(x) + 0.5 - Double(columns.count) / 2)).rounded())
            let (shift, part) = (reach + (fixed >> 8), fixed & 255)
            for edge in edges {
                profile[Int(edge.row) + shift] += Int(edge.weight) * (256 - part)
                profile[Int(edge.row) + shift + 1] += Int(edge.weight) * part
            }
        }
        // Differences of sums of two rows. Without these sums, angles would count for more at which edges lie on rows, and not
        // between them.
        return (3..<profile.count).reduce(0.0) { sum, row in
            let difference = Double(profile[row] + profile[row - 1] - profile[row - 2] - profile[row - 3])
            return sum + difference * difference
        }
    }
}
