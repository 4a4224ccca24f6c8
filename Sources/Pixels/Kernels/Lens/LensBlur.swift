import Catalogs
package import Geometry
package import Raster

/// A blur like that of a lens: every point that is out of focus spreads evenly over a picture of the aperture.
///
/// **Without a depth picture**, out(p) = Σ A(p − q)·h(q)·in(q) / Σ A, where A is the aperture (``ApertureMask``) and h brightens
/// highlights (``Highlights``).
///
/// **With one**, the picture consists of layers of equal blur (``FocusLayers``): aₖ(q) is the share of pixel q in layer k, and
/// Aₖ the layer's aperture. They are composed from the nearest one to the farthest. Sums over an aperture are written Aₖ∗x.
///
/// - b = Σ aⱼ of this layer and all behind it. The layer covers the share c = Aₖ∗aₖ / Aₖ∗b of what is behind all nearer layers.
///   It is a share of what is visible: where a nearer thing hides a part, the rest stands for that part. So nothing of a
///   sharp thing in front gets into the blur behind it, and no dark border appears there.
/// - The layer adds the light ρ·(Aₖ∗(aₖ·h·in)) / (Aₖ∗b), where ρ is the share that nearer layers let through, at first 1.
/// - Behind a layer in front of the focus, less may be known than it lets through: its blurred border lets light pass where the
///   picture shows only the thing itself. The known share is at most 1 − c, and at most the pixel's own share in the layers
///   behind. The rest is filled with the light of the less blurred layers behind, s = Σ aⱼ over |j| < k, blurred by this
///   layer's own aperture. What still more blurred layers contribute to 1 − c is left to them, because they
///   spread far enough themselves.
/// - At last, the sum of light is divided by the sum of shares.
///
/// Pixels in focus with nothing blurred in front keep their light, without brighter highlights.
///
/// Layers that hide each other, and shares of what is visible, are those of Kraus and Strengert, "Depth-of-Field Rendering by
/// Pyramidal Image Processing" (Eurographics 2007). They blur by pyramids and fill what is hidden by
/// extrapolation. That light spreads evenly over a circle whose radius grows with the defocus is the model
/// of Potmesil and Chakravarty, "A Lens and Aperture Camera Model for Synthetic Image Generation" (SIGGRAPH 1981).
package struct LensBlur: Sendable, LevelChoosing {
    /// The apertures of layers 1 and more, or the only one. The last one is the widest.
    private let masks: [ApertureMask]
    private let layers: FocusLayers?
    private let highlights: Highlights?
    package var level = CPULevel.current

    /// - Parameters:
    ///   - radius: the largest radius in pixels, 0 to 100. The aperture is 2·radius + 1 pixels wide.
    ///   - layers: the layers if there is a depth picture.
    package init(radius: Double, aperture: Aperture, highlights: Highlights? = nil, layers: FocusLayers? = nil) {
        precondition((0...100).contains(radius), "the radius of a lens blur is 0 to 100 px")
        let shares = layers.map { layers in (1...layers.count).map { layers.share(of: $0) } } ?? [1]
        masks = shares.map { ApertureMask(aperture, radius: radius * $0) }
        self.layers = layers
        self.highlights = highlights
    }

    package var halo: Halo {
        let reach = masks[masks.count - 1].reach
        return Halo(horizontal: reach, vertical: reach)
    }

    /// Blurs into every pixel of `destination`; see ``Gaussian/render(_:light:within:into:)``.
    ///
    /// - Parameter depth: the depths of all pixels that are read. Nil if and only if there are no layers.
    package func render(
        _ source: KernelSource, depth: DepthMap?, light: Light, within mask: Mask? = nil,
        into destination: inout AnyRaster
    ) {
        precondition((depth == nil) == (layers == nil), "layers need depths")
        source.checkCoverage(of: destination, halo: halo, within: mask)
        let operations = RowOperations.of(level)
        let sums = masks.map { ApertureSum($0, operations) }
        let full = Float(source.raster.format.full)
        let brightening = highlights.map { LensBrightening($0, layout: destination.layout, full: full) }
        if let layers, let depth {
            LayeredLens(
                layers: layers, sums: sums, depth: depth, brightening: brightening, operations: operations
            ).render(source, light: light, within: mask, into: &destination)
        } else {
            FlatLens(sum: sums[0], brightening: brightening, operations: operations)
                .render(source, light: light, within: mask, into: &destination)
        }
    }

    /// The number of values that the widest aperture loads for each of a pixel's values, for estimates of time.
    package var loads: Double { Double(ApertureSum(masks[masks.count - 1], .of(level)).loads) }
}

/// What lights up out of focus. Sensors cut off highlights, and blurred without their true brightness they would turn gray.
///
/// A pixel gets the factor 1 + (gain − 1)·(Y − threshold)/(1 − threshold) if its luma Y = 0.2126·R + 0.7152·G + 0.0722·B lies between the
/// threshold and 1, and the whole gain from 1 on.
package struct Highlights: Hashable, Sendable {
    package let threshold: Double
    package let gain: Double

    /// - Parameters:
    ///   - threshold: 0…1.
    ///   - gain: at least 1.
    package init(threshold: Double, gain: Double) { (self.threshold, self.gain) = (threshold, gain) }
}
