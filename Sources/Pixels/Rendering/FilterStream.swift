package import Catalogs
import Filters
import Geometry
import Kernels
package import Raster

extension Chain {
    /// The chain's output in bands from the top down, computed while the rows of its input arrive.
    ///
    /// Each filter keeps only the rows of its input that its next band reads. Memory does not grow with the picture's height,
    /// and no row between two filters is computed twice. The pixels are those of ``render(_:from:)``. One thread at a time may
    /// use it.
    ///
    /// - Parameters:
    ///   - plan: the chain's plan for this input. Its ``ChainPlan/isRowLocal`` must be true.
    ///   - format: the input's sample format.
    ///   - bandHeights: the band heights of each filter's output.
    ///   - remembers: whether filters may keep their state from band to band; see ``StreamPlan/remembers``.
    ///   - input: returns the input's next rows, any number of complete rows in order; nil after the last one. It is always
    ///     read to its end.
    /// - Returns: a function that returns the next band; nil after the last row. It throws the errors of the input and of
    ///   plugins.
    package func stream(
        _ plan: ChainPlan, format: SampleFormat, bandHeights: [Int], remembers: Bool = true,
        input: @escaping () throws -> AnyRaster?
    ) -> () throws -> AnyRaster? {
        precondition(plan.isRowLocal, "every band needs only the rows around it")
        precondition(bandHeights.count == plan.stages.count, "every filter has its bands")
        var last = input
        for index in plan.stages.indices {
            let stream = FilterStream(
                filters[index], plan.stages[index], format: format, curve: curve, frame: frame,
                bandHeight: bandHeights[index], remembers: remembers, input: last)
            last = { try stream.nextBand() }
        }
        return last
    }
}

/// One filter's output in bands from the top down, from its input in the same order.
final class FilterStream {
    private let stage: ChainPlan.Stage
    private let format: SampleFormat
    private let input: () throws -> AnyRaster?
    private let bands: [Range<Int>]
    /// Writes the next band.
    private let render: (inout AnyRaster) throws -> Void
    /// Whether a band that is written has only zeros. Kernels that keep their state write every sample.
    private let isZeroed: Bool
    /// The index of the next band.
    private var index = 0

    init(
        _ filter: any Filter, _ stage: ChainPlan.Stage, format: SampleFormat, curve: TransferCurve, frame: Int,
        bandHeight: Int, remembers: Bool, input: @escaping () throws -> AnyRaster?
    ) {
        self.stage = stage
        self.format = format
        self.input = input
        let bands = stride(from: stage.output.y, to: stage.output.bottom, by: bandHeight).map {
            $0..<min($0 + bandHeight, stage.output.bottom)
        }
        self.bands = bands
        let form =
            remembers ? filter.runningForm(of: stage.output, in: stage.input, stage.inputLayout, format) : nil
        if let form {
            let map = filter.sourceMap(for: stage.output, in: stage.input)
            let kernel = form.make(
                ArrivingInput(
                    extent: stage.input, layout: stage.inputLayout,
                    columns: map.columns.table { $0 - stage.input.x }, rows: map.rows.table { $0 - stage.input.y },
                    curve: curve, heldRows: form.rows, next: input))
            render = kernel.render
            isZeroed = false
        } else {
            let window = RowWindow(of: stage.input, layout: stage.inputLayout, format: format, curve: curve)
            render = WindowedFilter(filter, stage, window, bands, frame: frame, input: input).render
            isZeroed = true
        }
    }

    /// The next band. Nil after the last row, when the input was read to its end, too.
    func nextBand() throws -> AnyRaster? {
        guard index < bands.count else {
            while try input() != nil {}
            return nil
        }
        let rect = PixelRect(columns: stage.output.columns, rows: bands[index])
        var band =
            isZeroed
            ? AnyRaster(zeroed: rect, layout: stage.outputLayout, format: format)
            : AnyRaster(unwritten: rect, layout: stage.outputLayout, format: format)
        try render(&band)
        index += 1
        return band
    }
}

