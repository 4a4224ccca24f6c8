package import Catalogs
package import Geometry
package import JobModel

/// What a worker reports of a finished attempt.
package enum TaskReceipt: Hashable, Sendable, Codable {
    case probe(ProbeReceipt)
    case canvas(CanvasReceipt)
    case tile(TileReceipt)
    /// Of a whole frame, in the order of the outputs that were to be written; and of a stitch, which reads no input.
    case outputs([OutputReceipt], of: FileFacts?)
    case audit(AuditReceipt)
    case check
    case preview(PreviewReceipt)
    /// One for each file; nil for what is not there.
    case compare([FileFacts?])
}

/// An image as its header tells it, orientation applied.
package struct ImageFacts: Hashable, Sendable, Codable {
    /// The format's name in the catalog.
    package let fileFormat: String
    package let width: Int
    package let height: Int
    package let layout: PixelLayout
    package let format: SampleFormat
    /// More than one of an animation; each is of this size.
    package let frames: Int

    package init(
        fileFormat: String, width: Int, height: Int, layout: PixelLayout, format: SampleFormat, frames: Int = 1
    ) {
        self.frames = frames
        self.fileFormat = fileFormat
        self.width = width
        self.height = height
        self.layout = layout
        self.format = format
    }

    package var rect: PixelRect { PixelRect(x: 0, y: 0, width: width, height: height) }
    /// Of all frames.
    package var megapixels: Double { Double(width * height * frames) / 1e6 }
}

/// How a whole frame goes through one worker.
package struct FramePassage: Hashable, Sendable, Codable {
    /// Nil when its rows stream from the decoder to the encoder; else why they cannot, as `plan` prints it.
    package let heldBecause: String?
    /// What the worker holds of the frame at once, in bytes.
    package let bytes: Int

    package init(heldBecause: String?, bytes: Int) {
        self.heldBecause = heldBecause
        self.bytes = bytes
    }

    package var streams: Bool { heldBecause == nil }
}

/// What a frame takes of one core's time, in seconds: estimates that two ways of rendering are compared by.
package struct FrameCost: Hashable, Sendable, Codable {
    package let decode: Double
    package let chain: Double
    package let encode: Double

    package init(decode: Double, chain: Double, encode: Double) {
        self.decode = decode
        self.chain = chain
        self.encode = encode
    }

    package var total: Double { decode + chain + encode }
}

/// What the chain makes of one input for one output.
package struct OutputGeometry: Hashable, Sendable, Codable {
    /// Of one frame.
    package let extent: PixelRect
    /// How many frames of the input become frames of the output.
    package let frames: Int
    /// The digest of the input's bytes, the chain and the output's options, when it was asked for.
    package let contentDigest: Digest?

    package init(extent: PixelRect, frames: Int = 1, contentDigest: Digest? = nil) {
        self.extent = extent
        self.frames = frames
        self.contentDigest = contentDigest
    }
}

/// The chain's geometry for one input: all that the coordinator plans with.
package struct ProbeReceipt: Hashable, Sendable, Codable {
    /// What the chain gets.
    package let source: ImageFacts
    /// How many pages or frames the file has.
    package let pages: Int
    /// One for each that was asked about. What else there is here tells of the first of them, memory and cost of all.
    package let outputs: [OutputGeometry]
    /// What a decoder has done of the chain's first filter before; nil for nothing.
    package let shrinking: Shrinking?
    /// Layout of the chain's output; its sample format is the source's.
    package let layout: PixelLayout
    package let halo: Halo
    package let grid: TileGrid
    /// For each tile of the grid, the source rectangles that it reads.
    package let tileSources: [[PixelRect]]
    /// Pixels read by all tiles per source pixel that they cover.
    package let readAmplification: Double
    /// True when no filter of the chain changes a pixel.
    package let isIdentity: Bool
    package let passage: FramePassage
    package let cost: FrameCost
    /// Of the input, when it was looked at.
    package var stamp: FileStamp?
    /// What of the input its pixels do not have; nil for nothing.
    package var losses: [DecodingLoss]?

    package init(
        source: ImageFacts, pages: Int = 1, outputs: [OutputGeometry], shrinking: Shrinking? = nil,
        layout: PixelLayout, halo: Halo, grid: TileGrid, tileSources: [[PixelRect]], readAmplification: Double,
        isIdentity: Bool, passage: FramePassage, cost: FrameCost
    ) {
        self.source = source
        self.pages = pages
        self.outputs = outputs
        self.shrinking = shrinking
        self.layout = layout
        self.halo = halo
        self.grid = grid
        self.tileSources = tileSources
        self.readAmplification = readAmplification
        self.isIdentity = isIdentity
        self.passage = passage
        self.cost = cost
    }

    /// Of the picture in its file, all frames of it.
    package var megapixels: Double {
        shrinking.map { Double($0.width * $0.height) / 1e6 } ?? source.megapixels
    }

    /// Of all outputs.
    package var megapixelsWritten: Double {
        outputs.reduce(0) { $0 + Double($1.extent.area * $1.frames) } / 1e6
    }

    /// The rectangle of the first output.
    package var extent: PixelRect { grid.extent }
}

package struct CanvasReceipt: Hashable, Sendable, Codable {
    package let canvas: CanvasReference
    /// The input's metadata, for the stitch.
    package let metadataPath: String
    package let metadataDigest: Digest
    package let source: FileFacts

    package init(canvas: CanvasReference, metadataPath: String, metadataDigest: Digest, source: FileFacts) {
        self.metadataDigest = metadataDigest
        self.source = source
        self.canvas = canvas
        self.metadataPath = metadataPath
    }
}

package struct TileReceipt: Hashable, Sendable, Codable {
    package let rect: PixelRect
    /// Of the tile's pixels, row by row.
    package let digest: Digest
    /// The file that this attempt wrote: raw interleaved rows of `rect`.
    package let path: String

    package init(rect: PixelRect, digest: Digest, path: String) {
        self.rect = rect
        self.digest = digest
        self.path = path
    }
}

/// Rows of an output and the digest of their pixels, as they were handed to the encoder.
package struct BandReceipt: Hashable, Sendable, Codable {
    package let rows: Range<Int>
    package let digest: Digest

    package init(rows: Range<Int>, digest: Digest) {
        self.rows = rows
        self.digest = digest
    }

    /// The height of every band but the last.
    package static let height = 256
}

/// A written and synced file, not yet at its final path.
package struct OutputReceipt: Hashable, Sendable, Codable {
    package let path: String
    /// Of the file's bytes.
    package let digest: Digest
    package let bytes: Int
    /// As written: what a reader of the file finds. (Of an animation, ``bands`` are of all frames one below the other.)
    package let image: ImageFacts
    package let bands: [BandReceipt]
    /// What was handed to the encoder, and which one that was.
    package let pixels: EncodedPixels

    package init(
        path: String, digest: Digest, bytes: Int, image: ImageFacts, bands: [BandReceipt], pixels: EncodedPixels
    ) {
        self.path = path
        self.digest = digest
        self.bytes = bytes
        self.image = image
        self.bands = bands
        self.pixels = pixels
    }
}

package struct AuditReceipt: Hashable, Sendable, Codable {
    /// Pixels that were rendered again and found equal.
    package let pixels: Int

    package init(pixels: Int) { self.pixels = pixels }
}
