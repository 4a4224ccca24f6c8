package import Catalogs
package import Geometry
package import JobModel

/// The order for one attempt. It contains everything that the worker needs, and nothing else of the job.
///
/// Paths are absolute. The names of the files that a task writes belong to this attempt alone, so a late attempt can
/// never touch files of another.
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

/// How an input is opened. All tasks that decode an input have the same.
package struct InputSpec: Hashable, Sendable, Codable {
    /// For people. ``bytes`` has the exact path.
    package var path: String
    /// The exact path, if it is not UTF-8.
    package let bytes: [UInt8]?
    package let maxPixels: Int
    package var color: ColorPolicy
    /// The folder for a large picture that must be turned upright. Nil for the system's temporary folder.
    package let scratchFolder: String?
    package let pages: PageChoice
    /// The factor by which the decoder shrinks the picture: 1, 2, 4 or 8. Nil for the factor that suits all outputs.
    package let shrink: Int?
    /// How finely PDF and SVG are drawn, in pixels for each inch. Nil for 72.
    package let dpi: Int?
    /// What the frame's probe has measured. A worker believes it as long as the file is untouched. Otherwise, and if it is nil,
    /// the worker measures the picture itself.
    package var measured: MeasuredPicture?

    package init(
        path: String, bytes: [UInt8]? = nil, maxPixels: Int, color: ColorPolicy, scratchFolder: String? = nil,
        pages: PageChoice = .first, shrink: Int? = nil, dpi: Int? = nil, measured: MeasuredPicture? = nil
    ) {
        self.measured = measured
        self.dpi = dpi
        self.pages = pages
        self.shrink = shrink
        self.path = path
        self.bytes = bytes
        self.maxPixels = maxPixels
        self.color = color
        self.scratchFolder = scratchFolder
    }
}

/// How one output of a frame is rendered.
package struct OutputSpec: Hashable, Sendable, Codable {
    /// The filters after the task's chain.
    package let chain: [FilterInvocation]
    /// The format's name in the catalog.
    package let format: String
    package let save: SaveOptions

    package init(chain: [FilterInvocation] = [], format: String, save: SaveOptions) {
        self.chain = chain
        self.format = format
        self.save = save
    }

    /// The same output with other references to the pictures that its filters read, and to its colour profile.
    package func mappingPictures(_ transform: (PictureReference) -> PictureReference) -> OutputSpec {
        OutputSpec(
            chain: chain.map { $0.mappingPictures(transform) }, format: format, save: save.mappingProfile(transform))
    }
}

/// Reads a file's header and computes the chain's geometry for it. Decodes no pixel, unless filters need measurements.
package struct ProbeTask: Hashable, Sendable, Codable {
    package var input: InputSpec
    package let chain: [FilterInvocation]
    package let outputs: [OutputSpec]
    package let tile: TileSize
    /// The largest number of bytes for one tile with its halo.
    package let tileMemory: Int
    /// The largest number of bytes for the rows of a frame that streams.
    package let frameMemory: Int
    /// Whether the input's bytes are digested, together with the chain and each output's options.
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

    /// The first filters of the chains for which the input is measured, each list once.
    package var measuredFilters: [[FilterInvocation]] { Self.measuredFilters(chain, outputs) }

    /// - Parameter chain: the filters that all outputs share.
    package static func measuredFilters(
        _ chain: [FilterInvocation], _ outputs: [OutputSpec]
    ) -> [[FilterInvocation]] {
        var seen: Set<[FilterInvocation]> = []
        return ([chain] + outputs.map { chain + $0.chain }).map(\.measuredFilters)
            .filter { !$0.isEmpty && seen.insert($0).inserted }
    }
}

