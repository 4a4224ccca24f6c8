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
