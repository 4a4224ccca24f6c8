import Arithmetic
package import Geometry
package import Raster

/// The strength of a blur at each pixel of a picture, 0…65535: from another picture, or from a gradient.
package enum StrengthMap: Hashable, Sendable {
    /// A gray picture that is scaled to the extent bilinearly. White is full strength.
    case picture(GrayPicture)
    case gradient(StrengthGradient)

    /// An upper bound of the strengths in the rectangle. For a picture, the cost grows with the part of it under the
    /// rectangle.
    ///
    /// - Parameter extent: the rectangle over which the map is spread. Beyond it the border of the picture repeats.
    package func most(in rect: PixelRect, extent: PixelRect) -> Int {
        guard !rect.isEmpty else { return 0 }
        switch self {
        case .picture(let picture): return picture.most(in: rect, extent: extent)
        case .gradient(let gradient):
            // All gradients grow from their middle outwards, or to one side.
            let corners = [rect.x, rect.right - 1].flatMap { x in [rect.y, rect.bottom - 1].map { (x, $0) } }
            return corners.map { Int(gradient.strength(x: $0.0, y: $0.1)) }.max() ?? 0
        }
    }
}

extension StrengthMap {
    /// A lower bound of the strengths in the rectangle; see ``most(in:extent:)``.
    func least(in rect: PixelRect, extent: PixelRect) -> Int {
        guard !rect.isEmpty else { return 0 }
        switch self {
        case .picture(let picture): return picture.least(in: rect, extent: extent)
        case .gradient(let gradient): return Int(gradient.least(in: rect))
        }
    }
}

/// The strengths of some columns, row by row.
struct StrengthRows {
    private let map: StrengthMap
    private let columns: [Int]
    private let extent: PixelRect
    /// For a picture: the position of each column between two columns of the picture.
    private let positions: [StrengthPosition]

    init(_ map: StrengthMap, columns: some Sequence<Int>, extent: PixelRect) {
        (self.map, self.columns, self.extent) = (map, Array(columns), extent)
        guard case .picture(let picture) = map else {
            positions = []
            return
        }
        positions = self.columns.map { StrengthPosition($0, extent.columns, in: picture.width) }
    }

    /// - Parameter row: a buffer for one value for each column.
    func fill(_ row: MutableRow<UInt16>, y: Int) {
        switch map {
        case .gradient(let gradient):
            for (index, x) in columns.enumerated() { row[index] = gradient.strength(x: x, y: y) }
        case .picture(let picture):
            let position = StrengthPosition(y, extent.rows, in: picture.height)
            picture.samples.withRow { samples in
                fill(
                    row, samples + position.low * picture.width, samples + position.high * picture.width, position.share
                )
            }
        }
    }

    private func fill(
        _ row: MutableRow<UInt16>, _ upper: Row<UInt16>, _ lower: Row<UInt16>,
        _ down: Double
    ) {
        precondition(positions.count <= row.count, "a row has room for all columns")
        let positions = self.positions.span
        for index in positions.indices {
            let position = positions[index]
            let (left, right, along) = (position.low, position.high, position.share)
            if down == 0, along == 0 {
                row[unchecked: index] = upper[unchecked: left]
                continue
            }
            let above = Double(upper[unchecked: left]) * (1 - along) + Double(upper[unchecked: right]) * along
            let below = Double(lower[unchecked: left]) * (1 - along) + Double(lower[unchecked: right]) * along
            row[unchecked: index] = UInt16(above * (1 - down) + below * down + 0.5)
        }
    }
}

/// The position of a pixel's middle between two pixels of a picture that is spread over the extent.
private struct StrengthPosition {
    let low: Int
    let high: Int
    let share: Double

    init(_ pixel: Int, _ extent: Range<Int>, in count: Int) {
        let position = (Double(pixel - extent.lowerBound) + 0.5) * Double(count) / Double(extent.count) - 0.5
        let clamped = min(max(position, 0), Double(count - 1))
        low = Int(clamped)
        high = min(low + 1, count - 1)
        share = clamped - Double(low)
    }
}

