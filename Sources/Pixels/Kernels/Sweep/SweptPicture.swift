import Catalogs
import Geometry
import Raster

/// A source as the loops of a sweep see it: sampled at any place, its pixels as working values. Lent for a call.
struct SweptPicture {
    let samples: UnsafeRawPointer
    let bytesPerSample: Int
    let columns: UnsafePointer<Int32>
    let rows: UnsafePointer<Int32>
    /// See `SampledPicture` in RowKernels.
    let table: UnsafePointer<Double>?
    let facts: UnsafePointer<Int>

    /// - Parameter area: where most is read.
    static func lend(_ reader: PixelReader, area: PixelRect, _ body: (SweptPicture) -> Void) {
        let source = reader.tones.map(reader.source.withLinearFloats) ?? reader.source
        let facts = facts(source, layout: reader.layout, area) + [reader.tones?.step ?? 0]
        let bytes = source.raster.format.bytes
        withTable(reader.tones?.table ?? []) { table in
            facts.withUnsafeBufferPointer { facts in
                source.columns.positions.withUnsafeBufferPointer { columns in
                    source.rows.positions.withUnsafeBufferPointer { rows in
                        source.raster.withBytes { span in
                            span.withUnsafeBytes { samples in
                                guard let facts = facts.baseAddress, let columns = columns.baseAddress,
                                    let rows = rows.baseAddress
                                else { return }
                                // A raster without pixels has no address; its tables are transparent everywhere.
                                let base = samples.baseAddress ?? UnsafeRawPointer(facts)
                                body(
                                    SweptPicture(
                                        samples: base, bytesPerSample: bytes, columns: columns, rows: rows,
                                        table: table, facts: facts))
                            }
                        }
                    }
                }
            }
        }
    }

    /// Nil where samples are taken as they are.
    private static func withTable(_ table: [Double], _ body: (UnsafePointer<Double>?) -> Void) {
        guard !table.isEmpty else { return body(nil) }
        table.withRow { body($0.pointer) }
    }

    private static func facts(_ source: KernelSource, layout: PixelLayout, _ area: PixelRect) -> [Int] {
        let stored = source.raster.layout
        let width = source.raster.rect.width
        let run = source.columns.longestRun(in: area.columns)
        // The pixel to the right is in the run too, and four samples from it on are in the row.
        let last = min(run.coordinates.upperBound - 1, (width * stored.channels - 4) / stored.channels - run.shift)
        let rows = source.rows.positions
        let first = rows.firstIndex { $0 >= 0 } ?? 0
        let end = (rows.lastIndex { $0 >= 0 } ?? 0) + source.rows.range.lowerBound
        let columnEnd = width * stored.channels < 8 ? run.coordinates.lowerBound : last
        let below = source.rows.longestRun(in: area.rows)
        let lastOfEight = (width * stored.channels - 8) / stored.channels - run.shift
        let eightEnd = width * stored.channels < 8 ? run.coordinates.lowerBound : min(last, lastOfEight + 1)
        return [
            stored.channels, stored.hasAlpha ? 1 : 0, layout.channels > stored.channels ? 1 : 0,
            width * stored.channels, source.columns.range.lowerBound, source.rows.range.lowerBound,
            source.columns.range.count, source.rows.range.count,
            run.coordinates.lowerBound, max(run.coordinates.lowerBound, columnEnd), run.shift,
            first + source.rows.range.lowerBound, max(first + source.rows.range.lowerBound, end),
            max(run.coordinates.lowerBound, eightEnd), below.coordinates.lowerBound,
            max(below.coordinates.lowerBound, below.coordinates.upperBound - 1), below.shift,
        ]
    }
}

extension KernelSource {
    /// Floats in linear light; integers, which are looked up, as they are.
    fileprivate func withLinearFloats(_ tones: DecodingTones) -> KernelSource {
        guard case .f32(var own) = raster else { return self }
        let (channels, hasAlpha) = (own.layout.channels, own.layout.hasAlpha)
        for index in own.samples.indices where !hasAlpha || index % channels != channels - 1 {
            own.samples[index] = Float(own.samples[index].linear(tones, index % channels))
        }
        return KernelSource(raster: .f32(own), columns: columns, rows: rows)
    }
}
