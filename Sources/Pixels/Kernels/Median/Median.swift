import Catalogs
public import Geometry
public import Raster

/// The median of a square of pixels, of every channel for itself: exact in every sample format.
///
/// With alpha it is that of the colours times alpha, and of alpha: a colour that comes out above its alpha is stored as
/// full. NaN counts as larger than every number.
public struct Median: Blur {
    private let radius: Int
    public let halo: Halo
    private var level = CPULevel.current

    /// Up to this radius networks of minima and maxima are faster than histograms.
    static let networkRadius = 2

    /// - Parameter radius: the square is 2·radius + 1 pixels wide; 0 to 100.
    public init(radius: Int) {
        precondition((0...100).contains(radius), "a median's radius is 0 to 100 px")
        self.radius = radius
        halo = Halo(horizontal: radius, vertical: radius)
    }

    /// The same filter with the inner loops of one level, which this CPU must have.
    package func running(on level: CPULevel) -> Median {
        var copy = self
        copy.level = level
        return copy
    }

    /// See ``Gaussian/render(_:light:within:into:)``. 8-bit pixels that are all opaque take a short cut, with the same
    /// results.
    public func render(
        _ source: KernelSource, light: Light, within mask: RoundedRect? = nil, into destination: inout AnyRaster
    ) {
        source.checkCoverage(of: destination, halo: halo, within: mask)
        guard radius > 0 else { return source.copyPixels(to: &destination) }
        if radius <= Self.networkRadius, WholeWords.serve(source, light: light, destination) {
            return WholeWords.render(source, within: mask, on: level, into: &destination) { words, writer in
                WordMedian(words, radius: radius, writer).render()
            }
        }
        guard light == .encoded, source.isOpaqueBytes(as: destination.layout, .of(level)) else {
            let kernel = FloatMedian(radius: radius, .of(level))
            return kernel.render(source, light: light, within: mask, into: &destination)
        }
        FixedPoint.render(source, within: mask, on: level, into: &destination) { bytes, writer in
            if radius <= Self.networkRadius {
                NetworkMedian(bytes, radius: radius, writer).render()
            } else {
                let strips = HistogramMedian.strips(
                    of: writer.rect.columns, channels: writer.layout.channels, radius: radius)
                for strip in strips { HistogramMedian(bytes, strip, radius: radius, writer).render() }
            }
        }
    }
}
