package import Queueing

/// Gathers the notices of one job for one address, so that it gets at most one mail in ten minutes.
///
/// The first notice is sent at once. Notices that follow too soon wait, and are sent together.
package struct MailDigest: Hashable, Sendable, Codable {
    package static let interval = Duration.seconds(600)
    /// More are counted only. Nobody reads a mail of a thousand ends.
    package static let mostWaiting = 50

    private var lastSent: WallTime?
    private var waiting: [Notice] = []
    private var omitted = 0

    package init() {}

    /// - Parameter lastSent: When the last mail was sent. Nil if none was.
    package init(lastSent: WallTime?) { self.lastSent = lastSent }

    /// The contents of a mail.
    package struct Batch: Hashable, Sendable {
        /// In the order in which they came.
        package let notices: [Notice]
        /// How many further notices came before the last ones.
        package let omitted: Int

        package init(_ notices: [Notice], omitted: Int = 0) {
            self.notices = notices
            self.omitted = omitted
        }
    }

    package mutating func add(_ notice: Notice) {
        waiting.append(notice)
        guard waiting.count > Self.mostWaiting else { return }
        // The newest ones say how things stand.
        waiting.removeFirst()
        omitted += 1
    }

    /// When the next mail may be sent. Nil if nothing waits.
    package func due(at now: WallTime) -> WallTime? {
        guard !waiting.isEmpty else { return nil }
        // A clock that was set back must not delay a mail for longer than the interval.
        guard let lastSent, lastSent <= now else { return now }
        return lastSent + Self.interval
    }

    /// The contents of a mail that is sent now. Nil if nothing waits, or if the last mail was sent too recently.
    ///
    /// - Parameter isLast: No later mail will come, so what waits is sent now.
    package mutating func take(at now: WallTime, isLast: Bool = false) -> Batch? {
        guard let due = due(at: now), due <= now || isLast else { return nil }
        let batch = Batch(waiting, omitted: omitted)
        (lastSent, waiting, omitted) = (now, [], 0)
        return batch
    }
}
