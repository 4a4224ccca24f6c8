import Arithmetic
import Catalogs
import CVips
import Kernels

/// Carries out a colour plan, as further steps of a libvips pipeline. Every step works pixel by pixel.
enum ColorConversion {
    static func apply(
        _ plan: ColorPlan, to image: borrowing VipsImageReference, color: StoredColor
    ) throws(VipsFailure) -> VipsImageReference {
        switch plan {
        case .keep:
            return image.retained()
        case .fromLab:
            return try fromLab(image)
        case .throughMatrix(let profile):
            return try throughMatrix(image, profile, hasAlpha: color.hasAlpha)
        case .throughCurve(let curve):
            let bands = color.hasAlpha ? 2 : 1
            let table =
                if color.sampleFormat == .u16 {
                    try VipsImageReference(table: grays(curve, color, full: UInt16.max), bands: bands)
                } else {
                    try VipsImageReference(table: grays(curve, color, full: UInt8.max), bands: bands)
                }
            return try looked(up: image, in: table)
        case .throughProfile(let fallback):
            let converted = try throughProfile(image, fallback: fallback, depth: color.sampleFormat == .u16 ? 16 : 8)
            return color.space == .gray ? try grayAgain(converted, hasAlpha: color.hasAlpha) : converted
        }
    }

    private static func fromLab(_ image: borrowing VipsImageReference) throws(VipsFailure) -> VipsImageReference {
        // 16-bit Lab is worth 16-bit RGB.
        let isFine = image.interpretation == VIPS_INTERPRETATION_LABS
        let call = try VipsCall("colourspace")
        call.set("in", to: image)
        call.set("space", to: .integer(Int((isFine ? VIPS_INTERPRETATION_RGB16 : VIPS_INTERPRETATION_sRGB).rawValue)))
        return try call.image()
    }

    /// Relative colorimetric, without black point compensation: libvips' own choice.
    private static func throughProfile(
        _ image: borrowing VipsImageReference, fallback: String?, depth: Int
    ) throws(VipsFailure) -> VipsImageReference {
        let call = try VipsCall("icc_transform")
        call.set("in", to: image)
        call.set("embedded", to: .boolean(true))
        if let fallback { call.set("input_profile", to: fallback) }
        call.set("output_profile", to: "srgb")
        call.set("depth", to: .integer(depth))
        return try call.image()
    }

    /// The curves of the profile, its primaries in those of sRGB, and sRGB's curve; alpha goes through all three unchanged.
    private static func throughMatrix(
        _ image: borrowing VipsImageReference, _ profile: MatrixProfile, hasAlpha: Bool
    ) throws(VipsFailure) -> VipsImageReference {
        let bands = hasAlpha ? 4 : 3
        let matrix = profile.matrix(hasAlpha: hasAlpha, full: Double(MatrixProfile.steps))
        let light = try looked(
            up: image, in: try VipsImageReference(table: profile.light(hasAlpha: hasAlpha), bands: bands))
        let mix = try VipsCall("recomb")
        mix.set("in", to: light)
        mix.set("m", to: try VipsImageReference(matrix: matrix))
        let round = try VipsCall("round")
        round.set("in", to: try mix.image())
        round.set("round", to: .integer(Int(VIPS_OPERATION_ROUND_RINT.rawValue)))
        // Whole numbers, cut off at 0; the table cuts off at its other end.
        let cast = try VipsCall("cast")
        cast.set("in", to: try round.image())
        cast.set("format", to: .integer(Int(VIPS_FORMAT_UINT.rawValue)))
        let encoded = try VipsImageReference(table: MatrixProfile.encoded(hasAlpha: hasAlpha), bands: bands)
        let tagged = try VipsCall("copy")
        tagged.set("in", to: try looked(up: try cast.image(), in: encoded))
        tagged.set("interpretation", to: .integer(Int(VIPS_INTERPRETATION_RGB16.rawValue)))
        return try tagged.image()
    }

    /// The value of sRGB for every value of a gray picture, each followed by alpha as it is where there is one.
    private static func grays<Sample: FixedWidthInteger>(
        _ curve: ToneCurve, _ color: StoredColor, full: Sample
    ) -> [Sample] {
        (0...full).flatMap { value -> [Sample] in
            let light = curve.light(of: Double(value) / Double(full))
            let gray = Sample((SRGBCurve.encode(light) * Double(full)).rounded())
            return color.hasAlpha ? [gray, value] : [gray]
        }
    }

    private static func looked(
        up image: borrowing VipsImageReference, in table: borrowing VipsImageReference
    ) throws(VipsFailure) -> VipsImageReference {
        let call = try VipsCall("maplut")
        call.set("in", to: image)
        call.set("lut", to: table)
        return try call.image()
    }

    /// Gray through a profile becomes RGB with three equal channels; one of them, and alpha, are what is wanted.
    private static func grayAgain(
        _ image: borrowing VipsImageReference, hasAlpha: Bool
    ) throws(VipsFailure) -> VipsImageReference {
        let call = try VipsCall("extract_band")
        call.set("in", to: image)
        call.set("band", to: .integer(2))
        call.set("n", to: .integer(hasAlpha ? 2 : 1))
        return try call.image()
    }
}
