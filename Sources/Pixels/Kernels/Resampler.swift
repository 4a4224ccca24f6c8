import Arithmetic
import Catalogs
import Geometry
package import Raster
import Synchronization

/// A resize in single precision. It resamples columns first, so that fewer rows are left to resample.
///
/// Colours are premultiplied by alpha. A pixel depends on its position alone, so tiles have the same bytes as the whole
/// picture.
package struct Resampler: Sendable {
    package let horizontal: AxisResampling
    package let vertical: AxisResampling
    private let operations = RowOperations.of(.current)
    private let tables: ResamplingTables

    /// - Parameter tables: the tables that the resamplers of all parts of a picture share.
    package init(
        horizontal: AxisResampling, vertical: AxisResampling, _ tables: ResamplingTables = ResamplingTables()
    ) {
        self.horizontal = horizontal
        self.vertical = vertical
        self.tables = tables
    }

    /// Writes every pixel of `destination`.
    ///
    /// - Parameters:
    ///   - source: a source whose tables cover the input that ``AxisResampling/needed(_:)`` names.
    ///   - corner: the coordinates of the input pixel at which output pixel (0, 0) begins.
    ///   - shift: the output pixel of the resize that lies at the destination's coordinates (0, 0).
    package func render(
        _ source: KernelSource, corner: (x: Int, y: Int), shift: (x: Int, y: Int), light: Light,
        into destination: inout AnyRaster
    ) {
        let rect = destination.rect
        guard !rect.isEmpty else { return }
        let reader = PixelReader(source, layout: destination.layout, light: light)
        var sink = PixelWriter(destination.take(), like: reader)
        let columns = tables.taps(of: horizontal, rect.columns.moved(by: shift.x))
        let rows = ResampledRows(
            FloatSource(reader, columns: columns.read.moved(by: corner.x), operations), columns: columns,
            vertical: vertical, corner: corner, output: rect, shift: shift.y, channels: reader.layout.channels,
            operations)
        for y in rect.rows { sink.write(rows.row(y)) }
        destination = sink.raster
    }

    /// The form that keeps its state from band to band; see ``render(_:corner:shift:light:into:)``.
    package func runningForm(of output: RunningOutput, corner: (x: Int, y: Int), shift: (x: Int, y: Int)) -> RunningForm
    {
        let columns = tables.taps(of: horizontal, output.rect.columns.moved(by: shift.x))
        let bytes = ResampledRows.bytes(
            reading: columns.read.count, writing: output.rect.width, channels: output.layout.channels, vertical)
        // Each row is read once. The band before is dropped when the next one is there. A row may be read in double precision.
        let row = MemoryLayout<Double>.stride * columns.read.count * output.layout.channels
        return RunningForm(rows: 1, copies: 2, bytes: bytes + row) { input in
            RunningFloats(input, output) { bands in
                let source = FloatSource(
                    bands, input.columns, columns: columns.read.moved(by: corner.x), operations)
                return ResampledRows(
                    source, columns: columns, vertical: vertical, corner: corner, output: output.rect, shift: shift.y,
                    channels: output.layout.channels, operations
                ).row
            }
        }
    }
}

/// The taps of neighbouring output columns, in the form that the loop over a row needs.
final class ColumnTaps: Sendable {
    /// The input columns that are read.
    let read: Range<Int>
    /// The first input column of each tap, relative to ``read``.
    let starts: [Int32]
    let counts: [Int32]
    let weights: [Float]
    let stride: Int

    init(_ axis: AxisResampling, _ columns: Range<Int>) {
        let taps = columns.map { axis.taps(at: $0) }
        let first = taps.map(\.start).min() ?? 0
        read = first..<(taps.map(\.range.upperBound).max() ?? first)
        let stride = taps.map(\.weights.count).max() ?? 0
        self.stride = stride
        starts = taps.map { Int32($0.start - first) }
        counts = taps.map { Int32($0.weights.count) }
        weights = taps.flatMap { $0.weights + Array(repeating: 0, count: stride - $0.weights.count) }
    }
}

