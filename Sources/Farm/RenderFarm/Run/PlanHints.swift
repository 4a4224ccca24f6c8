import Coordination
import JobModel
package import Planning
import Reports
import Synchronization

/// What a watch has told of its jobs. It tells it once, and again when it changes.
final class WatchMemory: Sendable {
    /// The lost pictures of each job, as they were told last.
    private let losses = Mutex<[PathKey: [String]]>([:])
    /// Jobs whose patterns were looked at, with the patterns.
    private let inspected = Mutex<Set<[PathKey]>>([])

    package init() {}

    /// Whether the patterns of a job are new. Later, pictures come and go.
    func isNew(_ plan: JobPlan) -> Bool {
        let patterns = [plan.job.manifestPath, plan.job.name] + plan.job.inputs + [""] + plan.job.exclude
        return inspected.withLock { $0.insert(patterns.map(PathKey.init)).inserted }
    }

    /// Which pictures of a job are lost that were not lost at its last run.
    func newLosses(_ prepared: PreparedJob) -> [String] {
        let job = PathKey("\(prepared.job.manifestPath)\0\(prepared.job.name)")
        let now = prepared.lost.map(\.message)
        let before = losses.withLock { losses in
            defer { losses[job] = now }
            return losses[job] ?? []
        }
        return now.filter { !before.contains($0) }
    }
}

extension RunListener {
    /// Says which of several patterns nothing matches, and which links lead nowhere. (If nothing matches any of the patterns, that is
    /// an error.)
    ///
    /// - Parameter folder: paths are shown as they are seen from there.
    package func hint(_ plan: JobPlan, folder: String) {
        let manifest = PathText.shown(plan.job.manifestPath, from: folder)
        for message in PlanHints.messages(plan, folder) {
            report(.manifestHint(manifest: manifest, message))
        }
    }

    /// Says that a run which makes everything again continues where an earlier part of it had to stop.
    package func reportMadeBefore(_ prepared: PreparedJob) {
        let count = prepared.madeBefore
        if count > 0 { report(prepared.job.name, .forcedRunContinues(made: count)) }
    }
}

private enum PlanHints {
    /// Links that are told one by one.
    private static let linksTold = 5

    static func messages(_ plan: JobPlan, _ folder: String) -> [String] {
        let rest = plan.danglingLinks.count - linksTold
        func told(_ message: String, _ hint: PatternHint?) -> String {
            message + (hint.map { "; \($0.message)" } ?? "")
        }
        var hints = plan.unmatchedPatterns.map {
            told("nothing matches '\(PathText.shown($0, from: folder))' of 'inputs'", plan.hint(ofInput: $0))
        }
        hints += plan.unmatchedExcludes.map {
            told("'\(PathText.visible($0))' of 'exclude' leaves nothing out", plan.hint(ofExclude: $0))
        }
        hints += plan.unmatchedChoices.map {
            told("nothing matches '\(PathText.visible($0))' of --only", plan.hint(ofChoice: $0))
        }
        hints += plan.danglingLinks.prefix(linksTold).map {
            "\(PathText.shown($0, from: folder)) is a link that leads nowhere, and is no input: what it led to is gone, or not "
                + "mounted"
        }
        return hints + (rest > 0 ? ["\(Figures.count(rest)) more links lead nowhere"] : [])
    }
}
