package import JobModel
package import WorkerProtocol

/// One frame, as the plan gives it to the scheduler.
package struct FrameOrder: Hashable, Sendable {
    package enum Goal: Hashable, Sendable {
        /// Only the probe's receipt is needed.
        case survey
        /// Only the facts of the compared files are needed.
        case comparison
        /// The verified outputs are needed at these paths, one for each of the job's outputs. Nil for an output that
        /// exists and stays.
        /// `probe` is the survey's result, if there was a survey.
        case publish(outputs: [String?], probe: ProbeReceipt?)
    }

    package let id: FrameID
    /// Absolute path.
    package let input: String
    /// The path's bytes, if it is not UTF-8.
    package let inputBytes: [UInt8]?
    /// Files that are read first to find out whether anything has to be done. Empty if this is known.
    package let compared: [DigestTask.File]
    /// The chain and outputs of this frame alone. Nil if the job's apply.
    package let variant: FrameVariant?
    package let pages: PageChoice
    /// The outputs' formats, by their names in the catalog.
    package let formats: [String]

    /// The names of formats that are videos.
    package static let videoFormats: Set = ["mp4", "webm"]
    /// Whether its input may be a clip.
    var mayReadClip: Bool { formats.contains(where: Self.videoFormats.contains) }
    /// Whether the file is so small that it probably has few pixels.
    package let hasSmallFile: Bool
    package var goal: Goal {
        switch aim {
        case .survey: .survey
        case .comparison: .comparison
        case .publish(let outputs, let probe): .publish(outputs: outputs, probe: probe?.value)
        }
    }
    private let aim: Aim
    /// Work that an earlier coordinator of the run has done for the frame.
    package let adopted: AdoptedWork?

    /// The goal. Parts that are mostly absent are boxed.
    private enum Aim: Hashable {
        case survey
        case comparison
        case publish(outputs: [String?], probe: Boxed<ProbeReceipt>?)
    }

    package init(
        id: FrameID, input: String, inputBytes: [UInt8]? = nil, compared: [DigestTask.File] = [],
        variant: FrameVariant? = nil, pages: PageChoice = .first, formats: [String], goal: Goal,
        adopted: AdoptedWork? = nil, hasSmallFile: Bool = false
    ) {
        self.hasSmallFile = hasSmallFile
        self.id = id
        self.input = input
        self.inputBytes = inputBytes
        self.compared = compared
        self.variant = variant
        self.pages = pages
        self.formats = formats
        aim =
            switch goal {
            case .survey: .survey
            case .comparison: .comparison
            case .publish(let outputs, let probe): .publish(outputs: outputs, probe: probe.map(Boxed.of))
            }
        self.adopted = adopted
    }
}

/// A chain and outputs that replace the job's, because a list sets parameters for one picture.
package struct FrameVariant: Hashable, Sendable {
    package let chain: [FilterInvocation]
    /// As many as the job has, with the same paths.
    package let outputs: [JobOutput]

    package init(chain: [FilterInvocation], outputs: [JobOutput]) {
        self.chain = chain
        self.outputs = outputs
    }

    /// The same with other filters.
    package func mapping<Failure: Error>(
        _ transform: ([FilterInvocation]) throws(Failure) -> [FilterInvocation]
    ) throws(Failure) -> FrameVariant {
        FrameVariant(
            chain: try transform(chain),
            outputs: try outputs.map { output throws(Failure) in
                var output = output
                output.chain = try transform(output.chain)
                output.animations = try transform(output.animations)
                return output
            })
    }

    /// True when the outputs are animations, or frames of one.
    var isAnimated: Bool { outputs.contains { !$0.animations.isEmpty } }
}

/// Work of a killed coordinator that need not be done again. Its receipts are checked like a worker's: the stitch takes
/// the digest of each tile again, and the digests of adopted outputs have been taken again.
package indirect enum AdoptedWork: Hashable, Sendable {
    /// A canvas, and its rendered tiles by their indices in the grid.
    case tiles(ProbeReceipt, CanvasReceipt, [Int: TileReceipt])
    /// All requested outputs in order, written and synced under temporary names.
    case outputs(ProbeReceipt, [OutputReceipt], of: FileFacts)
}

/// The decision about a frame whose files were compared.
package enum FrameDecision: Hashable, Sendable {
    /// These outputs are rendered, as in ``FrameOrder/Goal/publish(outputs:probe:)``.
    case render(outputs: [String?])
    /// The same, and a part is done already.
    case adopt(AdoptedWork, outputs: [String?])
    /// Nothing is to be done. The coordinator knows why.
    case settle
}
