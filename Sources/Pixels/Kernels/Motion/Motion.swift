import Arithmetic
import Catalogs
public import Geometry
public import Raster

/// A blur along a straight line; see ``MotionTaps``.
public struct Motion: Blur, RunningBlur, LevelChoosing {
    private let taps: SymmetricPairs
    private let plateau: Plateau?
    /// For 8-bit samples and a line that is not parallel to an axis; nil if its few taps are summed directly.
    private let line: FixedLine?
    public let halo: Halo
    package var level = CPULevel.current

    /// - Parameter velocity: at most 1000 pixels along each axis.
    public init(_ velocity: MotionTaps.Velocity, _ sampling: MotionTaps.Sampling) {
        precondition(max(velocity.x.magnitude, velocity.y.magnitude) <= 1000, "a line is at most 1000 px to each side")
        taps = SymmetricPairs(MotionTaps.taps(velocity, sampling))
        plateau = Plateau(taps)
        let design = sampling == .continuous && plateau == nil ? LineDesign(velocity, taps) : nil
        line = design.map { [taps] in FixedLine($0, taps) }
        halo = Halo(horizontal: taps.reachX + (design?.margin ?? 0), vertical: taps.reachY)
    }

    /// The number of pairs of taps that are summed for each sample; 0 for a line along an axis, because the cost of running
    /// sums does not depend on the length.
    package var summedPairs: Int { plateau == nil ? taps.pairs.count : 0 }

    /// The same for 8-bit samples, where running sums along other lines take the time of some pairs.
    package var summedBytePairs: Int { line.map { $0.design.cost / 4 } ?? summedPairs }

    /// Blurs into every pixel of `destination`, whose layout is the source's or adds alpha to it.
    ///
    /// - Parameters:
    ///   - source: a source whose tables cover the destination, and the halo of the part that the mask may cover.
    ///   - mask: the area to blur; pixels outside of it keep their bytes. Nil is everywhere.
    public func render(
        _ source: KernelSource, light: Light, within mask: Mask? = nil, into destination: inout AnyRaster
    ) {
        source.checkCoverage(of: destination, halo: halo, within: mask)
        let operations = RowOperations.of(level)
        guard case .u8 = source.raster, light == .encoded, let bytes = byteKernel(for: destination.layout) else {
            return renderFloats(source, light, mask, operations, into: &destination)
        }
        source.renderBytes(within: mask, on: level, into: &destination) { bytes.strips.render($0, to: $1) }
    }

    /// There is one for 8-bit samples, unless no row is read twice.
    package func runningForm(of output: RunningOutput) -> RunningForm? {
        guard output.isBytes, taps.reachY > 0, let kernel = byteKernel(for: output.layout) else { return nil }
        return kernel.strips.runningForm(of: output, .of(level), bytesOfValue: kernel.bytesOfValue)
    }

    /// The kernel for 8-bit samples, and its memory for each value of a row. Nil if there is none.
    private func byteKernel(for layout: PixelLayout) -> (strips: ByteStrips, bytesOfValue: Int)? {
        let rows = FixedStrip.bytesOfValue(reachY: taps.reachY)
        // Few taps are summed directly as fast as with running sums.
        if let plateau, plateau.reach > Self.fewTaps { return (FixedBox(taps, plateau).strips, rows + 4) }
        if let line { return (line.strips, line.bytesOfValue) }
        return FixedSparse(taps, hasAlpha: layout.hasAlpha).map { ($0.strips, rows) }
    }

    private static let fewTaps = 12

    private func renderFloats(
        _ source: KernelSource, _ light: Light, _ mask: Mask?, _ operations: RowOperations,
        into destination: inout AnyRaster
    ) {
        if let plateau {
            let isHorizontal = taps.reachY == 0
            FloatBox(horizontal: isHorizontal ? plateau : nil, vertical: isHorizontal ? nil : plateau, operations)
                .render(source, light: light, within: mask, into: &destination)
        } else {
            FloatSparse(taps, operations).render(source, light: light, within: mask, into: &destination)
        }
    }
}

