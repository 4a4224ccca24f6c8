package import JobModel
package import Planning
package import Scheduling
package import WorkerProtocol

/// A frame of a run: its outputs, and what the run does with it.
package struct FrameTarget: Hashable, Sendable {
    package let frame: PlannedFrame
    /// The paths of its outputs, one for each of the job's outputs.
    package let outputs: [String]
    /// What a probe of its picture found; nil if no probe was needed.
    package var probe: ProbeReceipt? { if case .probed(let probe) = found { probe } else { nil } }
    private var found: Found?
    /// What is done in place of the job's chain and outputs; nil for most frames.
    package let variant: FrameVariant?
    package let files: FrameFiles
    package private(set) var verdict: FrameVerdict

    /// Large and mostly absent. An indirect case keeps hundreds of thousands of targets small.
    private indirect enum Found: Hashable {
        case probed(ProbeReceipt)
    }

    package init(
        frame: PlannedFrame, outputs: [String], probe: ProbeReceipt?, variant: FrameVariant? = nil, files: FrameFiles,
        verdict: FrameVerdict
    ) {
        self.frame = frame
        self.outputs = outputs
        found = probe.map(Found.probed)
        self.variant = variant
        self.files = files
        self.verdict = verdict
    }

    /// Whether a run renders the frame, or has to read files to decide.
    package var isWork: Bool {
        switch verdict {
        case .render, .compare: true
        case .current, .kept, .stillBroken, .refused, .tooRecent: false
        }
    }

    /// Whether it fails because something is at an output's path.
    package var isRefused: Bool { if case .refused = verdict { true } else { false } }

    /// The same frame with a new verdict.
    package func decided(_ verdict: FrameVerdict) -> FrameTarget {
        var target = self
        target.verdict = verdict
        return target
    }

    /// The same frame with the probe of its picture.
    package func probed(_ probe: ProbeReceipt) -> FrameTarget {
        var target = self
        target.found = .probed(probe)
        return target
    }

    /// - Parameter kept: the outputs that the run found to be kept; nil for those of the verdict. A frame that
    ///   failed before it began has none, because its outputs wait until the failure is fixed.
    package func report(
        _ state: FrameResult, publications: [Publication] = [], probe: ProbeReceipt? = nil, seconds: Double? = nil,
        kept: [KeptOutput]? = nil
    ) -> FrameReport {
        let known: [KeptOutput] = if case .failed = state { [] } else { verdict.kept }
        return FrameReport(
            index: frame.index, page: frame.page, input: files.input, inputBytes: files.inputBytes, outputs: outputs,
            kept: kept ?? known, state: state, publications: publications, probe: probe, seconds: seconds)
    }

    /// The result of a frame that needs no work; nil for all others.
    func settled() -> FrameReport? {
        switch verdict {
        case .render, .compare: nil
        case .current(let reason), .tooRecent(let reason): report(.skipped(reason: reason))
        case .kept(let outputs): report(.kept(reason: outputs.first?.reason ?? ""))
        case .stillBroken(let since, let message): report(.stillBroken(since: since, message: message))
        case .refused(let output):
            report(
                .failed(FrameFailure(.output, "\(output): is there already; --force replaces it")))
        }
    }
}

/// A frame's files as they were before the run.
package struct FrameFiles: Hashable, Sendable {
    package struct Output: Hashable, Sendable {
        package let path: String
        /// Nil if there is no file.
        package let stamp: FileStamp?
        /// Whether the file at the path can be an output.
        package let isOutput: Bool
        /// How this run would make it.
        package let recipe: RecipeKey

        package init(path: String, stamp: FileStamp?, isOutput: Bool? = nil, recipe: RecipeKey) {
            self.isOutput = isOutput ?? (stamp != nil)
            self.path = path
            self.stamp = stamp
            self.recipe = recipe
        }
    }

    /// The path as it is shown.
    package let input: String
    /// The path's bytes if they are not UTF-8.
    package let inputBytes: [UInt8]?
    package let page: Int
    /// Nil if the picture is gone.
    package let stamp: FileStamp?
    package let outputs: [Output]

    package init(input: String, inputBytes: [UInt8]?, page: Int, stamp: FileStamp?, outputs: [Output]) {
        self.input = input
        self.inputBytes = inputBytes
        self.page = page
        self.stamp = stamp
        self.outputs = outputs
    }

    var inputFile: DigestTask.File { DigestTask.File(path: input, bytes: inputBytes) }
}

/// A recipe of the run: its index in the ``RecipeTable``.
package struct RecipeKey: Hashable, Sendable {
    let index: Int
}

/// What a run does with a frame, and why.
package enum FrameVerdict: Hashable, Sendable {
    /// Its outputs are as this run would make them.
    case current(reason: String)
    package static let upToDate = current(reason: "up to date")

    /// Renders these outputs. An output that stays is nil. Some of those that stay may be in `kept`.
    case render([Replacement?], reason: String, kept: [KeptOutput] = [])
    /// Renders nothing. These outputs are kept; all others are as this run would make them.
    case kept([KeptOutput])
    /// It failed before, and neither the picture nor its recipe has changed.
    case stillBroken(since: Int, message: String)
    /// Decides after these files were read.
    case compare([DigestTask.File])
    /// Fails, because the job has `existing: error` and this output exists.
    case refused(output: String)
    /// Leaves the picture to the next run, because another program may still write it.
    case tooRecent(reason: String)
}

extension FrameVerdict {
    /// The paths of the outputs that are rendered.
    var rendered: [String] { if case .render(let wanted, _, _) = self { wanted.compactMap { $0?.path } } else { [] } }

    /// The outputs that are kept, whatever the verdict says about the others.
    package var kept: [KeptOutput] {
        switch self {
        case .render(_, _, let kept), .kept(let kept): kept
        case .current, .stillBroken, .compare, .refused, .tooRecent: []
        }
    }
}

/// An output that stays as it is. Penumbra did not publish the file at its path, or somebody edited it.
package struct KeptOutput: Hashable, Sendable {
    package let path: String
    package let reason: String

    package init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }
}

/// An output that is rendered, and what it may replace.
package struct Replacement: Hashable, Sendable {
    package let path: String
    package let rule: ReplacementRule

    package init(path: String, rule: ReplacementRule) {
        self.path = path
        self.rule = rule
    }
}

/// What an output may replace when it is published.
package enum ReplacementRule: Hashable, Sendable {
    /// Nothing. A file that appears during the rendering stays.
    case nothing
    /// The file with this stamp, which Penumbra published.
    case published(FileStamp)
    /// Any file.
    case anything
}
