import Geometry
import JobModel
import WorkerProtocol

/// The state of a frame. Each phase holds exactly what is known in it.
///
///     comparing ─► deciding
///                     │
///                     ▼
///     probing ─► rendering ───────────────────────────┐ (a small picture: from probing)
///        │                                            ▼
///        └─► waitingToTile ─► filling ─► tiling ─► stitching ─► auditing ─► checking ─► publishing
///                                          ▲           │           │           │
///                                          └─ damaged ─┘           └───────────┴─ mismatch: from rendering
///                                              tile                               or filling again
///
/// `verify` decides whether frames are audited and checked. A failure may end a frame in any phase.
///
/// The enum is indirect: a frame's data is large, and most frames wait without any.
indirect enum FramePhase: Hashable, Sendable {
    /// Files are read to find out whether the frame has to be rendered.
    case comparing
    /// The coordinator decides. It knows the earlier state of the files.
    case deciding
    /// The task may render the picture, too, if it is small.
    case probing
    case rendering(ProbeReceipt)
    /// Only one frame at a time has a canvas that is being filled or tiled, so that scratch space holds few canvases.
    case waitingToTile(ProbeReceipt)
    /// The same, with a canvas that an earlier coordinator has filled.
    case waitingToAdopt(Tiling)
    case filling(ProbeReceipt)
    case tiling(Tiling)
    case stitching(Tiling)
    case auditing(Rendered)
    case checking(Rendered)

    /// While true, no other frame may begin to fill a canvas.
    var occupiesScratch: Bool {
        switch self {
        case .filling, .tiling: true
        case .comparing, .deciding, .probing, .rendering, .waitingToTile, .waitingToAdopt, .stitching, .auditing,
            .checking:
            false
        }
    }
}

/// A frame whose tiles are being rendered.
struct Tiling: Hashable, Sendable {
    let probe: ProbeReceipt
    let canvas: CanvasReceipt
    var receipts: [Int: TileReceipt] = [:]

    var isComplete: Bool { receipts.count == probe.grid.count }
}

/// A frame whose outputs are written but not published.
struct Rendered: Hashable, Sendable {
    /// One output.
    struct Part: Hashable, Sendable {
        let receipt: OutputReceipt
        /// The final path.
        let path: String
        /// The output's index in the job.
        let index: Int
        /// The bands that are rendered again. Empty without an audit.
        var audited: [BandReceipt] = []
    }

    let probe: ProbeReceipt
    /// The input as the worker read it.
    let source: FileFacts
    let canvas: CanvasReceipt?
    var parts: [Part]

    /// - Parameter receipts: Receipts of the outputs that have a path in `paths`, in their order.
    init(
        _ probe: ProbeReceipt, of source: FileFacts, canvas: CanvasReceipt?, receipts: [OutputReceipt],
        paths: [String?]
    ) {
        self.probe = probe
        self.source = source
        self.canvas = canvas
        let written = paths.enumerated().compactMap { index, path in path.map { (index, $0) } }
        parts = zip(receipts, written).map { Part(receipt: $0, path: $1.1, index: $1.0) }
    }

    var publications: [Publication] {
        parts.map { Publication($0.receipt, path: $0.path, part: $0.index, source: source) }
    }

    /// All outputs of the job, each with its written part or nil.
    func each<Output>(of outputs: [Output]) -> [(Output, Part?)] {
        outputs.enumerated().map { index, output in (output, parts.first { $0.index == index }) }
    }
}

/// A frame that the scheduler holds.
struct FrameState: Hashable, Sendable {
    let order: FrameOrder
    var phase: FramePhase
    /// Replaces the order's paths once the frame's files were compared.
    var decidedPaths: [String?]?
    var histories: [TaskKind: AttemptHistory] = [:]
    /// The number of times that its rendering began again after a failed verification.
    var restarts = 0
    /// Set if a result came too fast to be true.
    var distrustReason: DistrustReason?
    /// The workers that rendered any of its pixels. Another worker does the audit.
    var renderers: Set<WorkerID> = []

    enum DistrustReason: Hashable, Sendable {
        /// The pixels. An audit compares them with those of the canvas or of the input.
        case pixels
        /// The canvas itself. An audit decodes the input again.
        case canvas
    }

    /// The paths at which its outputs are published, see ``FrameOrder/Goal``. Nil for a survey.
    var outputPaths: [String?]? {
        switch order.goal {
        case .survey, .comparison: nil
        case .publish(let outputs, _): decidedPaths ?? outputs
        }
    }

    /// The probe's receipt, once there is one.
    var probe: ProbeReceipt? {
        switch phase {
        case .comparing, .deciding, .probing: nil
        case .rendering(let probe), .waitingToTile(let probe), .filling(let probe): probe
        case .waitingToAdopt(let tiling), .tiling(let tiling), .stitching(let tiling): tiling.probe
        case .auditing(let rendered), .checking(let rendered): rendered.probe
        }
    }
}
