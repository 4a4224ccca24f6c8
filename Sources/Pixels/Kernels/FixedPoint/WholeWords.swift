import Catalogs
import Geometry
import Raster

extension KernelSource {
    /// Whether the loops for whole 16-bit samples apply: without alpha no premultiplication is needed, and in encoded light no
    /// table.
    func isWholeWords(_ light: Light, _ destination: AnyRaster) -> Bool {
        guard case .u16 = raster, light == .encoded else { return false }
        return destination.layout == raster.layout && !destination.layout.hasAlpha
    }

    /// Renders with those loops into every pixel of a destination, or into the pixels that a mask covers.
    ///
    /// - Parameter body: writes all rows.
    func renderWords(
        within mask: Mask?, on level: CPULevel, into destination: inout AnyRaster,
        _ body: (WordSource, RowWriter<UInt16>) -> Void
    ) {
        render(within: mask, into: &destination) { destination in
            guard case .u16(let own) = raster else { preconditionFailure("16-bit samples") }
            own.samples.withRow { samples in
                destination.writeWords(.of(level)) { body(WordSource(self, samples: samples), $0) }
            }
        }
    }
}

/// The 16-bit samples that a kernel reads, at any coordinate.
final class WordSource {
    let channels: Int
    private let columns: AxisTable
    private let rows: AxisTable
    private let stride: Int
    private var samples: Row<UInt16>
    /// The rows of a picture that is still arriving; nil if the raster has all rows.
    private let arriving: ArrivingSamples<UInt16>?

    /// - Parameter samples: the raster's samples, which must outlive this object.
    init(_ source: KernelSource, samples: Row<UInt16>) {
        self.samples = samples
        columns = source.columns
        rows = source.rows
        channels = source.raster.layout.channels
        stride = source.raster.rect.width * channels
        arriving = nil
    }

    /// A source whose rows are still arriving. ``require(_:)`` waits for them.
    init(_ input: ArrivingInput) {
        let arriving = ArrivingSamples<UInt16>(input)
        self.arriving = arriving
        samples = arriving.samples
        columns = input.columns
        rows = input.rows
        channels = input.layout.channels
        stride = input.extent.width * channels
    }

    /// Waits until the rows `y` (coordinates) have arrived; see ``Arrival/require(_:store:)``.
    func require(_ y: Range<Int>) {
        guard let arriving, arriving.require(y) else { return }
        samples = arriving.samples
    }

    /// The error of the input. After it, the samples of rows are unspecified.
    var failure: (any Error)? { arriving?.failure }

    /// See ``RunningKernel/heldRows``.
    var heldRows: Int { arriving?.heldRows ?? 0 }

    /// The row's number in the memory; negative if the row is transparent.
    private func position(ofRow y: Int) -> Int {
        let position = rows[y]
        guard let arriving, position >= 0 else { return position }
        return arriving.slot(position)
    }

    /// A reader of the same columns in many rows.
    func reading(_ wanted: Range<Int>) -> Columns { Columns(self, wanted) }

    final class Columns {
        private let source: WordSource
        private let wanted: Range<Int>
        private let runs: [AxisTable.Run]
        private let isWhole: Bool

        fileprivate init(_ source: WordSource, _ wanted: Range<Int>) {
            self.source = source
            self.wanted = wanted
            runs = source.columns.runs(in: wanted)
            isWhole = runs.reduce(0) { $0 + $1.count } == wanted.count
        }

        /// Copies the row at `y`.
        func copy(_ y: Int, to target: MutableRow<UInt16>) {
            let (channels, position) = (source.channels, source.position(ofRow: y))
            if position < 0 || !isWhole { target.update(repeating: 0, count: wanted.count * channels) }
            guard position >= 0 else { return }
            let row = source.samples + position * source.stride
            for run in runs {
                (target + run.offset * channels).update(
                    from: row + run.position * channels, count: run.count * channels)
            }
        }

        /// The row at `y`: in place if its columns are contiguous, or else copied.
        func row(_ y: Int, _ room: MutableRow<UInt16>) -> Row<UInt16> {
            let position = source.position(ofRow: y)
            if isWhole, runs.count == 1, position >= 0 {
                return source.samples + position * source.stride + runs[0].position * source.channels
            }
            copy(y, to: room)
            return Row(room)
        }
    }
}
