import Catalogs
import Geometry
import Raster

/// A source for the loops of a sweep: it can be sampled at any position, and its pixels are working values. Valid during a
/// call.
struct SweptPicture {
    let samples: UnsafeRawPointer
    let bytesPerSample: Int
    let columns: UnsafePointer<Int32>
    let rows: UnsafePointer<Int32>
    /// See `SampledPicture` in RowKernels.
    let table: UnsafePointer<Double>?
    let facts: UnsafePointer<Int>

    /// - Parameter area: the area where most pixels are read.
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
                                // A raster without pixels has no address, but its tables are transparent everywhere.
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

    /// Calls `body` with the table, or with nil if samples are used as they are.
    private static func withTable(_ table: [Double], _ body: (UnsafePointer<Double>?) -> Void) {
        guard !table.isEmpty else { return body(nil) }
        table.withRow { body($0.pointer) }
    }

    private static func facts(_ source: KernelSource, layout: PixelLayout, _ area: PixelRect) -> [Int] {
        let stored = source.raster.layout
        let width = source.raster.rect.width
        let run = source.columns.longestRun(in: area.columns)
        // The pixel to the right is in the run, too, and the row has four more samples from it on.
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
    /// Converts floats to linear light. Integers stay unchanged, because they are looked up.
    fileprivate func withLinearFloats(_ tones: DecodingTones) -> KernelSource {
        guard case .f32(var own) = raster else { return self }
        let (channels, hasAlpha) = (own.layout.channels, own.layout.hasAlpha)
        for index in own.samples.indices where !hasAlpha || index % channels != channels - 1 {
            own.samples[index] = Float(own.samples[index].linear(tones, index % channels))
        }
        return KernelSource(raster: .f32(own), columns: columns, rows: rows)
    }
}

/// The values of an area's pixels, which arrive in any order. Integer formats are stored in 16 bits.
final class SweptPixels {
    private let width: Int
    private let channels: Int
    private let words: RowBuffer<UInt16>
    private let floats: RowBuffer<Float>
    /// The factor of a sample in 16 bits; nil for floats.
    private let scale: Float?
    private let full: Float

    init(_ area: PixelRect, channels: Int, format: SampleFormat) {
        width = area.width
        self.channels = channels
        scale = [.u8: 256, .u16: 1][format]
        full = Float(format.full)
        let count = area.area * channels
        words = RowBuffer(count: scale == nil ? 0 : count)
        floats = RowBuffer(count: scale == nil ? count : 0)
    }

    /// - Parameter values: four values for each pixel.
    func store(_ values: borrowing RowBuffer<Float>, at pixels: PixelGroup, _ operations: RowOperations) {
        precondition(4 * pixels.count <= values.count, "every pixel has its values")
        if let scale {
            operations.scatterWords(
                Row(values.start), at: pixels.numbers, count: pixels.count, channels: channels, scale: scale,
                full: full, out: words.start)
        } else {
            let (from, to, channels) = (values.start, floats.start, channels)
            for index in 0..<pixels.count {
                let first = Int(pixels.numbers[unchecked: index]) &* channels
                for channel in 0..<channels {
                    to[unchecked: first &+ channel] = from[unchecked: 4 &* index &+ channel]
                }
            }
        }
    }

    /// - Parameters:
    ///   - values: four values for each pixel.
    ///   - first: the first pixel's number in the area. The other pixels follow it.
    func store(_ values: Row<Float>, at first: Int, count: Int, _ operations: RowOperations) {
        if let scale {
            operations.packWords(
                values, count: count, channels: channels, scale: scale, full: full, out: words.start + first * channels)
        } else {
            let (to, channels) = (floats.start + first * channels, channels)
            precondition(4 * count <= values.count && count * channels <= to.count, "every pixel has its values")
            for index in 0..<count {
                for channel in 0..<channels {
                    to[unchecked: index &* channels &+ channel] = values[unchecked: 4 &* index &+ channel]
                }
            }
        }
    }

    /// - Parameters:
    ///   - row: the row's number, from the area's first row.
    ///   - plane: receives a value for each column.
    func read(row: Int, channel: Int, into plane: MutableRow<Float>) {
        let start = row * width * channels + channel
        if let scale {
            let (from, factor, channels) = (words.start + start, 1 / scale, channels)
            for column in 0..<width {
                plane[unchecked: column] = Float(from[unchecked: column &* channels]) * factor
            }
        } else {
            let (from, channels) = (floats.start + start, channels)
            for column in 0..<width { plane[unchecked: column] = from[unchecked: column &* channels] }
        }
    }
}
