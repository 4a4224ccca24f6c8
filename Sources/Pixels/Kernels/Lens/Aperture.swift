import Arithmetic
package import Raster

/// The opening of a lens. A bright point that is out of focus becomes a picture of it.
package enum Aperture: Hashable, Sendable {
    /// An opening as wide as `radius` says, between straight or curved blades.
    case blades(Blades)
    /// White lets all light through, black none. The longer side of the picture is as wide as the opening.
    case picture(GrayPicture)

    /// A regular polygon whose corners lie on a circle. Its sides are arcs through neighbouring corners.
    package struct Blades: Hashable, Sendable {
        /// At least 3; 0 for a disc.
        package let count: Int
        /// From 0 for straight sides to 1 for parts of the circle.
        package let curvature: Double
        /// The direction of a corner, in degrees counter-clockwise from the right.
        package let degrees: Double

        package init(count: Int, curvature: Double = 0, degrees: Double = 0) {
            precondition(count == 0 || count >= 3, "a polygon has three corners")
            (self.count, self.curvature, self.degrees) = (count, curvature, degrees)
        }
    }

    package static let disc = Aperture.blades(Blades(count: 0))

    /// Whether no light passes.
    package var isClosed: Bool {
        if case .picture(let picture) = self { picture.samples.allSatisfy { $0 == 0 } } else { false }
    }
}

/// The share of each pixel around a centre that an aperture covers, in 65536ths.
///
/// The opening is centred on the centre of the pixel (0, 0), and 2·radius + 1 pixels wide, as the disc of ``DiscWeights`` is.
package struct ApertureMask: Hashable, Sendable {
    /// The number of pixels that may be covered on each side.
    package let reach: Int
    /// Row by row, from the top left corner on.
    private let shares: [Float]

    private static let full = 65536.0

    /// - Parameter radius: in pixels, at least 0.
    package init(_ aperture: Aperture, radius: Double) {
        let reach = Int(radius.rounded(.up))
        let side = 2 * reach + 1
        var areas: [Double]
        switch aperture {
        case .blades(let blades):
            areas = Self.areas(PolygonOutline(blades, radius: radius + 0.5), reach: reach)
        case .picture(let picture):
            areas = Self.areas(picture, width: 2 * radius + 1, reach: reach)
        }
        if !areas.contains(where: { $0 * Self.full >= 0.5 }) {
            // So little light passes that every weight would be rounded to 0.
            areas = [Double](repeating: 0, count: side * side)
            areas[reach * side + reach] = 1
        }
        self.reach = reach
        shares = areas.map { Float(($0 * Self.full + 0.5).rounded(.down) / Self.full) }
    }

    /// The covered share of the pixel at an offset, 0…1. Positive offsets are to the right and down.
    package func share(dx: Int, dy: Int) -> Double {
        guard abs(dx) <= reach, abs(dy) <= reach else { return 0 }
        return Double(shares[(dy + reach) * (2 * reach + 1) + dx + reach])
    }

    /// The areas between the lines of a fine raster. Along a line, the length in each pixel is exact.
    private static func areas(_ outline: PolygonOutline, reach: Int) -> [Double] {
        // Small apertures have more lines, because each of their pixels weighs more.
        let lines = 32 * max(1, 32 / max(1, reach))
        var areas: [Double] = []
        for dy in -reach...reach {
            let spans = (0..<lines).compactMap {
                outline.span(at: Double(dy) - 0.5 + (Double($0) + 0.5) / Double(lines))
            }
            for dx in -reach...reach {
                let (left, right) = (Double(dx) - 0.5, Double(dx) + 0.5)
                let lengths = spans.reduce(0.0) { $0 + max(0, min($1.right, right) - max($1.left, left)) }
                areas.append(lengths / Double(lines))
            }
        }
        return areas
    }

    /// The mean brightness of the part of a picture in each pixel.
    ///
    /// - Parameter width: the width of the picture's longer side, in pixels of the mask.
    private static func areas(_ picture: GrayPicture, width: Double, reach: Int) -> [Double] {
        let scale = width / Double(max(picture.width, picture.height))
        let columns = PixelShares(picture.width, scale: scale, reach: reach)
        let rows = PixelShares(picture.height, scale: scale, reach: reach)
        let samples = picture.samples.span
        var areas: [Double] = []
        var sums = [Double](repeating: 0, count: picture.width)
        for row in rows.parts {
            for x in sums.indices { sums[x] = 0 }
            for (y, share) in row {
                for x in sums.indices { sums[x] += Double(samples[y * picture.width + x]) * share }
            }
            for column in columns.parts {
                areas.append(min(1, column.reduce(0.0) { $0 + sums[$1.index] * $1.share } / 65535))
            }
        }
        return areas
    }
}

/// For each pixel along an axis of a mask, the samples of a picture in it, and the share of the pixel that each one fills.
private struct PixelShares {
    let parts: [[(index: Int, share: Double)]]

    init(_ count: Int, scale: Double, reach: Int) {
        let start = Double(count) * scale / 2
        parts = (-reach...reach).map { pixel in
            let (low, high) = ((Double(pixel) - 0.5 + start) / scale, (Double(pixel) + 0.5 + start) / scale)
            let indices = Int(max(0, low))..<max(Int(max(0, low)), min(count, Int(max(0, high)) + 1))
            return indices.map { ($0, max(0, min(high, Double($0 + 1)) - max(low, Double($0))) * scale) }
        }
    }
}

/// The outline of blades around 0, 0: the intersection of the discs, or half planes, of their sides.
private struct PolygonOutline {
    private struct Side {
        /// The direction from the centre to the middle of the side; y points down.
        let x: Double
        let y: Double
        /// Nil if the side is straight.
        let circle: (distance: Double, radius: Double)?
        /// The distance of the middle of the side from the centre.
        let distance: Double
    }

    private let sides: [Side]

    /// - Parameter radius: the distance of the corners.
    init(_ blades: Aperture.Blades, radius: Double) {
        guard blades.count > 0, blades.curvature < 1 else {
            sides = [Side(x: 1, y: 0, circle: (0, radius), distance: radius)]
            return
        }
        let half = 180 / Double(blades.count)
        let (sin, cos) = DeterministicMath.sinCos(degrees: half)
        let height = radius * cos
        // The arc through two corners that rises above the straight line between them by `rise`.
        let rise = blades.curvature * (radius - height)
        let arc = rise > 0 ? (radius * sin * (radius * sin) + rise * rise) / (2 * rise) : 0
        sides = (0..<blades.count).map { index in
            let (down, right) = DeterministicMath.sinCos(degrees: blades.degrees + half * Double(2 * index + 1))
            return Side(
                x: right, y: 0 - down, circle: rise > 0 ? (height + rise - arc, arc) : nil, distance: height + rise)
        }
    }

    /// The part of a horizontal line inside of the outline; nil if there is none.
    func span(at y: Double) -> (left: Double, right: Double)? {
        var (left, right) = (-Double.infinity, Double.infinity)
        for side in sides {
            if let circle = side.circle {
                let dy = y - side.y * circle.distance
                let square = circle.radius * circle.radius - dy * dy
                guard square > 0 else { return nil }
                let (middle, half) = (side.x * circle.distance, square.squareRoot())
                (left, right) = (max(left, middle - half), min(right, middle + half))
            } else if side.x > 0 {
                right = min(right, (side.distance - side.y * y) / side.x)
            } else if side.x < 0 {
                left = max(left, (side.distance - side.y * y) / side.x)
            } else if side.y * y > side.distance {
                return nil
            }
        }
        return left < right ? (left, right) : nil
    }
}