/// Decodes, filters and encodes one whole frame.
package struct FrameTask: Hashable, Sendable, Codable {
    /// What the task needs to probe its frame, too. It spares small pictures a task of their own for that.
    package struct Opening: Hashable, Sendable, Codable {
        /// As in ``ProbeTask``.
        package let tile: TileSize
        /// The most seconds of one core's time, by the probe's estimate, that a small picture takes.
        package let mostSeconds: Double
        /// The most pixels that the input of a small picture, or one of its outputs, has.
        package static let mostPixels = 2_000_000

        package init(tile: TileSize, mostSeconds: Double) {
            self.tile = tile
            self.mostSeconds = mostSeconds
        }
    }

    package struct Output: Hashable, Sendable, Codable {
        package let spec: OutputSpec
        /// Nil if the output is not written this time. It is listed nonetheless, because the decoding of an input
        /// depends on all outputs and must not depend on which of them are missing.
        package let temporaryPath: String?
        /// The last part of its final path. Files in a folder output are named after it.
        package let name: String

        package init(_ spec: OutputSpec, temporaryPath: String?, name: String) {
            self.name = name
            self.spec = spec
            self.temporaryPath = temporaryPath
        }
    }

    package var input: InputSpec
    package let chain: [FilterInvocation]
    package var outputs: [Output]
    /// The largest number of bytes for one tile of a frame that is held.
    package let tileMemory: Int
    /// The largest number of bytes for the rows of a frame that streams.
    package let frameMemory: Int
    /// Nil if the frame was probed before.
    package let opening: Opening?
    /// Whether each output is synced when it is written. Otherwise the publisher syncs the file system first.
    package var syncs: Bool

    package init(
        input: InputSpec, chain: [FilterInvocation], outputs: [Output], tileMemory: Int, frameMemory: Int,
        opening: Opening? = nil, syncs: Bool = true
    ) {
        self.opening = opening
        self.syncs = syncs
        self.input = input
        self.chain = chain
        self.outputs = outputs
        self.tileMemory = tileMemory
        self.frameMemory = frameMemory
    }

    /// The task with its files at other paths.
    package func mappingPaths(_ path: (Output, String) -> String) -> FrameTask {
        var task = self
        task.outputs = outputs.map { output in
            Output(output.spec, temporaryPath: output.temporaryPath.map { path(output, $0) }, name: output.name)
        }
        return task
    }

    /// The task that only probes the frame. Nil if it was probed before.
    package var probe: ProbeTask? {
        opening.map {
            ProbeTask(
                input: input, chain: chain, outputs: outputs.map(\.spec), tile: $0.tile, tileMemory: tileMemory,
                frameMemory: frameMemory, digestsContent: false)
        }
    }

    /// Whether the picture is small, so that the task that has probed it renders it, too. The answer for others is the probe alone.
    package func renders(_ probe: ProbeReceipt) -> Bool {
        guard let opening else { return false }
        return probe.mostPixels <= Opening.mostPixels && probe.cost.total <= opening.mostSeconds
            && probe.passage.bytes <= frameMemory && probe.source.frames == 1
            && probe.outputs.allSatisfy { $0.frames == 1 }
    }
}

