/// When a job gets another process after one that did not bring it to its end.
package enum RestartPolicy {
    /// Processes that may vanish in a row without progress. A job that brings down five of them does so again.
    package static let mostVanished = 5
    /// A full disk or a missing worker program stays so for a night, at most. Together with the pauses this is some
    /// seven hours.
    package static let mostBackoffs = 20

    /// The pause before the next process. Nil if no further one follows.
    ///
    /// - Parameter count: How many processes ended for this cause in a row, without progress in between. At least 1.
    package static func pause(after cause: JobState.Cause, count: Int) -> Duration? {
        switch cause {
        // Another run may take days, and the job waits for it. It may be one that the queue does not know.
        case .locked: doubled(.seconds(2), count, most: .seconds(10))
        case .unavailable, .storage:
            count < mostBackoffs ? doubled(.seconds(30), count, most: .seconds(1800)) : nil
        case .vanished: count < mostVanished ? doubled(.seconds(5), count, most: .seconds(60)) : nil
        }
    }

    static func words(forVanished count: Int, _ text: String) -> String {
        "its process was gone \(count) times in a row, without progress"
            + (text.isEmpty ? "" : "; the last said: \(text)")
    }

    private static func doubled(_ first: Duration, _ count: Int, most: Duration) -> Duration {
        min(most, first * (1 << min(count - 1, 20)))
    }
}
