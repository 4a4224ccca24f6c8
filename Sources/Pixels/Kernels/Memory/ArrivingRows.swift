package import Catalogs
package import Geometry
package import Raster

/// A picture that a kernel reads while its rows arrive.
package struct ArrivingInput {
    let extent: PixelRect
    let layout: PixelLayout
    let columns: AxisTable
    let rows: AxisTable
    let next: () throws -> AnyRaster?

    /// - Parameters:
    ///   - extent: the extent of the whole picture.
    ///   - columns: the positions of columns in a row of the picture.
    ///   - rows: the positions of rows in the picture, from 0, for all rows that will be read.
    ///   - next: returns the next rows: complete rows, in order. It is called only while rows are missing.
    package init(
        extent: PixelRect, layout: PixelLayout, columns: AxisTable, rows: AxisTable,
        next: @escaping () throws -> AnyRaster?
    ) {
        self.extent = extent
        self.layout = layout
        self.columns = columns
        self.rows = rows
        self.next = next
    }
}

/// A kernel that writes a picture from the top down while its input arrives. It keeps its state between two calls, so that no row is
/// computed twice, and few rows of the input are held.
///
/// One thread at a time may use it.
package protocol RunningKernel: AnyObject {
    /// Writes every pixel of `destination`, the complete rows below those of the previous call. It asks for the rows of the input that it
    /// needs.
    ///
    /// - Throws: the error of the input.
    func render(into destination: inout AnyRaster) throws
}

/// The rows of an 8-bit picture that readers still need, while they arrive from the top down.
///
/// Row y is at y modulo a power of two, so that no row moves while the window slides. The memory grows until it can hold the longest
/// window.
final class ArrivingRows {
    /// The number of rows that fit. It is a power of two.
    private(set) var capacity = 64
    /// The first error of the input. Nothing is read after it.
    private(set) var failure: (any Error)?

    private let input: ArrivingInput
    private let stride: Int
    private var memory: RowBuffer<UInt8>
    /// The stored rows, from the top of the picture.
    private var held = 0..<0
    private let core: Range<Int>
    /// For each coordinate of the core, the first row that is read there or below.
    private let first: [Int]
    /// The first coordinate that each reader may still read.
    private var readers: [Int] = []

    init(_ input: ArrivingInput) {
        self.input = input
        stride = input.extent.width * input.layout.channels
        memory = Self.memory(stride: stride, capacity: capacity)
        core = input.rows.core
        var (lowest, first) = (input.extent.height, [Int]())
        for y in core.reversed() {
            if input.rows[y] >= 0 { lowest = min(lowest, input.rows[y]) }
            first.append(lowest)
        }
        self.first = first.reversed()
    }

    /// Vectors may read beyond both ends.
    private static func memory(stride: Int, capacity: Int) -> RowBuffer<UInt8> {
        RowBuffer(count: stride * capacity + 2 * Reading.slack)
    }

    /// The rows by their slots.
    var samples: Row<UInt8> { Row(start) }
    private var start: MutableRow<UInt8> { memory.start + Reading.slack }

    @inline(__always) func slot(_ row: Int) -> Int { row & (capacity &- 1) }

    func addReader() -> Int {
        readers.append(core.lowerBound)
        return readers.count - 1
    }

    /// Receives rows until those at the coordinates `y` are there.
    ///
    /// - Returns: whether slots have got other rows, or other places.
    func require(_ y: Range<Int>, by reader: Int) -> Bool {
        readers[reader] = y.lowerBound
        let last = y.reduce(-1) { max($0, input.rows[inCore($1)]) }
        guard last >= held.upperBound, failure == nil else { return false }
        let needed = first[inCore(readers.min() ?? y.lowerBound) - core.lowerBound]
        do {
            while last >= held.upperBound {
                guard let band = try input.next() else { preconditionFailure("an input has all of its rows") }
                append(band, from: needed)
            }
        } catch {
            failure = error
        }
        return true
    }

    private func inCore(_ y: Int) -> Int { min(max(y, core.lowerBound), core.upperBound - 1) }

    /// - Parameter needed: the first row that is still needed.
    private func append(_ band: AnyRaster, from needed: Int) {
        let rows = band.rect.y - input.extent.y..<band.rect.bottom - input.extent.y
        precondition(
            rows.lowerBound == held.upperBound && band.rect.columns == input.extent.columns,
            "rows come from the top down")
        guard case .u8(let raster) = band else { preconditionFailure("8-bit samples") }
        let first = min(max(held.lowerBound, needed), rows.upperBound)
        makeRoom(for: rows.upperBound - first, from: first)
        raster.samples.withRow { samples in
            for row in rows where row >= first {
                (start + slot(row) * stride).update(from: samples + (row - rows.lowerBound) * stride, count: stride)
            }
        }
        held = first..<rows.upperBound
    }

    /// - Parameter first: the first stored row that is kept.
    private func makeRoom(for count: Int, from first: Int) {
        guard count > capacity else { return }
        let old = samples
        var larger = capacity
        while larger < count { larger *= 2 }
        let new = Self.memory(stride: stride, capacity: larger)
        for row in held where row >= first {
            (new.start + (Reading.slack + (row & (larger - 1)) * stride)).update(
                from: old + slot(row) * stride, count: stride)
        }
        capacity = larger
        memory = new
    }
}
