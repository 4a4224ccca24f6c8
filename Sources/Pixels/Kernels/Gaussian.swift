import Arithmetic
package import Catalogs
public import Geometry
public import Raster

/// A Gaussian blur with a standard deviation for each axis. Its cost does not grow with the standard deviations.
public struct Gaussian: Blur, LevelChoosing {
    let fixedX: AxisDesign<UInt16>
    let fixedY: AxisDesign<UInt16>
    let floatingX: AxisDesign<Float>
    let floatingY: AxisDesign<Float>
    public let halo: Halo
    package var level = CPULevel.current

    /// - Parameters: standard deviations in pixels, 0 to 1000; 0 leaves its axis unchanged.
    public init(sigmaX: Double, sigmaY: Double) {
        precondition((0...1000).contains(sigmaX) && (0...1000).contains(sigmaY), "a standard deviation is 0 to 1000 px")
        fixedX = .fixedPoint(sigma: sigmaX)
        fixedY = sigmaX == sigmaY ? fixedX : .fixedPoint(sigma: sigmaY)
        floatingX = .floating(sigma: sigmaX)
        floatingY = sigmaX == sigmaY ? floatingX : .floating(sigma: sigmaY)
        halo = Halo(horizontal: max(fixedX.reach, floatingX.reach), vertical: max(fixedY.reach, floatingY.reach))
    }

    /// The same standard deviation along both axes, in pixels.
    public init(radius: Double) { self.init(sigmaX: radius, sigmaY: radius) }

    /// Blurs into every pixel of `destination`, whose layout is the source's or adds alpha to it.
    ///
    /// - Parameters:
    ///   - source: a source whose tables cover the destination, and the halo of the part that the mask may cover. Halving
    ///     keeps even coordinates, so the same pixels at other coordinates may round differently, within the bound.
    ///   - mask: the area to blur; pixels outside of it keep their bytes. Nil is everywhere.
    public func render(
        _ source: KernelSource, light: Light, within mask: RoundedRect? = nil, into destination: inout AnyRaster
    ) {
        source.checkCoverage(of: destination, halo: halo, within: mask)
        let form = form(source.raster.format, light)
        guard form != .floating else {
            return floating.render(source, light: light, within: mask, into: &destination)
        }
        source.renderBytes(within: mask, on: level, into: &destination) { bytes, writer in
            if form == .direct {
                FixedDirect(
                    bytes, layout: writer.layout, output: writer.rect, horizontal: fixedX.weights,
                    vertical: fixedY.weights, writer.operations
                ).render(to: writer)
            } else {
                let channels = writer.layout.channels
                for part in FixedPyramid.parts(of: writer.rect, channels: channels, reach: fixedX.reach) {
                    FixedPyramid(
                        bytes, layout: writer.layout, output: part, horizontal: fixedX, vertical: fixedY,
                        writer.operations
                    ).render(to: writer)
                }
            }
        }
    }

    /// The blur of a whole picture that arrives from the top down. Neither its cost nor its memory grow with the standard deviations. Its
    /// pixels are those of ``render(_:light:within:into:)``.
    ///
    /// - Parameters:
    ///   - input: its tables cover the halo of the output.
    ///   - output: the rectangle of all rows that will be written.
    ///   - layout: the layout of the output, which is the input's or adds alpha to it.
    /// - Returns: nil if there is only the other form for these samples.
    package func running(
        _ input: ArrivingInput, output: PixelRect, layout: PixelLayout, format: SampleFormat, light: Light
    ) -> (any RunningKernel)? {
        switch form(format, light) {
        case .fixed: RunningBytes(self, ByteSource(input, wanted: output.columns), output: output, layout: layout)
        case .direct: nil
        case .floating: RunningFloats(self, input, output: output, layout: layout, light: light)
        }
    }

    private enum Form {
        /// 8-bit samples at several rates.
        case fixed
        /// 8-bit samples at their own rate.
        case direct
        /// All others, in single precision.
        case floating
    }

    private func form(_ format: SampleFormat, _ light: Light) -> Form {
        guard format == .u8, light == .encoded, isSameRate else { return .floating }
        return fixedX.prefilters.isEmpty ? .direct : .fixed
    }

    /// Whether ``running(_:output:layout:format:light:)`` has a form for these samples.
    package func canRun(_ format: SampleFormat, _ light: Light) -> Bool { form(format, light) != .direct }