/// Caches the taps of the latest columns, because all bands of a picture need the same.
package final class ResamplingTables: Sendable {
    private struct Entry {
        let axis: AxisResampling
        let columns: Range<Int>
        let taps: ColumnTaps
    }

    private let latest = Mutex<Entry?>(nil)

    package init() {}

    fileprivate func taps(of axis: AxisResampling, _ columns: Range<Int>) -> ColumnTaps {
        latest.withLock { latest in
            if let latest, latest.axis == axis, latest.columns == columns { return latest.taps }
            let taps = ColumnTaps(axis, columns)
            latest = Entry(axis: axis, columns: columns, taps: taps)
            return taps
        }
    }
}

/// The kernel that weights the input pixels of a resampled pixel.
package enum ResamplingKernel: String, Hashable, Sendable, CaseIterable {
    /// sinc(x)·sinc(x/3) for |x| < 3, widened by the scale when pictures shrink. It is sharp and does not alias.
    case lanczos3
    /// Each input pixel is weighted by the part of it that the output pixel covers.
    case box
}

/// A resize along one axis: the input pixels of each output pixel, and their weights.
///
/// Output pixel i covers the input from i·scale to (i + 1)·scale. Input pixel j covers j to j + 1.
package struct AxisResampling: Hashable, Sendable {
    /// The number of input pixels that one output pixel covers.
    package let scale: Double
    package let kernel: ResamplingKernel

    package init(scale: Double, kernel: ResamplingKernel) {
        self.scale = scale
        self.kernel = kernel
    }

    /// The weighted input pixels of one output pixel. They may lie outside the input.
    package struct Taps: Hashable, Sendable {
        package let start: Int
        /// The weights, which sum to 1 except for rounding.
        package let weights: [Float]

        package var range: Range<Int> { start..<start + weights.count }
    }

    package func taps(at index: Int) -> Taps {
        let window = window(index)
        let (start, weights) = trimmed(window.lowerBound, window.map { weight($0, at: index) })
        let sum = weights.reduce(0, +)
        return Taps(start: start, weights: weights.map { Float($0 / sum) })
    }

    /// The input pixels from which some output pixels may be computed. A single pixel may need fewer, if the kernel is 0.
    package func needed(_ output: Range<Int>) -> Range<Int> {
        guard let last = output.last else { return output }
        return window(output.lowerBound).lowerBound..<window(last).upperBound
    }

    /// The largest number of input pixels that are read on either side beyond those that an output pixel covers.
    package var reach: Int { kernel == .box ? 1 : Int((3 * max(1, scale)).rounded(.up)) + 1 }

    /// The input pixels within the kernel's reach.
    private func window(_ index: Int) -> Range<Int> {
        switch kernel {
        case .box:
            let first = Int((Double(index) * scale).rounded(.down))
            return first..<max(first + 1, Int((Double(index + 1) * scale).rounded(.up)))
        case .lanczos3:
            let center = center(index)
            return Int((center - 3 * width).rounded(.up))..<Int((center + 3 * width).rounded(.down)) + 1
        }
    }

    /// Half the width of the kernel's central lobe.
    private var width: Double { max(1, scale) }

    /// The centre in input pixels, whose centres are the integers.
    private func center(_ index: Int) -> Double { (Double(index) + 0.5) * scale - 0.5 }

    private func weight(_ pixel: Int, at index: Int) -> Double {
        switch kernel {
        case .box:
            min(Double(index + 1) * scale, Double(pixel + 1)) - max(Double(index) * scale, Double(pixel))
        case .lanczos3: Self.lanczos3((Double(pixel) - center(index)) / width)
        }
    }

    /// Removes the zeros at both ends, so that their pixels are not read.
    private func trimmed(_ first: Int, _ weights: [Double]) -> (Int, [Double]) {
        let lead = weights.prefix { $0 == 0 }.count
        guard lead < weights.count else { return (first, [1]) }
        let tail = weights.reversed().prefix { $0 == 0 }.count
        return (first + lead, Array(weights[lead..<weights.count - tail]))
    }

    /// The kernel: exactly 1 at 0, and 0 at the other integers.
    private static func lanczos3(_ x: Double) -> Double {
        guard x != 0 else { return 1 }
        guard abs(x) < 3 else { return 0 }
        guard x != x.rounded() else { return 0 }
        let sine = DeterministicMath.sinCos(degrees: 60 * x).sin
        let product = (3 - 4 * sine * sine) * sine * sine  // sin 3a = 3·sin a − 4·sin³ a
        return 3 * product / (Double.pi * Double.pi * x * x)
    }
}
