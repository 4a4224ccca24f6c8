import Arithmetic
import Catalogs
import Raster

/// A colour that is laid over pixels: source-over of Porter and Duff (1984).
package struct Paint: Hashable, Sendable {
    /// 0–1, straight.
    package let red: Double
    package let green: Double
    package let blue: Double
    /// 0–1.
    package let opacity: Double

    package init(red: Double, green: Double, blue: Double, opacity: Double) {
        self.red = red
        self.green = green
        self.blue = blue
        self.opacity = opacity
    }

    package init(white: Double, opacity: Double) { self.init(red: white, green: white, blue: white, opacity: opacity) }

    package init(_ color: BackgroundColor) {
        self.init(
            red: Double(color.red) / 255, green: Double(color.green) / 255, blue: Double(color.blue) / 255,
            opacity: Double(color.alpha) / 255)
    }

    /// The same colour at another opacity.
    package func withOpacity(_ opacity: Double) -> Paint { Paint(red: red, green: green, blue: blue, opacity: opacity) }
}

/// A paint as the channels of a layout have it: gray pictures get its luma (Rec. 709).
struct ChannelPaint {
    /// Straight; the alpha of what is opaque is the last one.
    private let values: [Double]
    private let opacity: Double

    /// - Parameters:
    ///   - paint: a colour of sRGB. Grays become those of the picture's own space, which has the same light in all of its channels.
    ///     (Pictures that other colours are laid over are in sRGB.)
    ///   - full: full intensity of the working values.
    ///   - curve: of the picture.
    init(_ paint: Paint, _ layout: PixelLayout, full: Double, curve: TransferCurve) {
        let luma = 0.2126 * paint.red + 0.7152 * paint.green + 0.0722 * paint.blue
        let colors = layout.removingAlpha == .gray ? [luma] : [paint.red, paint.green, paint.blue]
        let stored = colors.enumerated().map { channel, color in
            let own = curve.curves[curve.curves.count == 1 ? 0 : channel]
            return own == .sRGB ? color : own.encode(SRGBCurve.decode(color))
        }
        values = stored.map { $0 * full } + (layout.hasAlpha ? [full] : [])
        opacity = paint.opacity
    }

    /// Lays the paint over one pixel of working values.
    ///
    /// - Parameter share: of the pixel that is painted, 0…1.
    @inline(__always) func lay(over row: inout MutableSpan<Double>, at start: Int, share: Double = 1) {
        let own = opacity * share
        for channel in 0..<values.count {
            row[start + channel] = values[channel] * own + row[start + channel] * (1 - own)
        }
    }
}
