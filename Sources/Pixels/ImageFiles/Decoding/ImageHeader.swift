package import Catalogs
import Glibc

/// The facts about a picture that are known before its pixels are decoded.
package struct ImageHeader: Hashable, Sendable, Codable {
    /// The format of the file's content, as the catalog names it: `jpeg`.
    package let formatName: String
    /// The picture as it is delivered: upright, after colour was converted.
    package let shape: ImageShape
    /// The orientation tag as the file has it, 1–8; 1 when it has none. The pixels are delivered upright.
    package let orientation: Int
    /// How many pages or frames the file has.
    package let pages: Int
    /// How many of them are read: more than one only of an animation. ``shape`` is of each.
    package let frames: Int
    /// True when the pixels are to be read with a profile, which the metadata hold; else they are sRGB, or gray of the
    /// same curve.
    package let hasProfile: Bool
    /// What of the file the pixels do not have.
    package let losses: [DecodingLoss]
    /// True when decoding takes memory for all pixels of the file, whatever is done with them: WebP, progressive JPEG,
    /// interlaced PNG.
    package let isHeldWhole: Bool
    /// True when a decoder can make a picture of half, a quarter or an eighth of its size faster than the whole one.
    package let canShrink: Bool

    package var width: Int { shape.width }
    package var height: Int { shape.height }
    package var layout: PixelLayout { shape.layout }
    package var sampleFormat: SampleFormat { shape.sampleFormat }

    /// True when rows are delivered as they are decoded; else the picture is turned, and held whole for that.
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

    /// So many of these, one below the other.
    func repeated(_ count: Int) -> ImageShape {
        ImageShape(width: width, height: height * count, layout: layout, sampleFormat: sampleFormat)
    }

    /// Bytes of one row.
    package var stride: Int { width * layout.channels * sampleFormat.bytes }

    /// Bytes of all samples.
    package var byteCount: Int { stride * height }
}

/// Bounds of what one picture may cost.
package struct DecodeLimits: Hashable, Sendable {
    /// More pixels are refused, as the header announces them, before memory is taken.
    package let maxPixels: Int
    /// A picture that has to be turned is held whole; above this many bytes in a scratch file, not in memory.
    package let memoryBytes: Int
    /// Where that scratch file lies. It has no name and goes with the process.
    package let scratchFolder: String

    /// What a picture that is turned takes in memory at most.
    package static let heldBytes = 256 << 20

    package init(maxPixels: Int, memoryBytes: Int = heldBytes, scratchFolder: String? = nil) {
        self.maxPixels = maxPixels
        self.memoryBytes = memoryBytes
        self.scratchFolder = scratchFolder ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    }
}
