package import WorkerProtocol

/// One frame as the plan hands it to the scheduler.
package struct FrameOrder: Hashable, Sendable {
    package enum Goal: Hashable, Sendable {
        /// Only the probe receipt is wanted.
        case survey
        /// The verified output, at this path. `probe` is what a survey found out, if there was one.
        case publish(output: String, probe: ProbeReceipt?)
    }

    package let id: FrameID
    /// Absolute path.
    package let input: String
    /// The output format's name in the catalog.
    package let format: String
    package let goal: Goal

    package init(id: FrameID, input: String, format: String, goal: Goal) {
        self.id = id
        self.input = input
        self.format = format
        self.goal = goal
    }
}
