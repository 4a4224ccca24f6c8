import Catalogs
public import Geometry
public import Raster

/// An unsharp mask: the difference between the picture and its Gaussian blur is added to the picture.
///
/// With d = in − gaussian(in), of premultiplied colours, the result is in + amount·sign(d)·max(0, |d| − threshold). Where
/// alpha varies, a part of d follows from alpha alone: a pixel's colour times the d of alpha. That part is scaled with alpha's
/// own result, and only the rest is compared with the threshold. A picture of one colour therefore keeps that colour.
///
/// ``PixelWriter`` stores the result: integers are clamped to their range, floats are not.
public struct Sharpening: Blur, LevelChoosing {
    private var gaussian: Gaussian
    private let gain: Gain
    package var level = CPULevel.current { didSet { gaussian.level = level } }

    /// The amplification of differences.
    struct Gain: Hashable, Sendable {
        let amount: Double
        /// The threshold as a share of full intensity.
        let threshold: Double
    }

    /// - Parameters:
    ///   - sigma: the Gaussian's standard deviation in pixels, 0 to 1000.
    ///   - amount: the factor of the difference, 0 to 10.
    ///   - threshold: smaller differences are ignored; a share of full intensity, 0 to 1.
    public init(sigma: Double, amount: Double, threshold: Double) {
        precondition((0...10).contains(amount) && (0...1).contains(threshold), "an amount is 0 to 10, a share 0 to 1")
        gaussian = Gaussian(radius: sigma)
        gain = Gain(amount: amount, threshold: threshold)
    }

    public var halo: Halo { gaussian.halo }

    /// See ``Gaussian/render(_:light:within:into:)``.
    public func render(
        _ source: KernelSource, light: Light, within mask: Mask? = nil, into destination: inout AnyRaster
    ) {
        source.checkCoverage(of: destination, halo: halo, within: mask)
        guard case .u8 = source.raster, light == .encoded else {
            let kernel = SharpenedFloats(gaussian, gain, source.raster.format, .of(level))
            return kernel.render(source, light: light, within: mask, into: &destination)
        }
        let isOpaque = source.isOpaqueBytes(as: destination.layout, .of(level))
        source.renderBytes(within: mask, on: level, into: &destination) { bytes, writer in
            let parts = FixedPyramid.parts(
                of: writer.rect, channels: writer.layout.channels, reach: gaussian.fixedX.reach)
            for part in parts {
                SharpenedBytes(
                    bytes, gaussian, gain, isOpaque: isOpaque, output: part, writer.layout, writer.operations
                ).render(to: writer)
            }
        }
    }
}

extension Sharpening: RunningBlur {
    /// The rows of the input wait for their blurred rows, so the memory of the running form grows with the standard deviation.
    package func runningForm(of output: RunningOutput) -> RunningForm? {
        let operations = RowOperations.of(level)
        guard output.format == .u8, output.light == .encoded else {
            let kernel = SharpenedFloats(gaussian, gain, output.format, operations)
            return kernel.runningForm(of: output)
        }
        let bytes = SharpenedBytes.bytes(of: output, gaussian)
        return RunningForm(
            rows: SharpenedBytes.window(gaussian), rowsAhead: FixedPyramid.rowsAhead(gaussian.fixedY), bytes: bytes
        ) {
            RunningBytes($0, output, operations) { bytes in
                SharpenedBytes(
                    bytes, gaussian, gain, isOpaque: !output.layout.hasAlpha, output: output.rect, output.layout,
                    operations
                ).render
            }
        }
    }
}

/// An unsharp mask of 8-bit samples. The Gaussian is used in 8.7 fixed point, before it is rounded to samples.
final class SharpenedBytes {
    private let source: ByteSource
    private let method: Method
    private let amount: Float
    /// The threshold in 8.7 fixed point.
    private let threshold: Float
    private let isOpaque: Bool
    private let columns: Range<Int>
    private let layout: PixelLayout
    private let operations: RowOperations
    private let strip: FixedStrip
    private let words: RowBuffer<UInt16>
    /// Blurred pixels; see ``withFullAlpha(_:_:)``.
    private let rounded: RowBuffer<UInt16>

    private enum Method {
        case pyramid(FixedPyramid, reach: Int)
        case direct(FixedWordFilter)
    }