/// The weights of a blur along a straight line, as a sparse two-dimensional filter.
///
/// With the velocity v = (r·cos a, −r·sin a) in image coordinates (y grows downwards, the angle a counter-clockwise as
/// seen), an output pixel p is a mean of the bilinearly interpolated input along p − v … p + v.
public enum MotionTaps {
    /// How the line from −v to +v is sampled.
    public enum Sampling: Hashable, Sendable {
        /// The mean of the 2n + 1 samples at p − v + k·v/n, k = 0…2n, both ends at full weight; n is at least 1.
        case samples(Int)
        /// The limit for n → ∞: ½·∫ of the sample at p + t·v over t = −1…1.
        case continuous
    }

    /// The velocity of a blur, in pixels.
    public struct Velocity: Hashable, Sendable {
        public let x: Double
        public let y: Double

        /// - Parameters:
        ///   - radius: half the length of the line, in pixels.
        ///   - degrees: counter-clockwise from +x as seen; multiples of 90 give an exact axis.
        public init(radius: Double, degrees: Double) {
            let (sin, cos) = DeterministicMath.sinCos(degrees: degrees)
            self.init(x: radius * cos, y: 0 - radius * sin)
        }

        public init(x: Double, y: Double) {
            self.x = x
            self.y = y
        }
    }

    /// The taps, whose weights sum to 1 (within 1e-12). The cost is proportional to n, or to |v.x| + |v.y|.
    public static func taps(_ velocity: Velocity, _ sampling: Sampling) -> SparseTaps {
        switch sampling {
        case .samples(let n): sampled(velocity, n: n)
        case .continuous: integrated(velocity)
        }
    }

    private static func sampled(_ velocity: Velocity, n: Int) -> SparseTaps {
        precondition(n >= 1, "a mean has samples")
        var taps = TapAccumulator()
        let weight = 1 / Double(2 * n + 1)
        for k in -n...n {
            let (x, y) = (velocity.x * Double(k) / Double(n), velocity.y * Double(k) / Double(n))
            let corner = (x: Int(x.rounded(.down)), y: Int(y.rounded(.down)))
            let bilinear = BilinearCell(fractionX: x - Double(corner.x), fractionY: y - Double(corner.y))
            taps.add(bilinear, at: corner, times: weight)
        }
        return taps.result
    }

    /// Between two neighbouring t at which v.x·t or v.y·t is an integer, the four weights of the bilinear cell are quadratic
    /// in t, and Simpson's rule is exact.
    private static func integrated(_ velocity: Velocity) -> SparseTaps {
        var taps = TapAccumulator()
        let breaks = breakpoints(velocity)
        for (start, end) in zip(breaks, breaks.dropFirst()) {
            let middle = (start + end) / 2
            let corner = (x: Int((velocity.x * middle).rounded(.down)), y: Int((velocity.y * middle).rounded(.down)))
            for (t, share) in [(start, 1.0), (middle, 4.0), (end, 1.0)] {
                let bilinear = BilinearCell(
                    fractionX: velocity.x * t - Double(corner.x), fractionY: velocity.y * t - Double(corner.y))
                // Half of the integral over 0…1, added here and mirrored for −1…0, so that the filter is exactly symmetric.
                taps.addWithMirror(bilinear, at: corner, times: share * (end - start) / 12)
            }
        }
        return taps.result
    }

    /// The t in 0…1 where the line p + t·v crosses a column or a row of pixel centres, with both ends.
    private static func breakpoints(_ velocity: Velocity) -> [Double] {
        let crossings = [velocity.x.magnitude, velocity.y.magnitude].flatMap { speed in
            (0..<Int(speed.rounded(.up))).map { Double($0) / speed }
        }
        return Set(crossings + [0, 1]).sorted()
    }
}

/// The weights of bilinear interpolation between four neighbouring pixels.
struct BilinearCell {
    private let x: Double
    private let y: Double

    /// Fractions that a rounding error moves outside 0…1 are clamped.
    init(fractionX: Double, fractionY: Double) {
        x = min(max(fractionX, 0), 1)
        y = min(max(fractionY, 0), 1)
    }

    var corners: [(dx: Int, dy: Int, weight: Double)] {
        [(0, 0, (1 - x) * (1 - y)), (1, 0, x * (1 - y)), (0, 1, (1 - x) * y), (1, 1, x * y)]
    }
}
