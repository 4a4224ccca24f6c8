/// What a picture's file has and its pixels, as filters get them, do not.
package enum DecodingLoss: String, Hashable, Sendable, Codable, CaseIterable {
    /// The file is in CMYK, the pixels are in sRGB.
    case cmyk
    /// The file is in Lab, the pixels are in RGB.
    case lab
    /// The samples have 64 bits, of which 32 are kept.
    case doubles
    /// The file holds further pictures that are no mere previews, such as a gain map, a depth map or a second eye.
    case furtherPictures
}
