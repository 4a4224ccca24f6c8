import Geometry
import JobModel
import WorkerProtocol

/// Where a frame stands. Each phase holds exactly what is known in it.
///
///     comparing ─► deciding
///                     │
///                     ▼
///     probing ─► rendering ───────────────────────────┐
///        │                                            ▼
///        └─► waitingToTile ─► filling ─► tiling ─► stitching ─► auditing ─► checking ─► publishing
///                                          ▲           │           │           │
///                                          └─ damaged ─┘           └───────────┴─ mismatch: from rendering
///                                              tile                               or filling again
///
/// (Auditing and checking happen as `verify` says.) A failure may end a frame in any phase.
///
/// What is known of a frame is large, and is kept apart from the frames that wait with nothing known.
indirect enum FramePhase: Hashable, Sendable {
    /// Files are read to tell whether the frame has to be rendered.
    case comparing
    /// The coordinator, which knows what they were, decides.
    case deciding
    case probing
    case rendering(ProbeReceipt)
    /// One frame at a time has a canvas being filled or tiled, so that scratch space holds few canvases.
    case waitingToTile(ProbeReceipt)
    /// The same, with a canvas that an earlier coordinator had filled.
    case waitingToAdopt(Tiling)
    case filling(ProbeReceipt)
    case tiling(Tiling)
    case stitching(Tiling)
    case auditing(Rendered)
    case checking(Rendered)

    /// True while no other frame may begin to fill a canvas.
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

/// A frame whose outputs are written, but not yet published.
struct Rendered: Hashable, Sendable {
    /// One output.
    struct Part: Hashable, Sendable {
        let receipt: OutputReceipt
        /// Where it is published.
        let path: String
        /// Its place among the job's outputs.
        let index: Int
        /// The bands that are rendered again; empty without an audit.
        var audited: [BandReceipt] = []
    }

    let probe: ProbeReceipt
    /// The input as it was read.
    let source: FileFacts
    let canvas: CanvasReceipt?
    var parts: [Part]

    /// - Parameter receipts: of the outputs that have a path in `paths`, in their order.
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

    /// All outputs of the job with what was written of them.
    func each<Output>(of outputs: [Output]) -> [(Output, Part?)] {
        outputs.enumerated().map { index, output in (output, parts.first { $0.index == index }) }
    }
}

/// A frame that the scheduler holds.
struct FrameState: Hashable, Sendable {
    let order: FrameOrder
    var phase: FramePhase
    /// In place of the order's, once the frame's files were compared.
    var decidedPaths: [String?]?
    var histories: [TaskKind: AttemptHistory] = [:]
    /// How often its rendering began again after a verification failed.
    var restarts = 0
    /// Something of it was answered too fast to be true.
    var distrustReason: DistrustReason?
    /// The workers that rendered any of its pixels: an audit goes to another one.
    var renderers: Set<WorkerID> = []

    enum DistrustReason: Hashable, Sendable {
        /// Pixels that an audit compares with those of its canvas or its input.
        case pixels
        /// The canvas itself: an audit decodes the input afresh.
        case canvas
    }

    /// The paths that its outputs are published at, see ``FrameOrder/Goal``; nil for a survey.
    var outputPaths: [String?]? {
        switch order.goal {
        case .survey, .comparison: nil
        case .publish(let outputs, _): decidedPaths ?? outputs
        }
    }

    /// What is known of its picture once it was probed.
    var probe: ProbeReceipt? {
        switch phase {
        case .comparing, .deciding, .probing: nil
        case .rendering(let probe), .waitingToTile(let probe), .filling(let probe): probe
        case .waitingToAdopt(let tiling), .tiling(let tiling), .stitching(let tiling): tiling.probe
        case .auditing(let rendered), .checking(let rendered): rendered.probe
        }
    }
}