extension GrayPicture {
    fileprivate func most(in rect: PixelRect, extent: PixelRect) -> Int {
        Int(reduce(rect, extent, from: 0) { max($0, $1) })
    }

    fileprivate func least(in rect: PixelRect, extent: PixelRect) -> Int {
        Int(reduce(rect, extent, from: .max) { min($0, $1) })
    }

    /// Combines the samples from which the strengths of a rectangle are interpolated.
    @inline(__always) private func reduce(
        _ rect: PixelRect, _ extent: PixelRect, from start: UInt16, _ combine: (UInt16, UInt16) -> UInt16
    ) -> UInt16 {
        let columns =
            StrengthPosition(rect.x, extent.columns, in: width)
            .low...StrengthPosition(rect.right - 1, extent.columns, in: width).high
        let rows =
            StrengthPosition(rect.y, extent.rows, in: height)
            .low...StrengthPosition(rect.bottom - 1, extent.rows, in: height).high
        let samples = self.samples.span
        var result = start
        for y in rows {
            let row = samples.extracting(y * width..<(y + 1) * width)
            for x in columns { result = combine(result, row[unchecked: x]) }
        }
        return result
    }
}

/// Strengths that grow in a direction, or with the distance from a point. Lengths and coordinates are in pixels.
package struct StrengthGradient: Hashable, Sendable {
    package enum Shape: String, Hashable, Sendable, CaseIterable {
        /// A band stays sharp.
        case tilt
        /// The side behind the centre stays sharp.
        case linear
        /// A disc stays sharp.
        case radial
    }

    package let shape: Shape
    package let centerX: Double
    package let centerY: Double
    /// The direction in which strengths grow; y points down.
    package let directionX: Double
    package let directionY: Double
    /// The distance from the centre up to which strengths are 0.
    package let sharp: Double
    /// The distance over which strengths grow from 0 to full.
    package let falloff: Double

    package init(shape: Shape, centerX: Double, centerY: Double, degrees: Double, sharp: Double, falloff: Double) {
        self.shape = shape
        (self.centerX, self.centerY) = (centerX, centerY)
        let (sin, cos) = DeterministicMath.sinCos(degrees: degrees)
        (directionX, directionY) = (cos, 0 - sin)
        (self.sharp, self.falloff) = (sharp, falloff)
    }

    /// The strength at a pixel's middle, rounded to multiples of 1/65535.
    func strength(x: Int, y: Int) -> UInt16 {
        let (dx, dy) = (Double(x) + 0.5 - centerX, Double(y) + 0.5 - centerY)
        return switch shape {
        case .tilt: strength(at: (dx * directionX + dy * directionY).magnitude)
        case .linear: strength(at: dx * directionX + dy * directionY)
        case .radial: strength(at: (dx * dx + dy * dy).squareRoot())
        }
    }

    private func strength(at distance: Double) -> UInt16 {
        guard distance > sharp else { return 0 }
        guard distance - sharp < falloff else { return 65535 }
        return UInt16((distance - sharp) / falloff * 65535 + 0.5)
    }

    /// The least strength of a rectangle that is not empty.
    func least(in rect: PixelRect) -> UInt16 {
        let (left, right) = (Double(rect.x) + 0.5 - centerX, Double(rect.right) - 0.5 - centerX)
        let (top, bottom) = (Double(rect.y) + 0.5 - centerY, Double(rect.bottom) - 0.5 - centerY)
        if shape == .radial {
            let (dx, dy) = (max(left, -right, 0), max(top, -bottom, 0))
            return strength(at: (dx * dx + dy * dy).squareRoot())
        }
        let corners = [left, right].flatMap { dx in [top, bottom].map { dx * directionX + $0 * directionY } }
        let (low, high) = (corners.min() ?? 0, corners.max() ?? 0)
        return strength(at: shape == .linear ? low : max(low, -high, 0))
    }
}
