import Catalogs
public import Geometry
public import Raster

/// An unsharp mask: the difference between the picture and its Gaussian blur is added to the picture.
///
/// With d = in − gaussian(in), of premultiplied colours, the result is in + amount·sign(d)·max(0, |d| − threshold). Where
/// alpha varies, a part of d follows from alpha alone: a pixel's colour times the d of alpha. That part is scaled with alpha's
/// own result, and only the rest is compared with the threshold. A picture of one colour therefore keeps that colour.
///
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
            SharpenedBytes(bytes, gaussian, gain, isOpaque: isOpaque, writer).render()
        }
    }
}

/// An unsharp mask of 8-bit samples. The Gaussian is used in 8.7 fixed point, before it is rounded to samples.
struct SharpenedBytes {
    private let source: ByteSource
    private let gaussian: Gaussian
    private let amount: Float
    /// The threshold in 8.7 fixed point.
    private let threshold: Float
    private let isOpaque: Bool
    private let target: RowWriter<UInt8>

    /// - Parameter isOpaque: whether all pixels that are read have full alpha.
    init(
        _ source: ByteSource, _ gaussian: Gaussian, _ gain: Sharpening.Gain, isOpaque: Bool, _ target: RowWriter<UInt8>
    ) {
        self.source = source
        self.gaussian = gaussian
        self.isOpaque = isOpaque
        self.target = target
        amount = Float(gain.amount)
        threshold = Float(gain.threshold * 255 * 128)
    }

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
        let blurred = RowBuffer<UInt16>(count: count + 192)  // separate, so that loops are vectorised
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
            target.operations.sharpenWords(
                row, blurred: blurred, amount: amount, threshold: threshold, count: columns.count * channels, out: words
            )
        } else {
            target.operations.sharpenPixels(
                row, blurred: blurred, amount: amount, threshold: threshold, colors: channels - 1,
                pixels: columns.count, out: words)
        }
        target.storeWords(words, isOpaque: isOpaque, columns: columns, y: y)
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
        let channels = reader.layout.channels
        let pyramid = gaussian.floating.run(reader, area: area)
        let source = FloatSource(reader, columns: area.columns, operations)
        let ring = RowRing<Float>(
            columns: area.columns, rows: area.rows, channels: 1, planes: channels, capacity: 1, margin: 0)
        let result = PlaneBuffer(area.columns, channels: channels)
        for y in area.rows {
            source.read(y, into: ring)
            let (own, blurred) = (ring.planeRow(y, operations), pyramid.row(y))
            for plane in 0..<channels {
                // Without a threshold, colours do not depend on the difference of alpha.
                if reader.layout.hasAlpha, plane < channels - 1, threshold > 0 {
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
            sink.write(result.row(y, operations))
        }
    }
}
