package import JobModel
package import WorkerProtocol

/// One frame as the plan hands it to the scheduler.
package struct FrameOrder: Hashable, Sendable {
    package enum Goal: Hashable, Sendable {
        /// Only the probe receipt is wanted.
        case survey
        /// The verified outputs, at these paths, one for each of the job's outputs; nil for one that is there and stays.
        /// `probe` is what a survey found out, if there was one.
        case publish(outputs: [String?], probe: ProbeReceipt?)
    }

    package let id: FrameID
    /// Absolute path.
    package let input: String
    package let pages: PageChoice
    /// The outputs' formats, by their names in the catalog.
    package let formats: [String]
    package let goal: Goal

    package init(id: FrameID, input: String, pages: PageChoice = .first, formats: [String], goal: Goal) {
        self.id = id
        self.input = input
        self.pages = pages
        self.formats = formats
        self.goal = goal
    }
}