    /// An upper bound for the bytes that the running form holds beside the rows of its input.
    package func runningBytes(output: PixelRect, layout: PixelLayout, format: SampleFormat, light: Light) -> Int {
        // The rings of all levels have some 100 bytes for each sample of a row in fixed point, and 500 in single precision.
        let bytes = form(format, light) == .fixed ? 128 : 640
        return (output.width + 2 * halo.left + 512) * layout.channels * bytes
    }

    var floating: FloatPyramid { FloatPyramid(horizontal: floatingX, vertical: floatingY, .of(level)) }

    /// Whether both axes are halved equally, which the loops for 8-bit samples need.
    private var isSameRate: Bool { fixedX.prefilters == fixedY.prefilters }
}

/// See ``Gaussian/running(_:output:layout:format:light:)``.
private final class RunningBytes: RunningKernel {
    private let bytes: ByteSource
    private let layout: PixelLayout
    private let operations: RowOperations
    private let parts: [FixedPyramid]

    init(_ kernel: Gaussian, _ bytes: ByteSource, output: PixelRect, layout: PixelLayout) {
        let operations = RowOperations.of(kernel.level)
        self.bytes = bytes
        self.layout = layout
        self.operations = operations
        parts = FixedPyramid.parts(of: output, channels: layout.channels, reach: kernel.fixedX.reach).map {
            FixedPyramid(
                bytes, layout: layout, output: $0, horizontal: kernel.fixedX, vertical: kernel.fixedY, operations)
        }
    }

    func render(into destination: inout AnyRaster) throws {
        guard case .u8(var target) = destination.take(), target.layout == layout else {
            preconditionFailure("8-bit samples of one layout")
        }
        let rect = target.rect
        if !rect.isEmpty {
            target.samples.withMutableRow { samples in
                let writer = RowWriter<UInt8>(samples, rect: rect, layout: layout, operations)
                for part in parts { part.render(to: writer) }
                writer.finish()
            }
        }
        destination = .u8(target)
        if let failure = bytes.failure { throw failure }
    }
}

/// See ``Gaussian/running(_:output:layout:format:light:)``.
private final class RunningFloats: RunningKernel {
    private let bands: ArrivingBands
    private let light: Light
    private let curve: TransferCurve
    private let run: FloatPyramidRun

    init(_ kernel: Gaussian, _ input: ArrivingInput, output: PixelRect, layout: PixelLayout, light: Light) {
        let bands = ArrivingBands(input, layout: layout, light: light)
        self.bands = bands
        self.light = light
        curve = input.curve
        run = kernel.floating.run(input.columns, input.rows, layout, area: output) {
            FloatSource(bands, input.columns, columns: $0, .of(kernel.level))
        }
    }

    func render(into destination: inout AnyRaster) throws {
        let rows = destination.rect.rows
        var sink = PixelWriter(destination.take(), light: light, curve: curve)
        for y in rows { sink.write(run.row(y)) }
        destination = sink.raster
        if let failure = bands.failure { throw failure }
    }
}

extension SymmetricTaps {
    /// The reach of a Gaussian in standard deviations. The weights beyond it sum to 2.1e-5, so that the truncation changes a
    /// pixel by at most 2.8 of 65535 in two dimensions.
    static let gaussianReach = 4.25

    /// The weights exp(−k²/2σ²) at the whole numbers −R…R, R = ⌈4.25·σ⌉, divided by their sum.
    ///
    /// - Parameter sigma: the standard deviation in pixels, at least 0; 0 gives the one weight 1.
    public static func gaussian(sigma: Double) -> SymmetricTaps {
        SymmetricTaps(half: gaussian(sigma: sigma, radius: Int((gaussianReach * sigma).rounded(.up))))
    }

    /// The same for a given R, from the centre outwards.
    static func gaussian(sigma: Double, radius: Int) -> [Double] {
        precondition(sigma >= 0 && sigma.isFinite, "a standard deviation is a length")
        guard sigma > 0, radius > 0 else { return [1] }
        let tail = (1...radius).map { DeterministicMath.exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = 1 + 2 * tail.reversed().reduce(0, +)  // the smallest first, for accuracy
        return [1 / sum] + tail.map { $0 / sum }
    }
}
