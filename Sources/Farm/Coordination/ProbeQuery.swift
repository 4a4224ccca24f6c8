import JobModel
package import Planning
package import Scheduling
package import WorkerProtocol

/// Probes every frame of a plan and renders none.
package enum ProbeQuery {
    /// What is known of each frame's picture, or why nothing is.
    package typealias Findings = [FrameID: Result<ProbeReceipt, FrameFailure>]

    /// Frames that a stopped survey did not reach are missing.
    ///
    /// - Parameters:
    ///   - frames: those of the plan that are looked at.
    ///   - variants: what is done with a frame in place of what the job says.
    package static func run(
        _ plan: JobPlan, frames: [PlannedFrame], variants: @escaping @Sendable (PlannedFrame) -> FrameVariant?,
        settings: RunSettings, loop: RunLoop
    ) async -> (findings: Findings, stop: StopReason?) {
        let answers = await FileQuery.run(plan.job, count: frames.count, settings: settings, loop: loop) { place in
            let frame = frames[place]
            return FrameOrder(
                id: frame.id, input: frame.input.path, inputBytes: frame.input.bytes, variant: variants(frame),
                pages: frame.pages, formats: frame.formats, goal: .survey)
        }
        let findings = answers.outcomes.compactMapValues { outcome -> Result<ProbeReceipt, FrameFailure>? in
            switch outcome {
            case .surveyed(let probe): .success(probe)
            case .failed(let failure): .failure(failure)
            case .published, .left, .settled: nil
            }
        }
        return (findings, answers.stop)
    }
}

extension PlannedFrame {
    package var id: FrameID { FrameID(index, page: page) }
}
