import Arithmetic
import Catalogs
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
        _ source: KernelSource, light: Light, within mask: Mask? = nil, into destination: inout AnyRaster
    ) {
        source.checkCoverage(of: destination, halo: halo, within: mask)
        let form = form(source.raster.format, light)
        guard form != .floating else {
            return floating.render(source, light: light, within: mask, into: &destination)
        }
        source.renderBytes(within: mask, on: level, into: &destination) { bytes, writer in
            if form == .direct {
                FixedDirect(
                    bytes, layout: writer.layout, columns: writer.rect.columns, horizontal: fixedX.weights,
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

    var floating: FloatPyramid { FloatPyramid(horizontal: floatingX, vertical: floatingY, .of(level)) }

    /// Whether both axes are halved equally, which the loops for 8-bit samples need.
    private var isSameRate: Bool { fixedX.prefilters == fixedY.prefilters }
}

extension Gaussian: RunningBlur {
    /// Neither the cost nor the memory of the running form grows with the standard deviations, except that an axis with a small one is not
    /// halved for the other axis.
    package func runningForm(of output: RunningOutput) -> RunningForm? {
        let (width, channels) = (output.rect.width, output.layout.channels)
        let operations = RowOperations.of(level)
        switch form(output.format, output.light) {
        case .fixed:
            return RunningForm(
                rows: 16, rowsAhead: FixedPyramid.rowsAhead(fixedY),
                bytes: FixedPyramid.bytes(width: width, output.layout, fixedX, fixedY)
            ) {
                RunningBytes($0, output, operations) { bytes in
                    FixedPyramid(
                        bytes, layout: output.layout, output: output.rect, horizontal: fixedX, vertical: fixedY,
                        operations
                    ).render
                }
            }
        case .direct:
            return FixedDirect.runningForm(of: output, horizontal: fixedX.weights, vertical: fixedY.weights, operations)
        case .floating:
            return RunningForm(
                rows: 1, rowsAhead: floating.rowsAhead, copies: 2,
                bytes: floating.bytes(width: width, channels: channels)
            ) { input in
                RunningFloats(input, output) { floating.run(input, $0, output).row }
            }
        }
    }
}

extension FloatPyramid {
    /// A run whose input is still arriving.
    func run(_ input: ArrivingInput, _ bands: ArrivingBands, _ output: RunningOutput) -> FloatPyramidRun {
        run(input.columns, input.rows, output.layout, area: output.rect) {
            FloatSource(bands, input.columns, columns: $0, operations)
        }
    }
}

extension SymmetricTaps {
    /// The shortest weights of a Gaussian, from the centre outwards. Their absolute differences from all of its weights sum to
    /// less than `error`.
    static func gaussian(sigma: Double, error: Double) -> [Double] {
        let all = gaussian(sigma: sigma, radius: Int((6 * sigma).rounded(.up)))
        // What the weights beyond R sum to is missing there, and is added to the others when they are divided by their sum.
        var (radius, missing) = (all.count - 1, 0.0)
        while radius > 0, 2 * (missing + 2 * all[radius]) < error {
            missing += 2 * all[radius]
            radius -= 1
        }
        return gaussian(sigma: sigma, radius: radius)
    }

    /// The weights exp(−k²/2σ²) at the whole numbers −R…R, divided by their sum, from the centre outwards.
    ///
    /// - Parameter sigma: the standard deviation in pixels, at least 0; 0 gives the one weight 1.
    static func gaussian(sigma: Double, radius: Int) -> [Double] {
        precondition(sigma >= 0 && sigma.isFinite, "a standard deviation is a length")
        guard sigma > 0, radius > 0 else { return [1] }
        let tail = (1...radius).map { DeterministicMath.exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = 1 + 2 * tail.reversed().reduce(0, +)  // the smallest first, for accuracy
        return [1 / sum] + tail.map { $0 / sum }
    }
}
