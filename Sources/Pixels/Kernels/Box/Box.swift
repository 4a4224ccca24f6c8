import Catalogs
public import Geometry
public import Raster

/// A mean over a rectangle of any size, fractions of a pixel included. Its cost does not grow with the radius.
///
/// Along each axis, samples at a distance of up to ⌊radius⌋ have the weight 1. The next sample on either side has the fraction
/// of the radius as its weight. All weights are divided by 2·radius + 1.
public struct Box: Blur, RunningBlur, LevelChoosing {
    private let horizontal: BoxAxis
    private let vertical: BoxAxis
    public let halo: Halo
    package var level = CPULevel.current

    /// - Parameters: half of each side less half a pixel, in pixels, 0 to 1000; 0 leaves its axis unchanged.
    public init(radiusX: Double, radiusY: Double) {
        precondition((0...1000).contains(radiusX) && (0...1000).contains(radiusY), "a box's radius is 0 to 1000 px")
        horizontal = BoxAxis(radius: radiusX)
        vertical = BoxAxis(radius: radiusY)
        halo = Halo(horizontal: horizontal.reach, vertical: vertical.reach)
    }

    /// See ``Gaussian/render(_:light:within:into:)``.
    public func render(
        _ source: KernelSource, light: Light, within mask: Mask? = nil, into destination: inout AnyRaster
    ) {
        source.checkCoverage(of: destination, halo: halo, within: mask)
        if source.isWholeWords(light, destination) {
            return source.renderWords(within: mask, on: level, into: &destination) { words, writer in
                let parts = WordMean.parts(of: writer.rect.columns, channels: words.channels, reach: horizontal.reach)
                for columns in parts {
                    WordMean(words, columns, horizontal, vertical, writer.operations).render(to: writer)
                }
            }
        }
        guard case .u8 = source.raster, light == .encoded else {
            return floating.render(source, light: light, within: mask, into: &destination)
        }
        let isOpaque = source.isOpaqueBytes(as: destination.layout, .of(level))
        source.renderBytes(within: mask, on: level, into: &destination) { bytes, writer in
            if let weights = directWeights {
                return FixedDirect(
                    bytes, layout: writer.layout, columns: writer.rect.columns, horizontal: weights.horizontal,
                    vertical: weights.vertical, writer.operations
                ).render(to: writer)
            }
            let parts = FixedMean.parts(
                of: writer.rect.columns, channels: writer.layout.channels, reach: horizontal.reach)
            for columns in parts {
                FixedMean(
                    bytes, columns, horizontal, vertical, isOpaque: isOpaque, writer.layout, writer.operations
                ).render(to: writer)
            }
        }
    }

    /// The memory of the running form grows with the radius, because a row that leaves the rectangle is read again.
    package func runningForm(of output: RunningOutput) -> RunningForm? {
        let operations = RowOperations.of(level)
        if output.isWholeWords {
            return RunningForm(rows: window, rowsAhead: 2, bytes: WordMean.bytes(of: output, horizontal)) {
                RunningWords($0, output, operations) { words in
                    WordMean(words, output.rect.columns, horizontal, vertical, operations).render
                }
            }
        }
        guard output.format == .u8, output.light == .encoded else { return floating.runningForm(of: output) }
        if let weights = directWeights {
            return FixedDirect.runningForm(
                of: output, horizontal: weights.horizontal, vertical: weights.vertical, operations)
        }
        return RunningForm(rows: window, rowsAhead: 2, bytes: FixedMean.bytes(of: output, horizontal, vertical)) {
            RunningBytes($0, output, operations) { bytes in
                // Whether all pixels are opaque is known after the last row. The loops for opaque pixels give the same samples.
                FixedMean(
                    bytes, output.rect.columns, horizontal, vertical, isOpaque: !output.layout.hasAlpha, output.layout,
                    operations
                ).render
            }
        }
    }

    /// The rows that are read for a row of the output, those that have left, and one that a loop reads with the others.
    private var window: Int { 2 * vertical.reach + 4 }

    private var floating: FloatBox {
        FloatBox(horizontal: horizontal.plateau, vertical: vertical.plateau, .of(level))
    }

    /// The weights for small rectangles, where a FIR is faster than running sums.
    private var directWeights: (horizontal: [UInt16], vertical: [UInt16])? {
        guard max(horizontal.reach, vertical.reach) <= Self.fewTaps else { return nil }
        return (horizontal.quantized, vertical.quantized)
    }

    private static let fewTaps = 2
}

/// A mean along one axis: 2·side + 1 samples of equal weight, and a fraction of that weight for one more sample on each side.
struct BoxAxis: Hashable, Sendable {
    /// Samples on each side of the centre that have its weight: ⌊radius⌋.
    let side: Int
    /// The fraction of the radius, 0 ..< 1: the share of the outermost sample.
    let fraction: Double
    /// 1 / (2·radius + 1).
    let weight: Double

    /// - Parameter radius: in pixels, at least 0.
    init(radius: Double) {
        side = Int(radius)
        fraction = radius - Double(side)
        weight = 1 / (2 * radius + 1)
    }

    /// The number of samples that are read on each side.
    var reach: Int { fraction > 0 ? side + 1 : side }
    var length: Int { 2 * side + 1 }
    var tail: Double { fraction * weight }

    /// The plateau of the mean. Nil if there is only one sample.
    var plateau: Plateau? {
        reach == 0 ? nil : Plateau(side: side, weight: Float(weight), tails: fraction > 0 ? [Float(tail)] : [])
    }

    /// The weights from the centre outwards, rounded to multiples of 1/65536. They sum to exactly 65536, or are the one weight
    /// 65535.
    var quantized: [UInt16] {
        guard reach > 0 else { return [UInt16.max] }
        let sides = (1...reach).map { Int((65536 * ($0 > side ? tail : weight)).rounded()) }
        return [UInt16(clamping: 65536 - 2 * sides.reduce(0, +))] + sides.map { UInt16(clamping: $0) }
    }
}
