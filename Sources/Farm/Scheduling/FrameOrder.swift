package import JobModel
package import WorkerProtocol

/// One frame as the plan hands it to the scheduler.
package struct FrameOrder: Hashable, Sendable {
    package enum Goal: Hashable, Sendable {
        /// Only the probe receipt is wanted.
        case survey
        /// Only what the compared files are.
        case comparison
        /// The verified outputs, at these paths, one for each of the job's outputs; nil for one that is there and stays.
        /// `probe` is what a survey found out, if there was one.
        case publish(outputs: [String?], probe: ProbeReceipt?)
    }

    package let id: FrameID
    /// Absolute path.
    package let input: String
    /// The path, where it is not UTF-8.
    package let inputBytes: [UInt8]?
    /// Files that are read first, to tell whether anything is to be done; empty when that is known.
    package let compared: [DigestTask.File]
    /// What is done for this frame alone; nil for what the job says.
    package let variant: FrameVariant?
    package let pages: PageChoice
    /// The outputs' formats, by their names in the catalog.
    package let formats: [String]
    package var goal: Goal {
        switch aim {
        case .survey: .survey
        case .comparison: .comparison
        case .publish(let outputs, let probe): .publish(outputs: outputs, probe: probe?.value)
        }
    }
    private let aim: Aim
    /// What an earlier coordinator of the run had done of it.
    package let adopted: AdoptedWork?

    /// The goal, with what is mostly absent kept apart.
    private enum Aim: Hashable {
        case survey
        case comparison
        case publish(outputs: [String?], probe: Boxed<ProbeReceipt>?)
    }

    package init(
        id: FrameID, input: String, inputBytes: [UInt8]? = nil, compared: [DigestTask.File] = [],
        variant: FrameVariant? = nil, pages: PageChoice = .first, formats: [String], goal: Goal,
        adopted: AdoptedWork? = nil
    ) {
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

/// A chain and outputs in place of the job's: parameters that were given for one picture.
package struct FrameVariant: Hashable, Sendable {
    package let chain: [FilterInvocation]
    /// As many as the job has, with the same paths.
    package let outputs: [JobOutput]

    package init(chain: [FilterInvocation], outputs: [JobOutput]) {
        self.chain = chain
        self.outputs = outputs
    }

    /// True when the outputs are animations, or frames of one.
    var isAnimated: Bool { outputs.contains { $0.animation != nil } }
}

/// Work of a coordinator that was killed, which need not be done again. Its receipts are believed as those of a worker
/// are: the stitch takes the digest of each tile again, and whoever adopts outputs has taken theirs.
package indirect enum AdoptedWork: Hashable, Sendable {
    /// A canvas, and those of its tiles that were rendered, by their places in the grid.
    case tiles(ProbeReceipt, CanvasReceipt, [Int: TileReceipt])
    /// All outputs that were asked for, in their order, written and synced under temporary names.
    case outputs(ProbeReceipt, [OutputReceipt], of: FileFacts)
}

/// What is to be done with a frame whose files were compared.
package enum FrameDecision: Hashable, Sendable {
    /// These outputs are rendered, as in ``FrameOrder/Goal/publish(outputs:probe:)``.
    case render(outputs: [String?])
    /// The same, of which this much is done.
    case adopt(AdoptedWork, outputs: [String?])
    /// Nothing: whoever decided knows why.
    case settle
}
