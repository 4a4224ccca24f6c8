package import Catalogs
package import Geometry
package import JobModel

/// One attempt's orders for a worker: everything that it needs, and nothing of the job around it.
///
/// Paths are absolute. Files that a task writes have names of this attempt alone, so a late attempt can never touch
/// what another one made.
package enum TaskSpec: Hashable, Sendable, Codable {
    case probe(ProbeTask)
    case frame(FrameTask)
    case canvas(CanvasTask)
    case tile(TileTask)
    case stitch(StitchTask)
    case audit(AuditTask)
    case check(CheckTask)
    case preview(PreviewTask)
    case compare(DigestTask)
}

/// How an input is opened; the same for every task that decodes it.
package struct InputSpec: Hashable, Sendable, Codable {
    /// For people, where ``bytes`` has what the file system knows.
    package var path: String
    /// The path, where it is not UTF-8.
    package let bytes: [UInt8]?
    package let maxPixels: Int
    package var color: ColorPolicy
    /// Where a picture that must be turned upright is held when it is large; nil for the system's temporary folder.
    package let scratchFolder: String?
    package let pages: PageChoice
    /// How many times smaller the decoder makes the picture, 1, 2, 4 or 8; nil for what suits all outputs.
    package let shrink: Int?

    package init(
        path: String, bytes: [UInt8]? = nil, maxPixels: Int, color: ColorPolicy, scratchFolder: String? = nil,
        pages: PageChoice = .first, shrink: Int? = nil
    ) {
        self.pages = pages
        self.shrink = shrink
        self.path = path
        self.bytes = bytes
        self.maxPixels = maxPixels
        self.color = color
        self.scratchFolder = scratchFolder
    }
}

/// How one output of a frame is made.
package struct OutputSpec: Hashable, Sendable, Codable {
    /// Continues the task's chain.
    package let chain: [FilterInvocation]
    /// The format's name in the catalog.
    package let format: String
    package let save: SaveOptions

    package init(chain: [FilterInvocation] = [], format: String, save: SaveOptions) {
        self.chain = chain
        self.format = format
        self.save = save
    }

    /// The same with other references to the pictures that its filters read.
    package func mappingPictures(_ transform: (PictureReference) -> PictureReference) -> OutputSpec {
        OutputSpec(chain: chain.map { $0.mappingPictures(transform) }, format: format, save: save)
    }
}

/// Reads a file's header and answers the chain's geometry questions about it. Decodes no pixel.
package struct ProbeTask: Hashable, Sendable, Codable {
    package var input: InputSpec
    package let chain: [FilterInvocation]
    package let outputs: [OutputSpec]
    package let tile: TileSize
    /// What one tile with its halo may take, in bytes.
    package let tileMemory: Int
    /// What the rows of a frame that streams may take, in bytes.
    package let frameMemory: Int
    /// Whether the input's bytes are read and digested, together with the chain and each output's options.
    package let digestsContent: Bool

    package init(
        input: InputSpec, chain: [FilterInvocation], outputs: [OutputSpec], tile: TileSize, tileMemory: Int,
        frameMemory: Int, digestsContent: Bool
    ) {
        self.input = input
        self.chain = chain
        self.outputs = outputs
        self.tile = tile
        self.tileMemory = tileMemory
        self.frameMemory = frameMemory
        self.digestsContent = digestsContent
    }
}

/// Decodes, filters and encodes one whole frame.
package struct FrameTask: Hashable, Sendable, Codable {
    package struct Output: Hashable, Sendable, Codable {
        package let spec: OutputSpec
        /// Nil when it is not to be written this time. (It is named here nonetheless: how an input is decoded depends on
        /// all outputs, and must not depend on which of them are missing.)
        package let temporaryPath: String?
        /// The last part of its final path: what is in a folder is named after it.
        package let name: String

        package init(_ spec: OutputSpec, temporaryPath: String?, name: String) {
            self.name = name
            self.spec = spec
            self.temporaryPath = temporaryPath
        }
    }

    package var input: InputSpec
    package let chain: [FilterInvocation]
    package let outputs: [Output]
    /// What one tile of a frame that is held may take while it is rendered, in bytes.
    package let tileMemory: Int
    /// What the rows of a frame that streams may take, in bytes.
    package let frameMemory: Int
    /// Whether each output is synced when it is written. Else whoever publishes it has the file system synced first.
    package let syncs: Bool

    package init(
        input: InputSpec, chain: [FilterInvocation], outputs: [Output], tileMemory: Int, frameMemory: Int,
        syncs: Bool = true
    ) {
        self.syncs = syncs
        self.input = input
        self.chain = chain
        self.outputs = outputs
        self.tileMemory = tileMemory
        self.frameMemory = frameMemory
    }
}

/// Decodes one input into a canvas file.
package struct CanvasTask: Hashable, Sendable, Codable {
    package var input: InputSpec
    package let chain: [FilterInvocation]
    /// What the canvas is rendered into in the end: it may need other colours than the input has.
    package let output: OutputSpec
    package let canvasPath: String
    /// Where the input's metadata goes, for the stitch.
    package let metadataPath: String
    /// What the probe found: the tiles were planned for it.
    package let expected: ImageFacts

    package init(
        input: InputSpec, chain: [FilterInvocation], output: OutputSpec, canvasPath: String, metadataPath: String,
        expected: ImageFacts
    ) {
        self.input = input
        self.chain = chain
        self.output = output
        self.expected = expected
        self.canvasPath = canvasPath
        self.metadataPath = metadataPath
    }
}

