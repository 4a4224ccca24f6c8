/// What a file carries beside its pixels.
package struct ImageMetadata: Hashable, Sendable, Codable {
    /// Pixels per length.
    package struct Resolution: Hashable, Sendable, Codable {
        package enum Unit: String, Hashable, Sendable, Codable {
            case inch
            case centimetre
        }

        /// Pixels per millimetre, whatever the unit.
        package let x: Double
        package let y: Double
        /// The unit that a file states it in.
        package let unit: Unit

        /// What formats say that have to say something: 72 pixels per inch.
        static let nominal = 72 / 25.4

        package init(x: Double, y: Double, unit: Unit = .inch) {
            self.x = x
            self.y = y
            self.unit = unit
        }
    }

    /// The ICC profile that the pixels are to be read with; nil for sRGB, and gray of its curve.
    package var icc: Blob?
    /// A TIFF structure, without the `Exif` mark that a JPEG puts before it.
    package var exif: Blob?
    /// An XML packet.
    package var xmp: Blob?
    /// IPTC records (IIM), without the Photoshop resource around them.
    package var iptc: Blob?
    /// Of a PNG.
    package var texts: [PNGText]
    package var resolution: Resolution?
    /// When there are several frames.
    package var animation: Animation?
    /// True when the pixels were converted to sRGB, so that tags which name another colour space are wrong.
    package var isConverted: Bool

    /// How the frames of an animation follow each other.
    package struct Animation: Hashable, Sendable, Codable {
        /// Milliseconds that each frame is shown.
        package let delays: [Int]
        /// How often all are shown; 0 for ever.
        package let repetitions: Int

        package init(delays: [Int], repetitions: Int) {
            self.delays = delays
            self.repetitions = repetitions
        }
    }

    package init(
        icc: Blob? = nil, exif: Blob? = nil, xmp: Blob? = nil, iptc: Blob? = nil, texts: [PNGText] = [],
        resolution: Resolution? = nil,
        animation: Animation? = nil, isConverted: Bool = false
    ) {
        self.icc = icc
        self.exif = exif
        self.xmp = xmp
        self.iptc = iptc
        self.texts = texts
        self.resolution = resolution
        self.animation = animation
        self.isConverted = isConverted
    }
}
