import Catalogs
import CVips

/// What a picture's file says about its samples, as libvips reads it.
struct StoredColor: Hashable {
    enum Space: Hashable {
        case gray
        case rgb
        case cmyk
        case lab
    }

    let space: Space
    let hasAlpha: Bool
    /// Nil for Lab, which has formats of its own and becomes one of ours.
    let sampleFormat: SampleFormat?

    /// - Throws: a phrase that says what there is no layout for.
    init(_ image: borrowing VipsImageReference) throws(UnsupportedFeature) {
        space = try Self.space(image.interpretation, bands: image.bands)
        let colors =
            switch space {
            case .gray: 1
            case .rgb, .lab: 3
            case .cmyk: 4
            }
        // A packed Lab pixel is four bytes of three channels.
        let bands = image.coding == VIPS_CODING_LABQ ? 3 : image.bands
        guard bands == colors || (bands == colors + 1 && space != .cmyk) else {
            throw UnsupportedFeature("\(bands) channels")
        }
        hasAlpha = bands > colors
        sampleFormat = space == .lab ? nil : try Self.sampleFormat(image.bandFormat)
    }

    private static func space(
        _ interpretation: VipsInterpretation, bands: Int
    ) throws(UnsupportedFeature) -> Space {
        switch interpretation {
        case VIPS_INTERPRETATION_B_W, VIPS_INTERPRETATION_GREY16: .gray
        case VIPS_INTERPRETATION_sRGB, VIPS_INTERPRETATION_RGB, VIPS_INTERPRETATION_RGB16, VIPS_INTERPRETATION_scRGB:
            .rgb
        case VIPS_INTERPRETATION_CMYK: .cmyk
        case VIPS_INTERPRETATION_LAB, VIPS_INTERPRETATION_LABS, VIPS_INTERPRETATION_LABQ: .lab
        default: throw UnsupportedFeature("\(bands) channels of an unknown colour space")
        }
    }

    static func sampleFormat(_ format: VipsBandFormat) throws(UnsupportedFeature) -> SampleFormat {
        switch format {
        case VIPS_FORMAT_UCHAR: .u8
        case VIPS_FORMAT_USHORT: .u16
        case VIPS_FORMAT_FLOAT: .f32
        case VIPS_FORMAT_CHAR, VIPS_FORMAT_SHORT: throw UnsupportedFeature("signed samples")
        case VIPS_FORMAT_UINT, VIPS_FORMAT_INT: throw UnsupportedFeature("32-bit integer samples")
        case VIPS_FORMAT_DOUBLE: throw UnsupportedFeature("64-bit samples")
        default: throw UnsupportedFeature("complex samples")
        }
    }
}

/// What Penumbra does not read, as a phrase that follows "with".
package struct UnsupportedFeature: Error, Hashable {
    let phrase: String
    /// What a person can do.
    let remedy: String?

    init(_ phrase: String, remedy: String? = nil) {
        self.phrase = phrase
        self.remedy = remedy
    }

    /// An animation of which libvips would give one picture.
    static func animation(_ phrase: String) -> UnsupportedFeature {
        UnsupportedFeature(phrase, remedy: "make an animated WebP or GIF of it")
    }
}
