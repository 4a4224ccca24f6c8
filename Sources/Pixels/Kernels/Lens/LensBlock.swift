import Catalogs
import Geometry
import Raster

/// A part of a picture with all pixels around it that its sums reach. How a picture is divided affects no pixel.
final class LensBlock {
    let rect: PixelRect
    let channels: Int
    private let reach: Int
    private let light: RowRing<Float>
    /// The block without brighter highlights, a plane for each channel; empty if nothing was brightened.
    private let original: [SumPlane]

    /// The sums of a block's columns over a high aperture stay in the second-level cache.
    private static let side = 256

    /// The parts of an area.
    static func parts(of area: PixelRect) -> [PixelRect] {
        area.rows.pieces(of: side).flatMap { rows in
            area.columns.pieces(of: side).map { PixelRect(columns: $0, rows: rows) }
        }
    }

    init(
        _ rect: PixelRect, _ reader: PixelReader, reach: Int, _ brightening: LensBrightening?,
        _ operations: RowOperations
    ) {
        (self.rect, self.reach) = (rect, reach)
        channels = reader.layout.channels
        let read = rect.expanded(by: Halo(horizontal: reach, vertical: reach))
        light = RowRing(
            columns: read.columns, rows: read.rows, channels: 1, planes: channels, capacity: read.height, margin: 0)
        let source = FloatSource(reader, columns: read.columns, operations)
        for y in read.rows { source.read(y, into: light) }
        guard let brightening else {
            original = []
            return
        }
        original = (0..<channels).map { _ in SumPlane(width: rect.width, height: rect.height) }
        for y in 0..<rect.height {
            for (channel, plane) in original.enumerated() {
                plane.row(y).update(from: Row(row(channel, y)), count: rect.width)
            }
        }
        for y in read.rows { brightening.apply(to: { light.plane($0, y: y) }, count: read.width) }
    }

    /// The values of a row, from the block's first column on, with brighter highlights.
    ///
    /// - Parameter y: from 0 in the block.
    func row(_ channel: Int, _ y: Int) -> MutableRow<Float> { light.plane(channel, y: rect.y + y) + reach }

    /// The values of a row of the block as they are in the picture.
    func originalRow(_ channel: Int, _ y: Int) -> Row<Float> {
        Row(original.isEmpty ? row(channel, y) : original[channel].row(y))
    }
}

/// Brightens premultiplied pixels; see ``Highlights``.
struct LensBrightening: Sendable {
    private let threshold: Float
    private let slope: Float
    private let more: Float
    private let full: Float
    private let layout: PixelLayout

    /// - Parameter full: full intensity on the scale of the samples.
    init(_ highlights: Highlights, layout: PixelLayout, full: Float) {
        threshold = Float(highlights.threshold)
        // From a threshold of 1 on, the ramp is a step.
        slope = highlights.threshold < 1 ? Float(1 / (1 - highlights.threshold)) : .greatestFiniteMagnitude
        more = Float(highlights.gain - 1)
        (self.layout, self.full) = (layout, full)
    }

    func apply(to planes: (Int) -> MutableRow<Float>, count: Int) {
        let colors = layout.removingAlpha.channels
        let rows = (0..<layout.channels).map(planes)
        precondition(rows.allSatisfy { $0.count >= count }, "a plane has all pixels")
        let (red, green, blue) = (rows[0], rows[colors == 1 ? 0 : 1], rows[colors == 1 ? 0 : 2])
        for x in 0..<count {
            let sum = 0.2126 * red[unchecked: x] + 0.7152 * green[unchecked: x] + 0.0722 * blue[unchecked: x]
            let above = sum / (layout.hasAlpha ? rows[colors][unchecked: x] : full) - threshold
            guard above > 0 else { continue }  // as for NaN
            let factor = 1 + more * min(1, above * slope)
            for color in 0..<colors { rows[color][unchecked: x] *= factor }
        }
    }
}
