package import JobModel
package import WorkerProtocol

/// What a run does with a frame, and why.
package enum FrameVerdict: Hashable, Sendable {
    /// Its outputs are as this run would make them.
    case current(reason: String)
    package static let upToDate = current(reason: "up to date")

    /// These outputs are made; nil for those that stay, of which some may be kept.
    case render([Replacement?], reason: String, kept: [KeptOutput] = [])
    /// Nothing is made, and these outputs are kept; others are as this run would make them.
    case kept([KeptOutput])
    /// It failed, and neither the picture nor what is done with it has changed.
    case stillBroken(since: Int, message: String)
    /// These files have to be read before more can be said.
    case compare([DigestTask.File])
    /// `existing: error`, and an output is there.
    case refused(output: String)
    /// It may still be being written.
    case young(reason: String)
}

extension FrameVerdict {
    /// The frame's outputs that are kept, whatever becomes of the others.
    package var kept: [KeptOutput] {
        switch self {
        case .render(_, _, let kept), .kept(let kept): kept
        case .current, .stillBroken, .compare, .refused, .young: []
        }
    }
}

/// An output that stays as it is: what is at its path Penumbra did not publish, or somebody has edited.
package struct KeptOutput: Hashable, Sendable {
    package let path: String
    package let reason: String

    package init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }
}

/// An output that is made, and what may be at its path when it is published.
package struct Replacement: Hashable, Sendable {
    package let path: String
    package let rule: ReplacementRule

    package init(path: String, rule: ReplacementRule) {
        self.path = path
        self.rule = rule
    }
}

/// What an output may take the place of.
package enum ReplacementRule: Hashable, Sendable {
    /// Of nothing: what appears while it is rendered stays.
    case nothing
    /// Of the file that has this stamp: Penumbra published it.
    case published(FileStamp)
    /// Of any file.
    case anything
}
