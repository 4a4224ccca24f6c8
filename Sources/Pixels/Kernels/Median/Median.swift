import Catalogs
public import Geometry
public import Raster

/// The median over a square of pixels, separately for every channel: exact in every sample format.
///
/// With alpha it is the median of premultiplied colours and of alpha. A colour that exceeds its alpha is stored as full
/// intensity. NaN counts as larger than every number.
public struct Median: Blur, RunningBlur, LevelChoosing {
    private let radius: Int
    public let halo: Halo
    package var level = CPULevel.current

    /// The largest radius for which sorting networks are faster than histograms.
    static let networkRadius = 2
    /// The number of values that networks need for sorted columns; see `RowKernels`.
    static let scratchValues = 11_584

    /// - Parameter radius: the square is 2·radius + 1 pixels wide; 0 to 100.
    public init(radius: Int) {
        precondition((0...100).contains(radius), "a median's radius is 0 to 100 px")
        self.radius = radius
        halo = Halo(horizontal: radius, vertical: radius)
    }

    /// See ``Gaussian/render(_:light:within:into:)``. If all 8-bit pixels are opaque, a faster method with the same results is
    /// used.
    public func render(
        _ source: KernelSource, light: Light, within mask: Mask? = nil, into destination: inout AnyRaster
    ) {
        source.checkCoverage(of: destination, halo: halo, within: mask)
        guard radius > 0 else { return source.copyPixels(to: &destination) }
        if radius <= Self.networkRadius, source.isWholeWords(light, destination) {
            return source.renderWords(within: mask, on: level, into: &destination) { words, writer in
                WordMedian(words, radius: radius, writer).render()
            }
        }
        if light == .encoded, renderBytes(source, within: mask, into: &destination) { return }
        let kernel = FloatMedian(radius: radius, .of(level))
        kernel.render(source, light: light, within: mask, into: &destination)
    }

    /// Returns false if there is no method for samples because not all of them are bytes of opaque pixels. Then the caller must render
    /// all pixels again.
    private func renderBytes(
        _ source: KernelSource, within mask: Mask?, into destination: inout AnyRaster
    ) -> Bool {
        let isSmall = radius <= Self.networkRadius
        guard
            isSmall
                ? source.mayBeOpaqueBytes(as: destination.layout, .of(level))
                : source.isOpaqueBytes(as: destination.layout, .of(level))
        else { return false }
        var isOpaque = true
        source.renderBytes(within: mask, on: level, into: &destination) { bytes, writer in
            if isSmall {
                isOpaque = isOpaque && NetworkMedian(bytes, radius: radius, writer).render()
            } else {
                HistogramMedian.strips(radius: radius).render(bytes, to: writer)
            }
        }
        return isOpaque
    }

    /// There is one for 8-bit samples without alpha and for squares that need histograms: with alpha, the method depends on whether all
    /// pixels are opaque.
    package func runningForm(of output: RunningOutput) -> RunningForm? {
        guard output.isBytes, !output.layout.hasAlpha, radius > Self.networkRadius else { return nil }
        return HistogramMedian.strips(radius: radius).runningForm(
            of: output, .of(level), bytesOfValue: HistogramMedian.bytesOfValue)
    }
}

/// Medians of larger squares of opaque 8-bit pixels. The cost does not grow with the radius: every column of a strip has a
/// histogram, and all histograms slide down together.
final class HistogramMedian: ByteStrip {
    private let radius: Int
    private let strip: Range<Int>
    private let columns: Range<Int>
    private let channels: Int
    private let source: ByteSource
    private let output: ByteOutput
    private let histograms: RowBuffer<UInt8>
    private let steps = RowBuffer<UInt8>(count: 256)
    private let scratch = RowBuffer<UInt64>(count: 96)
    private let entering: RowBuffer<UInt8>
    private let leaving: RowBuffer<UInt8>

    /// The largest size of a strip's histograms in bytes: half of a second-level cache.
    private static let bytes = 1 << 20
    static let bytesOfValue = 272

    /// Strips of columns whose histograms stay in the cache.
    static func strips(radius: Int) -> ByteStrips {
        ByteStrips(reach: (radius, radius), rereadRows: 2 * radius + 1) { columns, channels in
            columns.pieces(of: max(bytes / (bytesOfValue * channels) - 2 * radius, 2 * radius))
        } make: {
            HistogramMedian($0, $1, radius: radius, $2)
        }
    }

    init(_ source: ByteSource, _ strip: Range<Int>, radius: Int, _ output: ByteOutput) {
        self.radius = radius
        self.strip = strip
        self.source = source
        self.output = output
        columns = strip.lowerBound - radius..<strip.upperBound + radius
        channels = output.layout.channels
        let count = columns.count * channels
        histograms = RowBuffer(count: count * Self.bytesOfValue)
        entering = RowBuffer(count: count)
        leaving = RowBuffer(count: count)
        for step in 0..<256 { steps[step] = step & 15 >= step >> 4 ? 1 : 0 }
    }

    /// Rows are read in place.
    func makeRows(through y: Int) {}

    func render(_ rows: Range<Int>, to target: RowWriter<UInt8>) {
        let count = columns.count * channels
        for y in rows {
            if y == output.rect.y {
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

    /// The columns' samples of the row at `y`: in place if they are contiguous, or else copied.
    private func samples(_ y: Int, _ copy: borrowing RowBuffer<UInt8>) -> Row<UInt8> {
        let position = source.position(ofRow: y)
        if position >= 0, source.isSafeInPlace(columns) {
            return source.inPlace(x: columns.lowerBound, position: position)
        }
        source.copy(columns, position: position, to: copy.start)
        return Row(copy.start)
    }
}
