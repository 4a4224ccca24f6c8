package import Catalogs
import Glibc

/// The properties of a picture that are known before its pixels are decoded.
package struct ImageHeader: Hashable, Sendable, Codable {
    /// The format of the file's content, as the catalog names it: `jpeg`.
    package let formatName: String
    /// The shape of the delivered picture: upright, after colour conversion.
    package let shape: ImageShape
    /// The samples in the file. Others are delivered if `precision`, `depth` or `dither` asks for them.
    package let storedSamples: SampleFormat
    /// The file's orientation tag, 1–8; 1 if there is none. The pixels are delivered upright.
    package let orientation: Int
    /// The number of pages or frames in the file.
    package let pages: Int
    /// The number of frames that are read: more than one only for an animation. ``shape`` is that of each frame.
    package let frames: Int
    /// Whether the pixels need the profile in the metadata. Otherwise they are sRGB, or gray with the same curve.
    package let hasProfile: Bool
    /// The contents of the file that the pixels do not keep.
    package let losses: [DecodingLoss]
    /// Whether decoding needs memory for all pixels of the file in any case: WebP, progressive JPEG, interlaced PNG.
    package let isHeldWhole: Bool
    /// The memory of a decoder that holds the picture, if that is more than the picture's own.
    package let heldBytes: Int?
    /// The largest factor, of 2, 4 and 8, by which a decoder can shrink the picture faster than it reads all of it. 1 if it
    /// cannot.
    package let largestShrink: Int

    package var width: Int { shape.width }
    package var height: Int { shape.height }
    package var layout: PixelLayout { shape.layout }
    package var sampleFormat: SampleFormat { shape.sampleFormat }

    /// Whether rows are delivered as they are decoded. Otherwise the picture is rotated, and therefore held completely.
    package var streams: Bool { Orientation(tag: orientation).isRowLocal }
}

/// The size of a picture and how its pixels are stored.
package struct ImageShape: Hashable, Sendable, Codable {
    package let width: Int
    package let height: Int
    package let layout: PixelLayout
    package let sampleFormat: SampleFormat

    package init(width: Int, height: Int, layout: PixelLayout, sampleFormat: SampleFormat) {
        self.width = width
        self.height = height
        self.layout = layout
        self.sampleFormat = sampleFormat
    }

    /// The shape of `count` such pictures, one below the other.
    func repeated(_ count: Int) -> ImageShape {
        ImageShape(width: width, height: height * count, layout: layout, sampleFormat: sampleFormat)
    }

    /// The number of bytes of one row.
    package var stride: Int { width * layout.channels * sampleFormat.bytes }

    /// The number of bytes of all samples.
    package var byteCount: Int { stride * height }
}

/// Limits for the cost of one picture.
package struct DecodeLimits: Hashable, Sendable {
    /// The largest number of pixels. More pixels in the header are refused before memory is allocated.
    package let maxPixels: Int
    /// The largest size of a rotated picture in memory, in bytes. Such a picture is held completely; a larger one uses a
    /// scratch file.
    package let memoryBytes: Int
    /// The folder of that scratch file. The file has no name and disappears with the process.
    package let scratchFolder: String

    /// The memory that a rotated picture uses at most.
    package static let heldBytes = 256 << 20

    package init(maxPixels: Int, memoryBytes: Int = heldBytes, scratchFolder: String? = nil) {
        self.maxPixels = maxPixels
        self.memoryBytes = memoryBytes
        self.scratchFolder = scratchFolder ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    }
}