/// Renders one tile of a frame from its canvas.
package struct TileTask: Hashable, Sendable, Codable {
    package let canvas: CanvasReference
    package let chain: [FilterInvocation]
    package let rect: PixelRect
    package let tilePath: String

    package init(canvas: CanvasReference, chain: [FilterInvocation], rect: PixelRect, tilePath: String) {
        self.canvas = canvas
        self.chain = chain
        self.rect = rect
        self.tilePath = tilePath
    }
}

/// Checks the tiles against their receipts, joins and encodes them.
package struct StitchTask: Hashable, Sendable, Codable {
    package let extent: PixelRect
    /// Layout and sample format of the tiles' pixels.
    package let layout: PixelLayout
    package let format: SampleFormat
    package let tiles: [TileReceipt]
    package let metadataPath: String
    package let metadataDigest: Digest
    package let output: OutputSpec
    package let temporaryPath: String
    /// The last part of the final path, as in ``FrameTask/Output``.
    package let name: String
    /// As in ``FrameTask``.
    package let syncs: Bool
    /// How many times smaller the canvas was decoded.
    package let shrink: Int
    /// How many there are, one below the other.
    package let frames: Int

    package init(
        extent: PixelRect, layout: PixelLayout, format: SampleFormat, tiles: [TileReceipt], metadataPath: String,
        metadataDigest: Digest,
        output: OutputSpec, temporaryPath: String, name: String, syncs: Bool = true, shrink: Int = 1,
        frames: Int = 1
    ) {
        self.frames = frames
        self.syncs = syncs
        self.shrink = shrink
        self.name = name
        self.extent = extent
        self.layout = layout
        self.format = format
        self.tiles = tiles
        self.metadataPath = metadataPath
        self.metadataDigest = metadataDigest
        self.output = output
        self.temporaryPath = temporaryPath
    }
}

/// Renders a sample of a frame's bands again, over tile borders shifted across the seams, and compares every byte.
package struct AuditTask: Hashable, Sendable, Codable {
    /// Where the pixels come from: the input, decoded afresh, or the canvas that the tiles were rendered from.
    package enum Source: Hashable, Sendable, Codable {
        case input(InputSpec)
        case canvas(CanvasReference)
    }

    package struct Output: Hashable, Sendable, Codable {
        package let spec: OutputSpec
        /// The bands to render again, each with the digest that its first rendering had.
        package let bands: [BandReceipt]

        package init(_ spec: OutputSpec, bands: [BandReceipt]) {
            self.spec = spec
            self.bands = bands
        }
    }

    package let source: Source
    package let chain: [FilterInvocation]
    package let outputs: [Output]
    /// The tiles that were rendered of a canvas; the audit's borders run through their middles.
    package let grid: TileGrid
    /// What one tile of a frame that is held may take while it is rendered, in bytes.
    package let tileMemory: Int
    /// What the rows of a frame that streams may take, in bytes.
    package let frameMemory: Int

    package init(
        source: Source, chain: [FilterInvocation], outputs: [Output], grid: TileGrid, tileMemory: Int,
        frameMemory: Int
    ) {
        self.tileMemory = tileMemory
        self.source = source
        self.chain = chain
        self.outputs = outputs
        self.grid = grid
        self.frameMemory = frameMemory
    }
}

/// Decodes written files and compares them with their receipts: every pixel when the format keeps them, size and
/// channels otherwise.
package struct CheckTask: Hashable, Sendable, Codable {
    package struct Output: Hashable, Sendable, Codable {
        package let spec: OutputSpec
        package let expected: OutputReceipt

        package init(_ spec: OutputSpec, expected: OutputReceipt) {
            self.spec = spec
            self.expected = expected
        }
    }

    package let outputs: [Output]

    package init(outputs: [Output]) {
        self.outputs = outputs
    }
}

/// A finished canvas: where it is and how its bytes are to be read.
package struct CanvasReference: Hashable, Sendable, Codable {
    package let path: String
    package let rect: PixelRect
    package let layout: PixelLayout
    package let format: SampleFormat
    /// What the decoder has done of the chain's first filter; nil for nothing.
    package let shrinking: Shrinking?
    /// Of the file beside it that has its cells' digests; nil for a tile, whose receipt has its own.
    package let cells: Digest?
    /// Which frame of the input's animation it holds, from 0; nil of anything else.
    package let frame: Int?

    package init(
        path: String, rect: PixelRect, layout: PixelLayout, format: SampleFormat, shrinking: Shrinking? = nil,
        cells: Digest? = nil, frame: Int? = nil
    ) {
        self.frame = frame
        self.cells = cells
        self.path = path
        self.rect = rect
        self.layout = layout
        self.format = format
        self.shrinking = shrinking
    }
}

/// That a picture was decoded at a part of its size.
package struct Shrinking: Hashable, Sendable, Codable {
    /// 2, 4 or 8.
    package let factor: Int
    /// Of the picture in its file, upright.
    package let width: Int
    package let height: Int

    package init(factor: Int, width: Int, height: Int) {
        self.factor = factor
        self.width = width
        self.height = height
    }
}

/// Reads files from end to end, to tell whether they are what they were.
package struct DigestTask: Hashable, Sendable, Codable {
    package struct File: Hashable, Sendable, Codable {
        package let path: String
        /// As in ``InputSpec``.
        package let bytes: [UInt8]?

        package init(path: String, bytes: [UInt8]? = nil) {
            self.path = path
            self.bytes = bytes
        }

        /// Files are told apart by their names' bytes.
        package static func == (a: File, b: File) -> Bool {
            PathKey(a.path) == PathKey(b.path) && a.bytes == b.bytes
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(PathKey(path))
            hasher.combine(bytes)
        }
    }

    package let files: [File]

    package init(files: [File]) { self.files = files }
}
