import Catalogs
import Geometry

/// Medians of larger squares of opaque 8-bit pixels, whose cost does not grow with the radius: a histogram for every column
/// of a strip, which slide down together.
final class HistogramMedian {
    private let radius: Int
    private let strip: Range<Int>
    private let columns: Range<Int>
    private let channels: Int
    private let source: ByteSource
    private let target: ByteRowWriter
    private let histograms: RowBuffer<UInt8>
    private let steps = RowBuffer<UInt8>(count: 256)
    private let scratch = RowBuffer<UInt64>(count: 96)
    private let entering: RowBuffer<UInt8>
    private let leaving: RowBuffer<UInt8>

    /// What the histograms of a strip may take: half of a second-level cache.
    private static let bytes = 1 << 20
    private static let bytesOfColumn = 272

    /// Cuts columns so that their histograms stay in the cache. Where the cuts fall changes no pixel.
    static func strips(of columns: Range<Int>, channels: Int, radius: Int) -> [Range<Int>] {
        let width = max(bytes / (bytesOfColumn * channels) - 2 * radius, 2 * radius)
        return stride(from: columns.lowerBound, to: columns.upperBound, by: width).map {
            $0..<min($0 + width, columns.upperBound)
        }
    }

    init(
        _ source: ByteSource, _ strip: Range<Int>, radius: Int, _ target: ByteRowWriter
    ) {
        self.radius = radius
        self.strip = strip
        self.source = source
        self.target = target
        columns = strip.lowerBound - radius..<strip.upperBound + radius
        channels = target.layout.channels
        let count = columns.count * channels
        histograms = RowBuffer(count: count * Self.bytesOfColumn)
        entering = RowBuffer(count: count)
        leaving = RowBuffer(count: count)
        for step in 0..<256 { steps[step] = step & 15 >= step >> 4 ? 1 : 0 }
    }

    /// Writes every pixel of the strip.
    func render() {
        let count = columns.count * channels
        for y in target.rect.rows {
            if y == target.rect.y {
                for row in y - radius...y + radius {
                    target.operations.addToHistograms(
                        samples(row, entering), steps: Row(steps.start), count: count, histograms: histograms.start)
                }
            } else {
                target.operations.slideHistograms(
                    entering: samples(y + radius, entering), leaving: samples(y - radius - 1, leaving),
                    steps: Row(steps.start), count: count, histograms: histograms.start)
            }
            for channel in 0..<channels {
                target.operations.medianOfHistograms(
                    Row(histograms.start), columns: count, channel: channel, channels: channels, radius: radius,
                    pixels: strip.count, scratch: scratch.start, out: target.row)
            }
            target.store(target.row, columns: strip, y: y)
        }
    }

    /// The columns' samples of the row at `y`: in place where they lie side by side, or else copied.
    private func samples(_ y: Int, _ copy: borrowing RowBuffer<UInt8>) -> Row<UInt8> {
        let position = source.position(ofRow: y)
        if position >= 0, source.isSafeInPlace(columns) {
            return source.inPlace(x: columns.lowerBound, position: position)
        }
        source.copy(columns, position: position, to: copy.start)
        return Row(copy.start)
    }
}