    /// - Parameters:
    ///   - isOpaque: whether all pixels that are read are known to have full alpha.
    ///   - output: all rows that will be written, and some columns of them.
    ///   - layout: the layout of the output.
    init(
        _ source: ByteSource, _ gaussian: Gaussian, _ gain: Sharpening.Gain, isOpaque: Bool, output: PixelRect,
        _ layout: PixelLayout, _ operations: RowOperations
    ) {
        self.source = source
        self.isOpaque = isOpaque
        self.layout = layout
        self.operations = operations
        columns = output.columns
        amount = Float(gain.amount)
        threshold = Float(gain.threshold * 255 * 128)
        words = RowBuffer(count: output.width * layout.channels + 192)
        rounded = RowBuffer(count: layout.hasAlpha ? output.width * layout.channels + 192 : 0)
        let reach = Self.reach(gaussian)
        strip = FixedStrip(
            source, reach: (reach, reach), strip: output.columns, rows: output.rows, shift: 7, layout, operations)
        if gaussian.fixedX.prefilters.isEmpty {
            method = .direct(
                FixedWordFilter(gaussian.fixedX.weights, count: output.width * layout.channels, operations))
        } else {
            let pyramid = FixedPyramid(
                source, layout: layout, output: output, horizontal: gaussian.fixedX, vertical: gaussian.fixedY,
                operations)
            method = .pyramid(pyramid, reach: gaussian.fixedX.reach)
        }
    }

    /// The pixels around each that the strip holds.
    private static func reach(_ gaussian: Gaussian) -> Int {
        gaussian.fixedX.prefilters.isEmpty ? gaussian.fixedX.weights.count - 1 : 0
    }

    /// The most rows of the input that wait.
    static func window(_ gaussian: Gaussian) -> Int {
        let design = gaussian.fixedY
        guard !design.prefilters.isEmpty else { return 2 * design.weights.count }
        return design.reach + FixedPyramid.rowsAhead(design) + 16
    }

    /// An upper bound for the bytes of this output.
    static func bytes(of output: RunningOutput, _ gaussian: Gaussian) -> Int {
        let (width, channels, reach) = (output.rect.width, output.layout.channels, reach(gaussian))
        let strip = FixedStrip.bytes(columns: width + 2 * reach, reachY: reach, channels: channels)
        let words = 3 * (width + 192) * 2 * channels + 16384
        guard reach == 0 else { return strip + words }
        return strip + words + FixedPyramid.bytes(width: width, output.layout, gaussian.fixedX, gaussian.fixedY)
    }

    /// Computes the rows of the target's rectangle. The next call continues below them.
    func render(to target: RowWriter<UInt8>) {
        switch method {
        case .pyramid(let pyramid, let reach):
            for y in target.rect.rows {
                // The pyramid asks for rows far below this one.
                source.keep(from: y)
                pyramid.renderWords(y..<y + 1) { y, blurred in
                    source.require(y..<y + 1)
                    strip.makeRows(through: y)
                    sharpen(blurred, y, isOpaque: pyramid.isOpaque(from: y - reach), to: target)
                }
            }
        case .direct(let filter):
            for y in target.rect.rows {
                source.require(y - filter.radius..<y + filter.radius + 1)
                let blurred = filter.row(y, of: strip, channels: layout.channels)
                sharpen(blurred, y, isOpaque: strip.isOpaque(from: y - filter.radius), to: target)
            }
        }
    }

    /// How far the blurred alpha of opaque pixels is from full, in 8.7 fixed point, because weights are rounded.
    static let alphaError = 4

    /// Blurred pixels in which the alpha of an opaque pixel is full if it is nearly full. So an opaque pixel among opaque ones becomes
    /// what it becomes in an opaque row, and no pixel depends on what else a row or a tile has.
    private func withFullAlpha(_ blurred: Row<UInt16>, _ own: Row<UInt16>) -> Row<UInt16> {
        let (channels, full) = (layout.channels, 255 * 128)
        let count = columns.count * channels
        let out = rounded.start
        for index in 0..<count { out[index] = blurred[index] }
        for index in stride(from: channels - 1, to: count, by: channels)
        where Int(own[index]) == full && abs(Int(blurred[index]) - full) <= Self.alphaError {
            out[index] = UInt16(full)
        }
        return Row(out)
    }

    /// - Parameter isOpaque: whether all pixels around the row are opaque.
    private func sharpen(_ blurred: Row<UInt16>, _ y: Int, isOpaque: Bool, to target: RowWriter<UInt8>) {
        let isOpaque = isOpaque || self.isOpaque
        let channels = layout.channels
        if isOpaque {
            operations.sharpenWords(
                strip.row(y), blurred: blurred, amount: amount, threshold: threshold, count: columns.count * channels,
                out: words.start)
        } else {
            let own = strip.row(y)
            operations.sharpenPixels(
                own, blurred: withFullAlpha(blurred, own), amount: amount, threshold: threshold, colors: channels - 1,
                pixels: columns.count, out: words.start)
        }
        target.storeWords(words.start, isOpaque: isOpaque, columns: columns, y: y)
    }
}

/// A separable FIR of a small radius whose results stay in 8.7 fixed point.
private final class FixedWordFilter {
    let radius: Int
    private let weights: [UInt16]
    private let count: Int
    private let operations: RowOperations
    private let scratch = RowBuffer<UInt16>(count: 4352)
    /// Separate from the rows that are read, so that loops are vectorised.
    private let blurred: RowBuffer<UInt16>
    private let rows: RowList<UInt16>

