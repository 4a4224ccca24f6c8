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
            guard case .u16(var target) = destination.take(), case .u16(let own) = raster else {
                preconditionFailure("16-bit samples in and out")
            }
            let (rect, layout) = (target.rect, target.layout)
            own.samples.withRow { from in
                target.samples.withMutableRow { to in
                    guard !rect.isEmpty else { return }
                    let writer = RowWriter(to, rect: rect, layout: layout, .of(level))
                    body(WordSource(self, samples: from), writer)
                    writer.finish()
                }
            }
            destination = .u16(target)
        }
    }
}

/// The 16-bit samples that a kernel reads, at any coordinate.
final class WordSource {
    let channels: Int
    private let columns: AxisTable
    private let rows: AxisTable
    private let stride: Int
    private let samples: Row<UInt16>

    /// - Parameter samples: the raster's samples, which must outlive this object.
    init(_ source: KernelSource, samples: Row<UInt16>) {
        self.samples = samples
        columns = source.columns
        rows = source.rows
        channels = source.raster.layout.channels
        stride = source.raster.rect.width * channels
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
            let (channels, position) = (source.channels, source.rows[y])
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
            let position = source.rows[y]
            if isWhole, runs.count == 1, position >= 0 {
                return source.samples + position * source.stride + runs[0].position * source.channels
            }
            copy(y, to: room)
            return Row(room)
        }
    }
}