/// A filter that renders each band by itself, from a window of its input.
private final class WindowedFilter {
    private let filter: any Filter
    private let stage: ChainPlan.Stage
    /// See `FilterSource.frame`.
    private let frame: Int
    private let input: () throws -> AnyRaster?
    private var window: RowWindow
    /// For each band that is left, the first row that it or a later band reads. The next band is the last one here.
    private var firstRows: [Int]

    init(
        _ filter: any Filter, _ stage: ChainPlan.Stage, _ window: RowWindow, _ bands: [Range<Int>], frame: Int,
        input: @escaping () throws -> AnyRaster?
    ) {
        self.filter = filter
        self.stage = stage
        self.window = window
        self.frame = frame
        self.input = input
        firstRows = Self.firstRows(bands, filter, stage)
    }

    /// A later band may read rows further up: a filter that applies to a region reads little outside it.
    private static func firstRows(_ bands: [Range<Int>], _ filter: any Filter, _ stage: ChainPlan.Stage) -> [Int] {
        var lowest = stage.input.bottom
        return bands.reversed().map { rows in
            let band = PixelRect(columns: stage.output.columns, rows: rows)
            let needed = filter.needed(for: band, in: stage.input).rows
            let read = AxisMap(needed: needed, input: stage.input.rows, edge: filter.edge).intervals
            lowest = min(lowest, read.map(\.lowerBound).min() ?? lowest)
            return lowest
        }
    }

    /// Writes the next band.
    func render(into band: inout AnyRaster) throws {
        guard let first = firstRows.popLast() else { preconditionFailure("a stream renders each of its bands once") }
        let map = filter.sourceMap(for: band.rect, in: stage.input)
        window.drop(before: first)
        let end = map.rows.intervals.map(\.upperBound).max() ?? stage.input.y
        while window.held.upperBound < end {
            guard let rows = try input() else { preconditionFailure("an input has all of its rows") }
            window.append(rows)
            window.drop(before: first)
        }
        try filter.render(FilterSource(pixels: window.source(map), extent: stage.input, frame: frame), into: &band)
    }
}

/// The rows of a filter's input that are still needed, while they arrive from the top down.
///
/// Row y is stored at y modulo the height of one raster, so that no row moves while the window slides. The raster grows until
/// it can hold the longest window.
struct RowWindow {
    private let extent: PixelRect
    private let curve: TransferCurve
    private var ring: AnyRaster
    /// The stored rows, in coordinates of the input.
    private(set) var held: Range<Int>

    /// - Parameter extent: the extent of the whole input.
    init(of extent: PixelRect, layout: PixelLayout, format: SampleFormat, curve: TransferCurve = .sRGB) {
        self.extent = extent
        self.curve = curve
        ring = AnyRaster(zeroed: PixelRect(x: 0, y: 0, width: extent.width, height: 0), layout: layout, format: format)
        held = extent.y..<extent.y
    }

    /// Adds the next rows: complete rows, directly below the previous ones.
    mutating func append(_ band: AnyRaster) {
        precondition(
            band.rect.y == held.upperBound && band.rect.columns == extent.columns, "rows come from the top down")
        makeRoom(for: held.count + band.rect.height)
        for rows in pieces(of: band.rect.rows) { ring.copyRows(rows, of: band, to: slot(rows.lowerBound)) }
        held = held.lowerBound..<band.rect.bottom
    }

    /// Drops the rows above `row`, also those that arrive later.
    mutating func drop(before row: Int) { held = min(max(held.lowerBound, row), held.upperBound)..<held.upperBound }

    /// The pixels that `map` needs, which must be stored. The result must be released before the next ``append(_:)``, or else
    /// the whole raster is copied.
    func source(_ map: SourceMap) -> KernelSource {
        precondition(
            map.rows.intervals.allSatisfy { held.lowerBound <= $0.lowerBound && $0.upperBound <= held.upperBound },
            "a window holds what is read")
        return KernelSource(
            raster: ring, columns: map.columns.table { $0 - extent.x }, rows: map.rows.table(placing: slot),
            curve: curve)
    }

