package import JobModel
package import Planning
package import Scheduling
package import WorkerProtocol

/// A frame of a run: where its outputs go, and what is to be done.
package struct FrameTarget: Hashable, Sendable {
    package let frame: PlannedFrame
    /// One for each of the job's outputs.
    package let outputs: [String]
    /// What a survey found out; nil when none was needed.
    package var probe: ProbeReceipt? { if case .probed(let probe) = found { probe } else { nil } }
    private let found: Found?
    /// In place of the job's chain and outputs; nil for most frames.
    package let variant: FrameVariant?
    package let files: FrameFiles
    package let verdict: FrameVerdict

    /// Large, and mostly absent: kept apart, so that hundreds of thousands of targets stay small.
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

    /// True when a run has work to do with it, or has to find out.
    package var isWork: Bool {
        switch verdict {
        case .render, .compare: true
        case .current, .kept, .stillBroken, .refused, .young: false
        }
    }

    /// True when it fails for what is at its output's path.
    package var isRefused: Bool { if case .refused = verdict { true } else { false } }

    /// The same, now that it is known what is to be done.
    package func decided(_ verdict: FrameVerdict) -> FrameTarget {
        FrameTarget(frame: frame, outputs: outputs, probe: probe, variant: variant, files: files, verdict: verdict)
    }

    /// The same, with what a survey found out.
    package func probed(_ probe: ProbeReceipt) -> FrameTarget {
        FrameTarget(frame: frame, outputs: outputs, probe: probe, variant: variant, files: files, verdict: verdict)
    }

    /// - Parameter kept: what was found out of it during the run; nil for what the verdict says. Of a frame that failed before it
    ///   was begun the verdict says nothing: its outputs wait for what the failure asks for.
    package func report(
        _ state: FrameResult, publications: [Publication] = [], probe: ProbeReceipt? = nil, seconds: Double? = nil,
        kept: [KeptOutput]? = nil
    ) -> FrameReport {
        let known: [KeptOutput] = if case .failed = state { [] } else { verdict.kept }
        return FrameReport(
            index: frame.index, page: frame.page, input: files.input, inputBytes: files.inputBytes, outputs: outputs,
            kept: kept ?? known, state: state, publications: publications, probe: probe, seconds: seconds)
    }

    /// How it ends without any work; nil for work.
    func settled() -> FrameReport? {
        switch verdict {
        case .render, .compare: nil
        case .current(let reason), .young(let reason): report(.skipped(reason: reason))
        case .kept(let outputs): report(.kept(reason: outputs.first?.reason ?? ""))
        case .stillBroken(let since, let message): report(.stillBroken(since: since, message: message))
        case .refused(let output):
            report(
                .failed(FrameFailure(.output, "\(output): is there already; --force replaces it")))
        }
    }
}
