import Catalogs
package import Geometry
public import Raster

/// The position in a raster of each coordinate along one axis.
///
/// Kernels know edges only from these tables. The code that makes a table decides where an image ends, and what is visible
/// beyond.
public struct AxisTable: Hashable, Sendable {
    /// The entry in ``positions`` for transparent coordinates, where all samples are zero, alpha included.
    public static let transparent: Int32 = -1

    /// The coordinates that the table covers.
    public let range: Range<Int>
    /// One entry for each coordinate of ``range``: a column or row of the raster, from 0, or ``transparent``.
    public let positions: [Int32]

    public init(range: Range<Int>, positions: [Int32]) {
        precondition(range.count == positions.count, "every coordinate has a position")
        self.range = range
        self.positions = positions
    }

    /// Coordinates that lie in the raster in their own order, the first one at position 0.
    public init(range: Range<Int>) { self.init(range: range, positions: (0..<Int32(range.count)).map { $0 }) }

    package subscript(coordinate: Int) -> Int { Int(positions[coordinate - range.lowerBound]) }
}

/// The pixels that a kernel may read: a raster, and the position of each coordinate in it.
public struct KernelSource: Sendable {
    /// The raster. Its own `rect` is not used here.
    public let raster: AnyRaster
    public let columns: AxisTable
    public let rows: AxisTable
    /// The curves from the raster's samples to light.
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

    /// A raster in its own coordinates, without an edge: for kernels that read no neighbours. Blurs need
    /// ``init(clamping:reach:)``.
    public init(_ raster: AnyRaster, curve: TransferCurve = .sRGB) {
        self.init(
            raster: raster, columns: AxisTable(range: raster.rect.columns), rows: AxisTable(range: raster.rect.rows),
            curve: curve)
    }
}

extension KernelSource {
    /// Traps unless the tables cover everything that a blur reads and writes, because the loops rely on it.
    func checkCoverage(of destination: AnyRaster, halo: Halo, within mask: Mask?) {
        checkCoverage(of: destination, within: mask) { $0.expanded(by: halo) }
    }

    /// - Parameter reading: returns the rectangle that is read for a changed rectangle.
    func checkCoverage(of destination: AnyRaster, within mask: Mask?, reading: (PixelRect) -> PixelRect) {
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
    /// The range divided into pieces of `count` numbers. The last piece may be shorter.
    func pieces(of count: Int) -> [Range<Int>] {
        stride(from: lowerBound, to: upperBound, by: count).map { $0..<Swift.min($0 + count, upperBound) }
    }

    fileprivate func contains(_ other: Range<Int>) -> Bool {
        lowerBound <= other.lowerBound && other.upperBound <= upperBound
    }
}

extension AnyRaster {
    /// Whether `samples` has the expected count. Other code can change `samples`, and loops over pointers depend on it.
    fileprivate var hasAllSamples: Bool {
        switch self {
        case .u8(let raster): raster.samples.count == raster.rect.area * raster.layout.channels
        case .u16(let raster): raster.samples.count == raster.rect.area * raster.layout.channels
        case .f32(let raster): raster.samples.count == raster.rect.area * raster.layout.channels
        }
    }
}

extension KernelSource {
    /// Copies stored pixels, bit for bit, to the coordinates of `target`'s rectangle.
    ///
    /// If the target has an alpha that the raster lacks, pixels become opaque. At transparent coordinates, the target keeps
    /// its pixels, or becomes zero.
    ///
    /// - Precondition: the tables cover the target's rectangle; sample formats are the same.
    package func copyPixels(to target: inout AnyRaster) {
        switch raster {
        case .u8(let own): target.modifyU8 { copy(own, to: &$0) }
        case .u16(let own): target.modifyU16 { copy(own, to: &$0) }
        case .f32(let own): target.modifyF32 { copy(own, to: &$0) }
        }
    }

    private func copy<Sample: PixelSample>(_ own: Raster<Sample>, to other: inout Raster<Sample>) {
        precondition(other.layout == own.layout || other.layout == own.layout.addingAlpha, "only alpha may be added")
        let rect = other.rect
        if other.layout == own.layout {
            let pitch = other.stride * MemoryLayout<Sample>.stride
            other.samples.withUnsafeMutableBytes { bytes in
                if let start = bytes.baseAddress { copyRows(rect, to: start, pitch: pitch) }
            }
        } else {
            copyAddingAlpha(own, to: &other)
        }
    }

    private func copyAddingAlpha<Sample: PixelSample>(_ own: Raster<Sample>, to other: inout Raster<Sample>) {
        let (rect, width) = (other.rect, other.layout.channels)
        let stored = own.layout.channels
        let from = own.samples.span
        var to = other.samples.mutableSpan
        var index = 0
        for y in rect.rows {
            for x in rect.columns {
                let (row, column) = (rows[y], columns[x])
                if row >= 0, column >= 0 {
                    let start = row * own.stride + column * stored
                    for channel in 0..<stored { to[index + channel] = from[start + channel] }
                    to[index + stored] = Sample(rounding: Sample.full)
                }
                index += width
            }
        }
    }