    /// - Parameters:
    ///   - weights: from the centre outwards, for both axes.
    ///   - count: the values of a row.
    init(_ weights: [UInt16], count: Int, _ operations: RowOperations) {
        radius = weights.count - 1
        self.weights = weights
        self.count = count
        self.operations = operations
        blurred = RowBuffer(count: count + 192)
        rows = RowList(count: 2 * weights.count - 1)
    }

    /// A row, from the strip's first column on. It is valid until the next call.
    func row(_ y: Int, of strip: FixedStrip, channels: Int) -> Row<UInt16> {
        strip.makeRows(through: y + radius)
        for index in 0...2 * radius { rows.set(index, strip.row(y - radius + index)) }
        operations.filterWordRow(
            rows, channels: channels, radius: radius, vertical: weights, horizontal: weights, count: count,
            scratch: scratch.start, bytes: nil, words: blurred.start)
        return Row(blurred.start)
    }
}

/// An unsharp mask in single precision, for every sample format and light.
struct SharpenedFloats: WorkingKernel {
    private let gaussian: Gaussian
    private let amount: Float
    /// The threshold on the scale of the samples.
    private let threshold: Float
    private let operations: RowOperations

    init(_ gaussian: Gaussian, _ gain: Sharpening.Gain, _ format: SampleFormat, _ operations: RowOperations) {
        self.gaussian = gaussian
        self.operations = operations
        amount = Float(gain.amount)
        threshold = Float(gain.threshold * format.full)
    }

    var halo: Halo { gaussian.halo }

    func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
        guard !area.isEmpty else { return }
        let pyramid = gaussian.floating.run(reader, area: area)
        let source = FloatSource(reader, columns: area.columns, operations)
        let run = run(pyramid, source, area, reader.layout)
        for y in area.rows { sink.write(run.row(y)) }
    }

    func runningForm(of output: RunningOutput) -> RunningForm {
        let (width, channels) = (output.rect.width, output.layout.channels)
        let floats = 2 * (width + 256) * channels * MemoryLayout<Float>.stride
        let bytes = floats + gaussian.floating.bytes(width: width, channels: channels)
        let ahead = gaussian.floating.rowsAhead
        return RunningForm(rows: halo.bottom + ahead + 16, rowsAhead: ahead, copies: 2, bytes: bytes) { input in
            RunningFloats(input, output) { bands in
                let pyramid = gaussian.floating.run(input, bands, output)
                let source = FloatSource(bands, input.columns, columns: output.rect.columns, operations)
                let run = run(pyramid, source, output.rect, output.layout)
                return { y in
                    // The pyramid asks for rows far below this one.
                    bands.kept = y
                    return run.row(y)
                }
            }
        }
    }

    private func run(
        _ pyramid: FloatPyramidRun, _ source: FloatSource, _ area: PixelRect, _ layout: PixelLayout
    ) -> SharpenedFloatsRun {
        SharpenedFloatsRun(
            pyramid, source, area, layout, amount: amount, threshold: threshold, operations)
    }
}

/// The rows of an unsharp mask, one after the other.
private final class SharpenedFloatsRun {
    private let pyramid: FloatPyramidRun
    private let source: FloatSource
    private let area: PixelRect
    private let layout: PixelLayout
    private let amount: Float
    private let threshold: Float
    private let operations: RowOperations
    private let ring: RowRing<Float>
    private let result: PlaneBuffer

    init(
        _ pyramid: FloatPyramidRun, _ source: FloatSource, _ area: PixelRect, _ layout: PixelLayout, amount: Float,
        threshold: Float, _ operations: RowOperations
    ) {
        (self.pyramid, self.source, self.area, self.layout) = (pyramid, source, area, layout)
        (self.amount, self.threshold, self.operations) = (amount, threshold, operations)
        ring = RowRing(
            columns: area.columns, rows: area.rows, channels: 1, planes: layout.channels, capacity: 1, margin: 0)
        result = PlaneBuffer(area.columns, channels: layout.channels)
    }

    func row(_ y: Int) -> PlaneRow {
        let channels = layout.channels
        let blurred = pyramid.row(y)
        source.read(y, into: ring)
        let own = ring.planeRow(y, operations)
        for plane in 0..<channels {
            // Without a threshold, colours do not depend on the difference of alpha.
            if layout.hasAlpha, plane < channels - 1, threshold > 0 {
                operations.sharpenColorFloats(
                    Row(own.plane(plane)), blurred: Row(blurred.plane(plane)), alpha: Row(own.plane(channels - 1)),
                    blurredAlpha: Row(blurred.plane(channels - 1)), amount: amount, threshold: threshold,
                    count: area.width, out: result.plane(plane))
            } else {
                operations.sharpenFloats(
                    Row(own.plane(plane)), blurred: Row(blurred.plane(plane)), amount: amount,
                    threshold: threshold, count: area.width, out: result.plane(plane))
            }
        }
        return result.row(y, operations)
    }
}
