public import Geometry
public import Raster

extension KernelSource {
    /// A raster under its own coordinates; beyond its border lies the nearest pixel of it, as far as `reach` says.
    ///
    /// - Precondition: the raster has pixels.
    public init(clamping raster: AnyRaster, reach: Halo) {
        precondition(!raster.rect.isEmpty, "an empty raster has no nearest pixel")
        func table(_ range: Range<Int>, before: Int, after: Int) -> AxisTable {
            let needed = range.lowerBound - before..<range.upperBound + after
            return AxisTable(
                range: needed,
                positions: needed.map { Int32(min(max($0, range.lowerBound), range.upperBound - 1) - range.lowerBound) }
            )
        }
        self.init(
            raster: raster, columns: table(raster.rect.columns, before: reach.left, after: reach.right),
            rows: table(raster.rect.rows, before: reach.top, after: reach.bottom))
    }
}

/// What all blurs have in common.
public protocol Blur: Sendable {
    /// What is read around each pixel.
    var halo: Halo { get }

    /// Blurs into every pixel of `destination`, whose layout is the source's or adds alpha to it.
    func render(_ source: KernelSource, light: Light, within mask: RoundedRect?, into destination: inout AnyRaster)
}

extension Blur {
    /// Blurs a raster in place; beyond its border lies the nearest pixel of it. Takes memory for one copy.
    public func apply(to raster: inout AnyRaster, light: Light = .encoded) {
        guard !raster.rect.isEmpty else { return }
        var result = AnyRaster(zeroed: raster.rect, layout: raster.layout, format: raster.format)
        render(KernelSource(clamping: raster, reach: halo), light: light, within: nil, into: &result)
        raster = result
    }

    /// Likewise.
    public func apply<Sample: PixelSample>(to raster: inout Raster<Sample>, light: Light = .encoded) {
        raster.modify { apply(to: &$0, light: light) }
    }
}

extension Raster {
    /// Lends the raster with its sample type erased.
    fileprivate mutating func modify(_ body: (inout AnyRaster) -> Void) {
        var erased = Sample.erase(self)
        body(&erased)
        let result: Any =
            switch erased {
            case .u8(let raster): raster
            case .u16(let raster): raster
            case .f32(let raster): raster
            }
        if let result = result as? Raster { self = result }  // the body keeps the sample format
    }
}
