package import Catalogs
package import Geometry
package import Raster

/// The outline of a picture in one colour, softened by a Gaussian: its shadow.
package struct Silhouette: Sendable {
    private let blur: Gaussian?
    private let color: BackgroundColor
    private let layout: PixelLayout

    /// - Parameters:
    ///   - radius: the standard deviation in pixels; 0 for a sharp outline.
    ///   - color: its alpha counts, too.
    ///   - layout: with alpha. A gray one takes the red channel of the colour.
    package init(radius: Double, color: BackgroundColor, layout: PixelLayout) {
        blur = radius > 0 ? Gaussian(radius: radius) : nil
        (self.color, self.layout) = (color, layout)
    }

    /// The shadow of a picture in 16 bits. Its rectangle begins at 0, 0. It is larger than the picture by `reach`.
    package func cast(by picture: AnyRaster) -> (shadow: AnyRaster, reach: Halo) {
        let reach = blur?.halo ?? .none
        let own = picture.rect
        let output = PixelRect(x: own.x, y: own.y, width: own.width, height: own.height).expanded(by: reach)
        let wide = output.expanded(by: reach)
        var outline = AnyRaster(zeroed: wide, layout: .gray, format: .u16)
        Self.write(picture, into: &outline)
        var soft = outline
        if let blur {
            soft = AnyRaster(zeroed: output, layout: .gray, format: .u16)
            let source = KernelSource(
                raster: outline, columns: AxisTable(range: wide.columns), rows: AxisTable(range: wide.rows))
            blur.render(source, light: .encoded, into: &soft)
        }
        guard case .u16(let alphas) = soft else { preconditionFailure("a kernel keeps the format") }
        let colors = (layout == .grayAlpha ? [color.red] : [color.red, color.green, color.blue]).map {
            UInt16($0) * 257
        }
        var samples: [UInt16] = []
        samples.reserveCapacity(output.area * layout.channels)
        for alpha in alphas.samples {
            let own = UInt16((Int(alpha) * color.alpha + 127) / 255)
            for color in colors { samples.append(own == 0 ? 0 : color) }
            samples.append(own)
        }
        let rect = PixelRect(x: 0, y: 0, width: output.width, height: output.height)
        return (.u16(Raster(rect: rect, layout: layout, samples: samples)), reach)
    }

    /// Writes the alpha of a picture as 16-bit gray.
    private static func write(_ picture: AnyRaster, into outline: inout AnyRaster) {
        guard case .u16(var target) = outline.take() else { preconditionFailure("16 bits of gray") }
        let layout = picture.layout.addingAlpha
        let reader = PixelReader(KernelSource(picture), layout: layout, light: .encoded)
        let (rect, full) = (picture.rect, picture.format.full)
        var row = [Double](repeating: 0, count: rect.width * layout.channels)
        for y in rect.rows {
            var span = row.mutableSpan
            reader.read(columns: rect.columns, atPosition: reader.source.rows[y], into: &span)
            let start = target.index(x: rect.x, y: y)
            for x in 0..<rect.width {
                target.samples[start + x] = UInt16(rounding: row[(x + 1) * layout.channels - 1] / full * 65535)
            }
        }
        outline = .u16(target)
    }
}
