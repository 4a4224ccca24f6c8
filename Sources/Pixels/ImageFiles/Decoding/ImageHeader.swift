package import Catalogs

/// What is known of a picture before its pixels are decoded.
package struct ImageHeader: Hashable, Sendable, Codable {
    /// The format of the file's content, as the catalog names it: `jpeg`.
    package let formatName: String
    /// The picture as it is delivered: upright, after colour was converted.
    package let shape: ImageShape
    /// The orientation tag as the file has it, 1–8; 1 when it has none. The pixels are delivered upright.
    package let orientation: Int
    /// How many pages or frames the file has. The first one is the picture.
    package let pages: Int
    /// True when the pixels are to be read with a profile, which the metadata hold; else they are sRGB, or gray of the
    /// same curve.
    package let hasProfile: Bool

    package var width: Int { shape.width }
    package var height: Int { shape.height }
    package var layout: PixelLayout { shape.layout }
    package var sampleFormat: SampleFormat { shape.sampleFormat }

    /// True when rows can be delivered while the file is decoded, in memory that does not grow with the height.
    package var streams: Bool { Orientation(tag: orientation).isRowLocal }
}
