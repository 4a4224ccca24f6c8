package import Catalogs
package import Geometry
package import JobModel

/// A worker's report of a finished attempt.
package enum TaskReceipt: Hashable, Sendable, Codable {
    case probe(ProbeReceipt)
    case canvas(CanvasReceipt)
    case tile(TileReceipt)
    /// For a whole frame: the requested outputs in order, and the facts of the input. For a stitch, which reads no
    /// input: the output.
    case outputs([OutputReceipt], of: FileFacts?)
    /// For a small picture that the same task has probed.
    case opened(ProbeReceipt, [OutputReceipt], of: FileFacts)
    case audit(AuditReceipt)
    case check
    case preview(PreviewReceipt)
    /// One for each file. Nil for a missing file.
    case compare([FileFacts?])
}

/// An image as its header describes it, with its orientation applied.
package struct ImageFacts: Hashable, Sendable, Codable {
    /// The format's name in the catalog.
    package let fileFormat: String
    package let width: Int
    package let height: Int
    package let layout: PixelLayout
    /// The samples that filters get of a source.
    package let format: SampleFormat
    /// The samples of a source's file, if they are others. Nil for an output.
    package let stored: SampleFormat?
    /// The number of frames. More than one for an animation, all of this size.
    package let frames: Int

    package init(
        fileFormat: String, width: Int, height: Int, layout: PixelLayout, format: SampleFormat, frames: Int = 1,
        stored: SampleFormat? = nil
    ) {
        self.frames = frames
        self.stored = stored
        self.fileFormat = fileFormat
        self.width = width
        self.height = height
        self.layout = layout
        self.format = format
    }

    package var rect: PixelRect { PixelRect(x: 0, y: 0, width: width, height: height) }
    /// The megapixels of all frames.
    package var megapixels: Double { Double(width * height * frames) / 1e6 }
}

/// How a whole frame passes through one worker.
package struct FramePassage: Hashable, Sendable, Codable {
    /// Nil if its rows stream from the decoder to the encoder. Otherwise the reason why they cannot, as `plan` prints
    /// it.
    package let heldBecause: String?
    /// The bytes of the frame that the worker holds at once.
    package let bytes: Int

    package init(heldBecause: String?, bytes: Int) {
        self.heldBecause = heldBecause
        self.bytes = bytes
    }

    package var streams: Bool { heldBecause == nil }
}

/// Estimates of one core's time for a frame, in seconds. They are used to compare two ways of rendering.
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

/// The chain's result for one input and one output.
package struct OutputGeometry: Hashable, Sendable, Codable {
    /// The extent of one frame.
    package let extent: PixelRect
    /// The number of the input's frames that become frames of the output.
    package let frames: Int
    /// The digest of the input's bytes, the chain and the output's options. Nil unless it was asked for.
    package let contentDigest: Digest?

    package init(extent: PixelRect, frames: Int = 1, contentDigest: Digest? = nil) {
        self.extent = extent
        self.frames = frames
        self.contentDigest = contentDigest
    }
}

/// The chain's geometry for one input: everything that the coordinator plans with.
package struct ProbeReceipt: Hashable, Sendable, Codable {
    /// The input of the chain.
    package let source: ImageFacts
    /// The number of pages or frames of the file.
    package let pages: Int
    /// One for each requested output. The grid and the layout belong to the first output, memory and cost to all of
    /// them.
    package let outputs: [OutputGeometry]
    /// The part of the chain's first filter that the decoder has done already. Nil for nothing.
    package let shrinking: Shrinking?
    /// The layout of the chain's output. Its sample format is the source's.
    package let layout: PixelLayout
    package let halo: Halo
    package let grid: TileGrid
    /// For each tile of the grid, the source rectangles that it reads.
    package let tileSources: [[PixelRect]]
    /// The number of pixels that all tiles read, for each source pixel that they cover.
    package let readAmplification: Double
    /// True when no filter of the chain changes a pixel.
    package let isIdentity: Bool
    package let passage: FramePassage
    package let cost: FrameCost
    /// The input's stamp at the time of the probe.
    package var stamp: FileStamp?
    /// The parts of the input that its pixels do not contain. Nil for none.
    package var losses: [DecodingLoss]?
    /// What was measured of the input for the chains' first filters. Nil if they need no measurement.
    package var measured: [MeasuredFilters]?

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

    /// The megapixels of the picture in its file, of all frames.
    package var megapixels: Double {
        shrinking.map { Double($0.width * $0.height) / 1e6 } ?? source.megapixels
    }

    /// The megapixels of all outputs.
    package var megapixelsWritten: Double {
        outputs.reduce(0) { $0 + Double($1.extent.area * $1.frames) } / 1e6
    }

    /// The pixels of the largest picture among the input, as it is stored, and the outputs, each with all its frames.
    package var mostPixels: Int {
        let stored = shrinking.map { $0.width * $0.height } ?? source.width * source.height * source.frames
        return outputs.reduce(stored) { max($0, $1.extent.area * $1.frames) }
    }

    /// The measurements for the tasks that follow. Nil for none.
    package var measuredPicture: MeasuredPicture? {
        // A stamp of this time would not show a change.
        measured.map { MeasuredPicture($0, stamp: stamp.flatMap { $0.modified == 0 ? nil : $0 }) }
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
    /// The digest of the tile's pixels, row by row.
    package let digest: Digest
    /// The file that this attempt wrote: raw interleaved rows of `rect`.
    package let path: String

    package init(rect: PixelRect, digest: Digest, path: String) {
        self.rect = rect
        self.digest = digest
        self.path = path
    }
}

/// Rows of an output, and the digest of their pixels as the encoder got them.
package struct BandReceipt: Hashable, Sendable, Codable {
    package let rows: Range<Int>
    package let digest: Digest

    package init(rows: Range<Int>, digest: Digest) {
        self.rows = rows
        self.digest = digest
    }

    /// The height of every band except the last.
    package static let height = 256
}

/// A written and synced file that is not yet at its final path.
package struct OutputReceipt: Hashable, Sendable, Codable {
    package let path: String
    /// The digest of the file's bytes.
    package let digest: Digest
    package let bytes: Int
    /// The image that a reader of the file finds. The ``bands`` of an animation cover all frames, one below the other.
    package let image: ImageFacts
    package let bands: [BandReceipt]
    /// The pixels that the encoder got, and the encoder.
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
    /// The number of pixels that were rendered again and found equal.
    package let pixels: Int

    package init(pixels: Int) { self.pixels = pixels }
}