    /// Copies the stored pixels of `area` to memory, with `pitch` bytes from row to row. Transparent coordinates become zeros.
    ///
    /// - Precondition: the tables cover `area`; the memory at `start` is large enough for its rows.
    package func copyRows(_ area: PixelRect, to start: UnsafeMutableRawPointer, pitch: Int) {
        guard !area.isEmpty else { return }
        let runs = columns.runs(in: area.columns)
        let isWhole = runs.reduce(0) { $0 + $1.count } == area.width
        let rowBytes = area.width * raster.layout.channels * raster.format.bytes
        for (index, y) in area.rows.enumerated() where !isWhole || rows[y] < 0 {
            (start + index * pitch).initializeMemory(as: UInt8.self, repeating: 0, count: rowBytes)
        }
        raster.withBytes { bytes in
            bytes.withUnsafeBytes { from in
                guard let from = from.baseAddress else { return }
                copyRows(area, runs, from, to: start, pitch: pitch)
            }
        }
    }

    /// Copies the stored pixels of `area` to neighbouring rows of a raster of its width, which begin at `first`.
    func copyRows<Sample: PixelSample>(_ area: PixelRect, to first: MutableRow<Sample>) {
        precondition(raster.format == Sample.format, "a copy keeps the sample format")
        let count = area.width * raster.layout.channels
        copyRows(
            area, to: UnsafeMutableRawPointer(first.pointer(for: area.height * count)),
            pitch: count * MemoryLayout<Sample>.stride)
    }

    private func copyRows(
        _ area: PixelRect, _ runs: [AxisTable.Run], _ from: UnsafeRawPointer, to start: UnsafeMutableRawPointer,
        pitch: Int
    ) {
        let pixelBytes = raster.layout.channels * raster.format.bytes
        let rowBytes = raster.rect.width * pixelBytes
        for (index, y) in area.rows.enumerated() where rows[y] >= 0 {
            let (row, target) = (from + rows[y] * rowBytes, start + index * pitch)
            for run in runs {
                (target + run.offset * pixelBytes).copyMemory(
                    from: row + run.position * pixelBytes, byteCount: run.count * pixelBytes)
            }
        }
    }
}

extension AxisTable {
    /// Coordinates that are consecutive in the raster.
    struct Run {
        /// The distance from the first requested coordinate.
        let offset: Int
        let position: Int
        private(set) var count: Int

        fileprivate func isContinued(by position: Int) -> Bool { position == self.position + count }
        fileprivate mutating func grow() { count += 1 }
    }

    /// The coordinates that are not transparent, in as few runs as possible.
    func runs(in coordinates: Range<Int>) -> [Run] {
        var runs: [Run] = []
        if let first = coordinates.first, let last = coordinates.last, self[first] >= 0,
            positions[(first - range.lowerBound)...(last - range.lowerBound)].isCounting
        {
            return [Run(offset: 0, position: self[first], count: coordinates.count)]
        }
        var isOpen = false
        for (offset, coordinate) in coordinates.enumerated() {
            let position = self[coordinate]
            guard position >= 0 else {
                isOpen = false
                continue
            }
            if isOpen, runs[runs.count - 1].isContinued(by: position) {
                runs[runs.count - 1].grow()
            } else {
                runs.append(Run(offset: offset, position: position, count: 1))
            }
            isOpen = true
        }
        return runs
    }
}

extension ArraySlice<Int32> {
    /// Whether each number is one more than the one before. It has no branch for each number, so that it is fast.
    fileprivate var isCounting: Bool {
        guard let first else { return true }
        var difference: Int32 = 0
        for (index, number) in enumerated() { difference |= number &- first &- Int32(truncatingIfNeeded: index) }
        return difference == 0
    }
}

extension KernelSource {
    /// Whether the samples are bytes and equal premultiplied pixels in `layout`.
    func isOpaqueBytes(as layout: PixelLayout, _ operations: RowOperations) -> Bool {
        isOpaqueBytes(as: layout, operations) { $0 }
    }

    /// The same for the first row of the raster. Nearly all pictures with transparency have some there.
    func mayBeOpaqueBytes(as layout: PixelLayout, _ operations: RowOperations) -> Bool {
        isOpaqueBytes(as: layout, operations) { min(1, $0) }
    }

    /// - Parameter checkedRows: how many rows are looked at, of all rows of the raster.
    private func isOpaqueBytes(
        as layout: PixelLayout, _ operations: RowOperations, checkedRows: (Int) -> Int
    ) -> Bool {
        guard case .u8(let raster) = raster else { return false }
        guard layout.hasAlpha else { return true }
        guard raster.layout == layout, !columns.positions.contains(AxisTable.transparent),
            !rows.positions.contains(AxisTable.transparent)
        else { return false }
        var isOpaque = false
        raster.samples.withRow {
            isOpaque = operations.isOpaque(
                $0, channels: layout.channels, pixels: raster.rect.width * checkedRows(raster.rect.height))
        }
        return isOpaque
    }
}