/// Decodes one input into a canvas file.
package struct CanvasTask: Hashable, Sendable, Codable {
    package var input: InputSpec
    package let chain: [FilterInvocation]
    /// The output that the canvas is rendered into. It may need other colours than the input has.
    package let output: OutputSpec
    package let canvasPath: String
    /// The path for the input's metadata, which the stitch needs.
    package let metadataPath: String
    /// The facts that the probe found. The tiles were planned for them.
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

    /// What the probe has measured for the chain. The tiles were planned for it.
    package var measurements: [Measurement] { input.measured?.chains.measurements(for: chain + output.chain) ?? [] }
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
    /// The samples of the input's file. Nil if they are those of the tiles.
    package let stored: SampleFormat?
    package let tiles: [TileReceipt]
    package let metadataPath: String
    package let metadataDigest: Digest
    package let output: OutputSpec
    package let temporaryPath: String
    /// The last part of the final path, as in ``FrameTask/Output``.
    package let name: String
    /// As in ``FrameTask``.
    package let syncs: Bool
    /// The factor by which the canvas was shrunk at decoding.
    package let shrink: Int
    /// The number of frames, one below the other.
    package let frames: Int

    package init(
        extent: PixelRect, layout: PixelLayout, format: SampleFormat, tiles: [TileReceipt], metadataPath: String,
        metadataDigest: Digest,
        output: OutputSpec, temporaryPath: String, name: String, syncs: Bool = true, shrink: Int = 1,
        frames: Int = 1, stored: SampleFormat? = nil
    ) {
        self.frames = frames
        self.stored = stored
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
    /// The source of the pixels: the input, decoded again, or the canvas of the tiles.
    package enum Source: Hashable, Sendable, Codable {
        case input(InputSpec)
        case canvas(CanvasReference)
    }

    package struct Output: Hashable, Sendable, Codable {
        package let spec: OutputSpec
        /// The bands that are rendered again, with the digests of their first rendering.
        package let bands: [BandReceipt]

        package init(_ spec: OutputSpec, bands: [BandReceipt]) {
            self.spec = spec
            self.bands = bands
        }
    }

    package let source: Source
    package let chain: [FilterInvocation]
    package let outputs: [Output]
    /// The tiles that were rendered of a canvas. The borders of the audit's tiles run through their middles.
    package let grid: TileGrid
    /// The largest number of bytes for one tile of a frame that is held.
    package let tileMemory: Int
    /// The largest number of bytes for the rows of a frame that streams.
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

/// Decodes written files and compares them with their receipts: every pixel if the format keeps them, otherwise size
/// and channels.
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

/// A finished canvas: its path, and the layout of its bytes.
package struct CanvasReference: Hashable, Sendable, Codable {
    package let path: String
    package let rect: PixelRect
    package let layout: PixelLayout
    package let format: SampleFormat
    /// The samples of the input's file. Nil if the canvas has them.
    package let stored: SampleFormat?
    /// The part of the chain's first filter that the decoder has done. Nil for nothing.
    package let shrinking: Shrinking?
    /// The digest of the file beside it with its cells' digests. Nil for a tile, whose receipt has its own digest.
    package let cells: Digest?
    /// The frame of the input's animation that it holds, from 0. Nil if the input is no animation.
    package let frame: Int?
    /// The measurements for the first filters of the chain. Nil for none.
    package let measurements: [Measurement]?
    /// The values of the input's metadata for the texts of the chain, by the raw values of ``ExifField``. Nil if the texts have no such
    /// fields.
    package let exif: [String: String]?

    package init(
        path: String, rect: PixelRect, layout: PixelLayout, format: SampleFormat, shrinking: Shrinking? = nil,
        cells: Digest? = nil, frame: Int? = nil, stored: SampleFormat? = nil, measurements: [Measurement]? = nil,
        exif: [String: String]? = nil
    ) {
        self.measurements = measurements
        self.exif = exif
        self.stored = stored
        self.frame = frame
        self.cells = cells
        self.path = path
        self.rect = rect
        self.layout = layout
        self.format = format
        self.shrinking = shrinking
    }
}

/// The reduction of a picture at decoding.
package struct Shrinking: Hashable, Sendable, Codable {
    /// 2, 4 or 8.
    package let factor: Int
    /// The size of the picture in its file, upright.
    package let width: Int
    package let height: Int

    package init(factor: Int, width: Int, height: Int) {
        self.factor = factor
        self.width = width
        self.height = height
    }
}

/// Reads files completely, to find out whether they have changed.
package struct DigestTask: Hashable, Sendable, Codable {
    package struct File: Hashable, Sendable, Codable {
        package let path: String
        /// As in ``InputSpec``.
        package let bytes: [UInt8]?

        package init(path: String, bytes: [UInt8]? = nil) {
            self.path = path
            self.bytes = bytes
        }

        /// Two files are the same if the bytes of their names are.
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
