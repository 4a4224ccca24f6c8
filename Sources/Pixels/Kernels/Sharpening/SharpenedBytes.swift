import Catalogs
import Geometry

/// An unsharp mask of 8-bit samples: the Gaussian is taken in 8.7 fixed point, before it is rounded to samples.
struct SharpenedBytes {
    private let source: ByteSource
    private let gaussian: Gaussian
    private let amount: Float
    /// In 8.7 fixed point.
    private let threshold: Float
    private let isOpaque: Bool
    private let target: ByteRowWriter

    /// - Parameter isOpaque: no pixel that is read has an alpha below full.
    init(
        _ source: ByteSource, _ gaussian: Gaussian, _ gain: Sharpening.Gain, isOpaque: Bool, _ target: ByteRowWriter
    ) {
        self.source = source
        self.gaussian = gaussian
        self.isOpaque = isOpaque
        self.target = target
        amount = Float(gain.amount)
        threshold = Float(gain.threshold * 255 * 128)
    }

    /// Writes every pixel.
    func render() {
        let reach = gaussian.fixedX.reach
        let parts = FixedPyramid.parts(of: target.rect, channels: target.layout.channels, reach: reach)
        for part in parts {
            let words = RowBuffer<UInt16>(count: part.width * target.layout.channels + 192)
            if gaussian.fixedX.prefilters.isEmpty {
                renderDirect(part, words.start)
            } else {
                renderPyramid(part, words.start)
            }
        }
    }

    private func renderPyramid(_ part: PixelRect, _ words: MutableRow<UInt16>) {
        let strip = FixedStrip(source, reach: (0, 0), strip: part.columns, shift: 7, target)
        let pyramid = FixedPyramid(
            source, layout: target.layout, output: part, horizontal: gaussian.fixedX, vertical: gaussian.fixedY,
            target.operations)
        pyramid.renderWords { y, blurred in
            strip.makeRows(through: y)
            sharpen(strip.row(y), blurred, words, part.columns, y)
        }
    }

    private func renderDirect(_ part: PixelRect, _ words: MutableRow<UInt16>) {
        let weights = gaussian.fixedX.weights
        let radius = weights.count - 1
        let count = part.width * target.layout.channels
        let strip = FixedStrip(source, reach: (radius, radius), strip: part.columns, shift: 7, target)
        let scratch = RowBuffer<UInt16>(count: 4352)
        let blurred = RowBuffer<UInt16>(count: count + 192)  // apart from the result, or loops go value by value
        let rows = RowList<UInt16>(count: 2 * radius + 1)
        for y in part.rows {
            strip.makeRows(through: y + radius)
            for index in 0...2 * radius { rows.set(index, strip.row(y - radius + index)) }
            target.operations.filterWordRow(
                rows, channels: target.layout.channels, radius: radius, vertical: weights, horizontal: weights,
                count: count, scratch: scratch.start, bytes: nil, words: blurred.start)
            sharpen(strip.row(y), Row(blurred.start), words, part.columns, y)
        }
    }

    private func sharpen(
        _ row: Row<UInt16>, _ blurred: Row<UInt16>, _ words: MutableRow<UInt16>, _ columns: Range<Int>,
        _ y: Int
    ) {
        let channels = target.layout.channels
        if isOpaque {
            let count = columns.count * channels
            target.operations.sharpenWords(
                row, blurred: blurred, amount: amount, threshold: threshold, count: count, out: words)
            target.operations.roundWords(Row(words), count: count, bytes: target.row)
        } else {
            target.operations.sharpenPixels(
                row, blurred: blurred, amount: amount, threshold: threshold, colors: channels - 1,
                pixels: columns.count, out: words)
            target.operations.unpremultiply(
                Row(words), zero: 0, colors: channels - 1, pixels: columns.count, out: target.row)
        }
        target.store(target.row, columns: columns, y: y)
    }
}