    private var capacity: Int { ring.rect.height }

    private func slot(_ row: Int) -> Int { (row - extent.y) % capacity }

    /// Rows that are contiguous in the ring.
    private func pieces(of rows: Range<Int>) -> [Range<Int>] {
        guard !rows.isEmpty else { return [] }
        let cut = min(rows.upperBound, rows.lowerBound + capacity - slot(rows.lowerBound))
        return [rows.lowerBound..<cut, cut..<rows.upperBound].filter { !$0.isEmpty }
    }

    private mutating func makeRoom(for count: Int) {
        guard count > capacity else { return }
        let old = self
        ring = AnyRaster(
            zeroed: PixelRect(x: 0, y: 0, width: extent.width, height: count), layout: ring.layout,
            format: ring.format)
        for row in held { ring.copyRows(old.slot(row)..<old.slot(row) + 1, of: old.ring, to: slot(row)) }
    }
}

/// The band heights of a chain's stream, and its memory.
package struct StreamPlan: Hashable, Sendable {
    /// The band height of each filter's output.
    package let bandHeights: [Int]
    /// Whether filters may keep their state from band to band. A second rendering in which each band is made by itself finds an error in that
    /// state.
    package let remembers: Bool
    /// An upper bound for the bytes that are held between the decoder and the encoder.
    package let bytes: Int

    /// The number of bands that wait between two threads. One more is being computed, and one is being used.
    package static let queued = 1
    /// The number of rows of its input that arrive at once.
    package let arrivingRows: Int
    private static let tallest = 512
    /// For wide pictures, bands are lower than the optimum to stay below this size, if that costs little.
    private static let comfortableBytes = 112 << 20
    private static let comfortableHeight = 64

    /// Kernels repeat some work at a band's borders. Bands are therefore as tall as their halo, at least 64 rows of input, and
    /// lower if the picture is wide. Filters that keep their state repeat nothing. Their bands have 16 to 64
    /// rows: as many as fit into a megabyte, but at least 16.
    ///
    /// Returns nil if not even single rows fit the budget, or if the chain is not row-local.
    ///
    /// - Parameters:
    ///   - source: the stream before this one. Nil if a decoder is before it. The decoder then has to deliver ``arrivingRows`` at
    ///     once.
    ///   - memoryBudget: the budget for one picture, in bytes.
    package init?(
        _ chain: Chain, _ plan: ChainPlan, format: SampleFormat, remembers: Bool = true, source: StreamPlan? = nil,
        memoryBudget: Int
    ) {
        guard plan.isRowLocal else { return nil }
        self.remembers = remembers
        let arrivingRows =
            source.map { $0.bandHeights.last ?? $0.arrivingRows }
            ?? Self.rowsAtOnce(plan.input, plan.inputLayout, format)
        self.arrivingRows = arrivingRows
        let steps = zip(chain.filters, plan.stages).map { Step($0, $1, format, remembers: remembers) }
        var heights = steps.map(\.desiredHeight)
        var bytes = Self.bytes(steps, heights, arrivingRows, plan, format.bytes)
        func isGood() -> Bool {
            bytes <= memoryBudget
                && (bytes <= Self.comfortableBytes || heights.allSatisfy { $0 <= Self.comfortableHeight })
        }
        while !isGood() {
            guard heights.contains(where: { $0 > 1 }) else { return nil }
            heights = heights.map { max(1, $0 / 2) }
            bytes = Self.bytes(steps, heights, arrivingRows, plan, format.bytes)
        }
        bandHeights = heights
        self.bytes = bytes
    }

    private init(bandHeights: [Int], arrivingRows: Int, remembers: Bool, bytes: Int) {
        self.bandHeights = bandHeights
        self.arrivingRows = arrivingRows
        self.remembers = remembers
        self.bytes = bytes
    }

    /// Lower bands with different borders, except for common multiples of both heights: for rendering a second time.
    package var withOtherBorders: StreamPlan {
        StreamPlan(
            bandHeights: bandHeights.map { max(1, $0 - $0 / 4 - 1) }, arrivingRows: arrivingRows, remembers: remembers,
            bytes: bytes)
    }

    /// 64 rows, or fewer if they are wide: a megabyte passes through the caches.
    private static func rowsAtOnce(_ rect: PixelRect, _ layout: PixelLayout, _ format: SampleFormat) -> Int {
        let row = max(1, rect.width * layout.channels * format.bytes)
        return min(max((1 << 20) / row, 16), comfortableHeight)
    }

    private struct Step {
        let filter: any Filter
        let stage: ChainPlan.Stage
        let running: RunningForm?
        /// The rows of the output of a filter that keeps its state.
        private let runningHeight: Int

        init(_ filter: any Filter, _ stage: ChainPlan.Stage, _ format: SampleFormat, remembers: Bool) {
            self.filter = filter
            self.stage = stage
            runningHeight = StreamPlan.rowsAtOnce(stage.output, stage.outputLayout, format)
            running =
                remembers
                ? filter.runningForm(of: stage.output, in: stage.input, stage.inputLayout, format) : nil
        }

        /// The number of rows that are held for a band, away from the picture's borders. If some bands read far more than
        /// others, it is the maximum. (If a filter applies to a part of the picture only, later bands may read further up than
        /// this one.)
        func rowsRead(_ height: Int) -> Int {
            let space = max(0, stage.output.height - height)
            guard filter.isEven else {
                return stride(from: 0, through: 8, by: 1).map { rowsRead(height, from: space * $0 / 8) }.max() ?? 0
            }
            let halo = filter.halo(in: stage.input)
            let rows = Int((Double(height) * filter.scale(in: stage.input).y).rounded(.up))
            return max(rowsRead(height, from: space / 2), rows + halo.top + halo.bottom)
        }

        private func rowsRead(_ height: Int, from first: Int) -> Int {
            let top = stage.output.y + first
            let band = PixelRect(columns: stage.output.columns, rows: top..<top + min(height, stage.output.height))
            let needed = filter.needed(for: band, in: stage.input)
            return filter.isEven ? needed.height : needed.rows.clamped(to: stage.input.rows).count
        }

        var desiredHeight: Int {
            guard running == nil else { return runningHeight }
            let least = rowsRead(1)
            let most = max(comfortableHeight + least, 2 * least)
            var height = 1
            while 2 * height <= tallest, rowsRead(2 * height) <= most { height *= 2 }
            return height
        }
    }

    private static func bytes(
        _ steps: [Step], _ heights: [Int], _ arrivingRows: Int, _ plan: ChainPlan, _ bytesPerSample: Int
    ) -> Int {
        func rowBytes(_ rect: PixelRect, _ layout: PixelLayout) -> Int { rect.width * layout.channels * bytesPerSample }
        let arrived = (queued + 2) * arrivingRows * rowBytes(plan.input, plan.inputLayout)
        var arriving = arrivingRows
        var windows = 0
        for (index, (step, height)) in zip(steps, heights).enumerated() {
            // The band of the filter before is still there while it is copied.
            if index > 0 { windows += arriving * rowBytes(step.stage.input, step.stage.inputLayout) }
            if let running = step.running {
                let rows = min(running.rows, step.stage.input.height) + running.copies * arriving
                windows += rows * rowBytes(step.stage.input, step.stage.inputLayout) + running.bytes
                // Tables say where each row of the picture is stored.
                windows += 16 * (step.stage.input.height + running.rows)
                arriving = height
                continue
            }
            windows += (step.rowsRead(height) + arriving) * rowBytes(step.stage.input, step.stage.inputLayout)
            // A resize holds the rows of one output row as floating-point numbers, up to twice as many.
            if step.filter.scale(in: step.stage.input).y > 1 {
                windows += 2 * 4 * step.rowsRead(1) * step.stage.input.width * step.stage.inputLayout.channels
            }
            arriving = height
        }
        return arrived + windows + (queued + 2) * arriving * rowBytes(plan.output, plan.outputLayout)
    }
}
