package import JobModel
package import WorkerProtocol

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
