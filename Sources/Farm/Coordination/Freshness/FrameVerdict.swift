package import WorkerProtocol

/// What a run does with a frame, and why.
package enum FrameVerdict: Hashable, Sendable {
    /// Its outputs are as this run would make them.
    case current(reason: String)
    package static let upToDate = current(reason: "up to date")

    /// These outputs are made; nil for those that stay.
    case render([Replacement?], reason: String)
    /// Something is at its outputs' paths that Penumbra may not replace.
    case kept(reason: String)
    /// It failed, and neither the picture nor what is done with it has changed.
    case stillBroken(since: Int, message: String)
    /// These files have to be read before more can be said.
    case compare([CompareTask.File])
    /// `existing: error`, and an output is there.
    case refused(output: String)
    /// It may still be being written.
    case young(reason: String)
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
