import Catalogs

/// The fields of an ICC profile's header that decide what it fits.
struct ICCProfile: Hashable {
    /// The colour space of the device: `RGB`, `GRAY`, `CMYK`, `Lab`, …
    let space: String
    /// Nil where the profile is something else.
    let matrix: MatrixProfile?
    /// Likewise, of gray.
    let grayCurve: ICCCurve?

    /// Nil when the bytes are no profile.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 128, bytes[36..<40].elementsEqual("acsp".utf8) else { return nil }
        space = String(decoding: bytes[16..<20], as: UTF8.self).filter { $0 != " " }
        matrix = space == "RGB" ? MatrixProfile(bytes) : nil
        grayCurve = space == "GRAY" ? MatrixProfile.grayCurve(bytes) : nil
    }

    /// True when the profile can say something about pixels of this layout.
    func fits(_ layout: PixelLayout) -> Bool {
        space == (layout.removingAlpha == .gray ? "GRAY" : "RGB")
    }
}
