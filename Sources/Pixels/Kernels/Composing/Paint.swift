import Arithmetic
import Catalogs
import Raster

/// A colour that is laid over pixels: source-over (Porter and Duff, 1984).
package struct Paint: Hashable, Sendable {
    /// The red component, 0–1, not premultiplied.
    package let red: Double
    package let green: Double
    package let blue: Double
    /// The opacity, 0–1.
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

    /// The same colour with another opacity.
    package func withOpacity(_ opacity: Double) -> Paint { Paint(red: red, green: green, blue: blue, opacity: opacity) }
}

/// A paint converted to the channels of a layout. Gray pictures get its luma (Rec. 709).
struct ChannelPaint {
    /// The straight (not premultiplied) channel values. The last value is the alpha of an opaque pixel.
    private let values: [Double]
    private let opacity: Double

    /// - Parameters:
    ///   - paint: a colour in sRGB. A gray becomes the gray of the picture's own colour space, with equal light in all
    ///     channels. (A picture under other colours is in sRGB.)
    ///   - full: full intensity of the working values.
    ///   - curve: the transfer curve of the picture.
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
    /// - Parameter share: the painted share of the pixel, 0…1.
    @inline(__always) func lay(over row: inout MutableSpan<Double>, at start: Int, share: Double = 1) {
        let own = opacity * share
        for channel in 0..<values.count {
            row[start + channel] = values[channel] * own + row[start + channel] * (1 - own)
        }
    }
}
