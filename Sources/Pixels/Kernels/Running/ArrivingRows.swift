package import Catalogs
package import Geometry
package import Raster

/// A picture that a kernel reads while its rows arrive.
package struct ArrivingInput {
    let extent: PixelRect
    let layout: PixelLayout
    let columns: AxisTable
    let rows: AxisTable
    let curve: TransferCurve
    let heldRows: Int
    let next: () throws -> AnyRaster?

    /// - Parameters:
    ///   - extent: the extent of the whole picture.
    ///   - columns: the positions of columns in a row of the picture.
    ///   - rows: the positions of rows in the picture, from 0, for all rows that will be read.
    ///   - curve: the curves from samples to light.
    ///   - heldRows: the rows that the kernel will hold; see ``RunningForm/rows``. With a lower number, memory grows when it is needed.
    ///   - next: returns the next rows: complete rows, in order. It is called only while rows are missing.
    package init(
        extent: PixelRect, layout: PixelLayout, columns: AxisTable, rows: AxisTable, curve: TransferCurve,
        heldRows: Int = 0, next: @escaping () throws -> AnyRaster?
    ) {
        self.extent = extent
        self.heldRows = heldRows
        self.layout = layout
        self.columns = columns
        self.rows = rows
        self.curve = curve
        self.next = next
    }
}

/// Receives the rows of a picture from the top down, and knows which of them are still needed.
struct Arrival {
    /// The first error of the input. Nothing is read after it.
    private(set) var failure: (any Error)?
    private let input: ArrivingInput
    /// The rows that have arrived and may still be needed.
    private(set) var held = 0..<0
    /// The most rows that were held when others arrived.
    private(set) var mostRows = 0
    private let core: Range<Int>
    /// For each coordinate of the core, the first row that is read there or below.
    private let first: [Int]
    /// The first coordinate that is still read, although the kernel has asked for rows below it. Nil if there is none.
    var kept: Int?

    init(_ input: ArrivingInput) {
        self.input = input
        core = input.rows.core
        var (lowest, first) = (input.extent.height, [Int]())
        for y in core.reversed() {
            let row = input.rows[y]
            if row >= 0 { lowest = min(lowest, row) }
            first.append(lowest)
        }
        self.first = first.reversed()
    }

    /// The row of the picture at a coordinate; negative if it is transparent.
    func row(at y: Int) -> Int { input.rows[inCore(y)] }

    private func inCore(_ y: Int) -> Int { min(max(y, core.lowerBound), core.upperBound - 1) }

    /// Receives rows until those at the coordinates `y` are there. The kernel asks for rows from the top down. It reads none above those
    /// that it has asked for last, except from ``kept`` on.
    ///
    /// - Parameter store: receives a band and its rows. The rows above `first` are not needed any more.
    /// - Returns: whether rows have arrived.
    mutating func require(
        _ y: Range<Int>, store: (_ band: AnyRaster, _ rows: Range<Int>, _ first: Int) -> Void
    ) -> Bool {
        let last = y.reduce(-1) { max($0, row(at: $1)) }
        guard last >= held.upperBound, failure == nil else { return false }
        let needed = first[inCore(min(kept ?? y.lowerBound, y.lowerBound)) - core.lowerBound]
        do {
            while last >= held.upperBound {
                guard let band = try input.next() else { preconditionFailure("an input has all of its rows") }
                let rows = band.rect.y - input.extent.y..<band.rect.bottom - input.extent.y
                precondition(
                    rows.lowerBound == held.upperBound && band.rect.columns == input.extent.columns,
                    "rows come from the top down")
                let first = min(max(held.lowerBound, needed), rows.upperBound)
                mostRows = max(mostRows, rows.lowerBound - first)
                store(band, rows, first)
                held = first..<rows.upperBound
            }
        } catch {
            failure = error
        }
        return true
    }
}

/// The rows of a picture that a kernel still needs, while they arrive from the top down.
///
/// Row y is at y modulo the number of rows that fit, so that no row moves while the window slides. The memory grows if it cannot hold
/// a window.
final class ArrivingSamples<Sample: PixelSample> {
    /// The number of rows that fit.
    private(set) var capacity = 1
    private var arrival: Arrival
    private let stride: Int
    private let height: Int
    private let promisedRows: Int
    private var memory: RowBuffer<Sample>

    init(_ input: ArrivingInput) {
        arrival = Arrival(input)
        stride = input.extent.width * input.layout.channels
        height = input.extent.height
        promisedRows = input.heldRows
        memory = Self.memory(stride: stride, capacity: capacity)
    }

