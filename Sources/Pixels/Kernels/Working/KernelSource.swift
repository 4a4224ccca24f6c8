import Catalogs
import Geometry
public import Raster

/// For each coordinate of one axis that a kernel may ask for: where it lies in a raster.
///
/// All that kernels know of edges. Where an image ends, and what is seen there, was decided when the table was made.
public struct AxisTable: Hashable, Sendable {
    /// What ``positions`` has where nothing lies: all samples are zero there, alpha included.
    public static let transparent: Int32 = -1

    /// The coordinates that may be asked for.
    public let range: Range<Int>
    /// One entry for each coordinate of ``range``: a column or row of the raster, from 0, or ``transparent``.
    public let positions: [Int32]

    public init(range: Range<Int>, positions: [Int32]) {
        precondition(range.count == positions.count, "every coordinate has a position")
        self.range = range
        self.positions = positions
    }

    /// Coordinates that lie in the raster in their own order, the first one at position 0.
    public init(range: Range<Int>) {
        self.init(range: range, positions: (0..<Int32(range.count)).map { $0 })
    }

    package subscript(coordinate: Int) -> Int {
        Int(positions[coordinate - range.lowerBound])
    }
}

/// The pixels that a kernel may read: a raster, and tables that say where each coordinate lies in it.
public struct KernelSource: Sendable {
    /// Its own `rect` plays no role here.
    public let raster: AnyRaster
    public let columns: AxisTable
    public let rows: AxisTable
    /// What the raster's colours mean.
    public let curve: TransferCurve

    /// - Precondition: every position of the tables lies in the raster.
    public init(raster: AnyRaster, columns: AxisTable, rows: AxisTable, curve: TransferCurve = .sRGB) {
        precondition(
            columns.positions.allSatisfy { $0 < Int32(raster.rect.width) }
                && rows.positions.allSatisfy { $0 < Int32(raster.rect.height) }, "a table stays inside its raster")
        precondition(raster.hasAllSamples, "a raster has every sample of its rectangle")
        self.raster = raster
        self.columns = columns
        self.rows = rows
        self.curve = curve
    }

    /// A raster under its own coordinates, with nothing around it: for what reads no neighbours. Blurs take
    /// ``init(clamping:reach:)``.
    public init(_ raster: AnyRaster, curve: TransferCurve = .sRGB) {
        self.init(
            raster: raster, columns: AxisTable(range: raster.rect.columns), rows: AxisTable(range: raster.rect.rows),
            curve: curve)
    }
}

extension KernelSource {
    /// Traps unless everything that a blur reads and writes is there: the loops take it for granted.
    func checkCoverage(of destination: AnyRaster, halo: Halo, within mask: RoundedRect?) {
        checkCoverage(of: destination, within: mask) { $0.expanded(by: halo) }
    }

    /// - Parameter reading: what is read for a rectangle that is changed.
    func checkCoverage(
        of destination: AnyRaster, within mask: RoundedRect?, reading: (PixelRect) -> PixelRect
    ) {
        let own = raster.layout
        precondition(
            destination.layout == own || destination.layout == own.addingAlpha, "a filter may add alpha, nothing else")
        precondition(destination.format == raster.format, "a filter keeps the sample format")
        precondition(destination.hasAllSamples, "a raster has every sample of its rectangle")
        let area = mask.map { $0.bounds(in: destination.rect) } ?? destination.rect
        let needed = area.isEmpty ? destination.rect : destination.rect.union(reading(area))
        precondition(
            destination.rect.isEmpty || columns.range.contains(needed.columns) && rows.range.contains(needed.rows),
            "the tables cover what is read")
    }
}

extension Range<Int> {
    fileprivate func contains(_ other: Range<Int>) -> Bool {
        lowerBound <= other.lowerBound && other.upperBound <= upperBound
    }
}

extension AnyRaster {
    /// `samples` can be changed by anybody; loops over pointers depend on their number.
    fileprivate var hasAllSamples: Bool {
        switch self {
        case .u8(let raster): raster.samples.count == raster.rect.area * raster.layout.channels
        case .u16(let raster): raster.samples.count == raster.rect.area * raster.layout.channels
        case .f32(let raster): raster.samples.count == raster.rect.area * raster.layout.channels
        }
    }
}
