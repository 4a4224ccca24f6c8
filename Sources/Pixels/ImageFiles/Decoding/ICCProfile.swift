import Catalogs
package import Kernels

/// The fields of an ICC profile's header that decide what it fits.
struct ICCProfile: Hashable {
    /// The colour space of the device: `RGB`, `GRAY`, `CMYK`, `Lab`, …
    let space: String
    /// Nil where the profile is something else.
    let matrix: MatrixProfile?
    /// Likewise, of gray.
    let grayCurve: ToneCurve?
    /// Of red, green and blue, or of gray; nil where the profile has none, but tables of colours alone.
    let toneCurves: [ToneCurve]?

    /// By the code points of ITU-T H.273, if it says so beside its curves.
    let transfer: Int?

    /// Nil when the bytes are no profile.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 128, bytes[36..<40].elementsEqual("acsp".utf8) else { return nil }
        space = String(decoding: bytes[16..<20], as: UTF8.self).filter { $0 != " " }
        matrix = space == "RGB" ? MatrixProfile(bytes) : nil
        grayCurve = space == "GRAY" ? MatrixProfile.grayCurve(bytes) : nil
        toneCurves = space == "RGB" ? MatrixProfile.toneCurves(bytes) : grayCurve.map { [$0] }
        transfer = MatrixProfile.codedTransfer(bytes)
    }

    /// Refuses HDR.
    func checkRange() throws(UnsupportedFeature) {
        if let transfer { try StatedColor.checkRange(transfer: transfer) }
    }

    /// True when the profile can say something about pixels of this layout.
    func fits(_ layout: PixelLayout) -> Bool {
        space == (layout.removingAlpha == .gray ? "GRAY" : "RGB")
    }
}

extension TransferCurve {
    /// The curve of pixels that are to be read with this profile. It is sRGB's for those without a profile, for profiles of tables alone,
    /// and for curves that do not rise, which cannot be turned back.
    package init(profile bytes: [UInt8]?) {
        guard let curves = bytes.flatMap(ICCProfile.init)?.toneCurves, curves.allSatisfy(\.rises) else {
            self = .sRGB
            return
        }
        let known = curves.map { $0.isCloseToSRGB ? .sRGB : $0 }
        self = known.allSatisfy { $0 == .sRGB } ? .sRGB : TransferCurve(known)
    }
}