    var failure: (any Error)? { arrival.failure }
    var heldRows: Int { arrival.mostRows }

    /// See ``Arrival/kept``.
    var kept: Int? {
        get { arrival.kept }
        set { arrival.kept = newValue }
    }

    /// Vectors may read beyond both ends.
    private static func memory(stride: Int, capacity: Int) -> RowBuffer<Sample> {
        RowBuffer(count: stride * capacity + 2 * Reading.slack)
    }

    /// The rows by their slots.
    var samples: Row<Sample> { Row(start) }
    private var start: MutableRow<Sample> { memory.start + Reading.slack }

    /// A division of 32 bits takes half the time.
    @inline(__always) func slot(_ row: Int) -> Int {
        Int(UInt32(truncatingIfNeeded: row) % UInt32(truncatingIfNeeded: capacity))
    }

    /// See ``Arrival/require(_:store:)``.
    ///
    /// - Returns: whether the memory has changed.
    func require(_ y: Range<Int>) -> Bool {
        let held = arrival.held
        var bottom = held.upperBound
        return arrival.require(y) { band, rows, first in
            makeRoom(for: rows.upperBound - first, arriving: rows.count, keeping: first..<max(first, bottom))
            store(band, rows, from: first)
            bottom = rows.upperBound
        }
    }

    private func store(_ band: AnyRaster, _ rows: Range<Int>, from first: Int) {
        band.withSamples(of: Sample.self) { samples in
            for row in rows where row >= first {
                (start + slot(row) * stride).update(from: samples + (row - rows.lowerBound) * stride, count: stride)
            }
        }
    }

    private func makeRoom(for count: Int, arriving: Int, keeping rows: Range<Int>) {
        guard count > capacity else { return }
        // What was promised is allocated at once. Beyond it, a few large steps copy less than many small ones.
        let larger = min(max(count, promisedRows + arriving, capacity * 5 / 4), max(count, height))
        let new = Self.memory(stride: stride, capacity: larger)
        for row in rows {
            (new.start + (Reading.slack + row % larger * stride)).update(
                from: samples + slot(row) * stride, count: stride)
        }
        capacity = larger
        memory = new
    }
}

extension AnyRaster {
    /// Lends the samples of a raster of this format.
    fileprivate func withSamples<Sample: PixelSample>(of _: Sample.Type, _ body: (Row<Sample>) -> Void) {
        func lend<Own: PixelSample>(_ raster: Raster<Own>) {
            guard let raster = raster as? Raster<Sample> else {
                preconditionFailure("a raster has the format asked for")
            }
            raster.samples.withRow(body)
        }
        switch self {
        case .u8(let raster): lend(raster)
        case .u16(let raster): lend(raster)
        case .f32(let raster): lend(raster)
        }
    }
}

/// The bands of a picture that a kernel still needs, while they arrive from the top down.
final class ArrivingBands {
    private struct Band {
        let rows: Range<Int>
        let reader: PixelReader
    }

    private let input: ArrivingInput
    private let layout: PixelLayout
    private let light: Light
    private var arrival: Arrival
    private var bands: [Band] = []

    /// - Parameter layout: the layout of the working values.
    init(_ input: ArrivingInput, layout: PixelLayout, light: Light) {
        self.input = input
        self.layout = layout
        self.light = light
        arrival = Arrival(input)
    }

    var failure: (any Error)? { arrival.failure }
    var heldRows: Int { arrival.mostRows }

    /// See ``Arrival/kept``.
    var kept: Int? {
        get { arrival.kept }
        set { arrival.kept = newValue }
    }

    /// Waits for the row at a coordinate. Coordinates never decrease, except to those that are ``kept``.
    ///
    /// - Returns: a reader, and the position of the row in its raster. Nil for a transparent row, and after an error.
    func row(at y: Int) -> (reader: PixelReader, position: Int)? {
        _ = arrival.require(y..<y + 1) { band, rows, first in
            bands.removeAll { $0.rows.upperBound <= first }
            let source = KernelSource(
                raster: band, columns: input.columns, rows: AxisTable(range: 0..<rows.count), curve: input.curve)
            bands.append(Band(rows: rows, reader: PixelReader(source, layout: layout, light: light)))
        }
        let row = arrival.row(at: y)
        return bands.last { $0.rows.contains(row) }.map { ($0.reader, row - $0.rows.lowerBound) }
    }
}
