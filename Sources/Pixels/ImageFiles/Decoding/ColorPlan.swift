import Catalogs
import JobModel
import Kernels

/// What happens to a picture's colours between the file and the first filter.
enum ColorPlan: Hashable {
    /// Nothing. A profile that is not of the picture's space says nothing about it and is not taken over.
    case keep(profile: Bool)
    /// Through the embedded profile to sRGB, or where it has none through the named one of libvips.
    case throughProfile(fallback: String?)
    /// Through the embedded profile to sRGB, by its definition: 16 bits.
    case throughMatrix(MatrixProfile)
    /// The same for gray, which has a curve alone: as many bits as the picture has.
    case throughCurve(ToneCurve)
    /// From Lab, which needs no profile.
    case fromLab

    var converts: Bool {
        switch self {
        case .keep: false
        case .throughProfile, .throughMatrix, .throughCurve, .fromLab: true
        }
    }

    init(_ color: StoredColor, profile: ICCProfile?, policy: ColorPolicy) throws(UnsupportedFeature) {
        switch color.space {
        case .cmyk:
            guard color.sampleFormat != .f32 else { throw UnsupportedFeature("floating-point CMYK samples") }
            self = .throughProfile(fallback: "cmyk")
        case .lab:
            self = .fromLab
        case .gray, .rgb:
            let fits = profile?.fits(color.space == .gray ? .gray : .rgb) ?? false
            if fits { try profile?.checkRange() }
            guard policy == .srgb, fits else {
                self = .keep(profile: fits)
                return
            }
            guard color.sampleFormat != .f32 else {
                throw UnsupportedFeature(
                    "floating-point samples and a profile that has to be converted to sRGB",
                    remedy: "store it in sRGB, or in 16 bits")
            }
            if color.sampleFormat == .u16, color.space == .rgb, let matrix = profile?.matrix {
                self = .throughMatrix(matrix)
            } else if color.space == .gray, let curve = profile?.grayCurve {
                self = .throughCurve(curve)
            } else {
                self = .throughProfile(fallback: nil)
            }
        }
    }
}
