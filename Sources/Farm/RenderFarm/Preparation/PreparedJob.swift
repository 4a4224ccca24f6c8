package import Coordination
package import JobModel
package import JobStorage
package import Planning
import Runs
package import Scheduling

/// A job that may start: its frames are found, its outputs named, nothing that it would harm was seen, and what is to be
/// done with each frame is known or will be once some files were read.
package struct PreparedJob {
    package let plan: JobPlan
    /// What was known of the outputs before.
    package let contents: LedgerContents
    package var freshness: Freshness
    package var targets: [FrameTarget] = []
    /// Frames that failed already, gone or broken when they were probed for their names, or that a deadline left.
    package var ended: [FrameReport] = []
    package var findings: ProbeQuery.Findings = [:]
    /// Of the failed frames those that a survey could not read.
    var brokenFiles: [(files: FrameFiles, failure: FrameFailure)] = []
    /// The run makes everything again, perhaps in several parts.
    package var rerun: FullRerun?
    /// All frames of the job, and not some that a command line chose.
    package var isWhole = true
    /// Published outputs whose inputs are gone.
    package var orphans: [OutputRecord] = []
    /// Pictures that are gone together with their disk.
    package var lost: [MissingDisks.Pictures] = []
    /// Their outputs, which are no orphans.
    var lostOutputs: [OutputRecord] = []
    /// Published outputs whose inputs are there, but are not this job's any more.
    var unselected: [OutputRecord] = []

    /// Published outputs that are there.
    package var publishedCount: Int {
        let planned = targets.reduce(0) { count, target in
            count + target.files.outputs.count { $0.stamp != nil && freshness.record(at: $0.path) != nil }
        }
        return planned + orphans.count + lostOutputs.count
    }

    /// Leaves for last what earlier nights had no time for: else they would have no time for anything behind it either.
    mutating func putLast(_ inputs: Set<PathKey>) {
        guard !inputs.isEmpty else { return }
        let isLate = targets.map { inputs.contains(PathKey($0.files.input)) }
        targets = zip(targets, isLate).filter { !$1 }.map(\.0) + zip(targets, isLate).filter { $1 }.map(\.0)
    }

    /// Frames whose outputs are refused, and why.
    package mutating func fail(_ problems: [FrameID: String]) {
        guard !problems.isEmpty else { return }
        ended += targets.compactMap { target in
            problems[target.frame.id].map { target.report(.failed(FrameFailure(.output, $0))) }
        }
        targets.removeAll { problems[$0.frame.id] != nil }
    }

    /// Takes pictures that are gone together with their disk for removed.
    package mutating func giveUpLost() {
        orphans = (orphans + lostOutputs).sorted { $0.path < $1.path }
        (lost, lostOutputs) = ([], [])
    }

    package var job: JobSpec { plan.job }

    /// How many frames an earlier part of the same run has made.
    package var madeBefore: Int { targets.count { $0.verdict == .current(reason: Freshness.madeBefore) } }

    /// How many frames there is something to do with.
    var workCount: Int { targets.count(where: \.isWork) }

    var workFrames: Set<FrameID> { Set(targets.lazy.filter(\.isWork).map(\.frame.id)) }

    /// What an upgrade of Penumbra would change of outputs that are kept.
    package var keptUpgrades: [String: Int] {
        var counts: [String: Int] = [:]
        for target in targets {
            for upgrade in Set(freshness.keptUpgrades(of: target.files)) { counts[upgrade, default: 0] += 1 }
        }
        return counts
    }
}
