import JobModel
import JobStorage
package import Scheduling

/// Frames that failed in a run, and that a later run of the job has published.
extension RunArchive {
    /// So many later runs are looked at, the earliest first.
    private static let mostLaterRuns = 50

    /// The name of the first later run that published each frame. Frames that none of them published are left out.
    ///
    /// - Parameter frames: Failed frames of the run.
    package func repairs(of frames: [StoredFrameLine], in run: RunStatus) throws -> [FrameID: String] {
        guard !frames.isEmpty, !isShared(run) else { return [:] }
        let found = try store?.read { reader -> [FrameID: String] in
            let later = try reader.runs(after: run.stored, limit: Self.mostLaterRuns).filter { run in
                // The counts of a run are stored at its end.
                !run.state.isEnded || run.counts.published > 0
            }
            var repairs: [FrameID: String] = [:]
            for frame in frames {
                let repair = try later.first { try reader.hasRepaired(frame, in: $0.id) }
                if let repair { repairs[FrameID(frame.frame, page: frame.page)] = repair.name }
            }
            return repairs
        }
        return found ?? [:]
    }
}

extension StoreReader {
    fileprivate func hasRepaired(_ frame: StoredFrameLine, in run: RunID) throws -> Bool {
        // A frame that failed early has no outputs yet. Then it is found by its number, as long as the inputs are the same.
        guard let output = frame.outputs.first else {
            return try hasPublished(input: frame.input, number: frame.frame, page: frame.page, in: run)
        }
        return try hasPublished(output, in: run)
    }
}
