package import Queueing

/// A message to send after a change. It is stored in the transaction of the change, so it is neither lost nor sent for
/// a change that did not happen.
package struct OutboxMessage: Hashable, Sendable {
    /// Identifies the message for ever: `job-17-failed-to-hook`. The same event is stored once.
    package let event: String
    /// The name of the rule or address of the configuration to which it is sent.
    package let target: String
    package let body: String

    package init(event: String, target: String, body: String) {
        self.event = event
        self.target = target
        self.body = body
    }
}

/// The messages to one target that could not be delivered.
package struct UndeliveredMessages: Hashable, Sendable {
    package let target: String
    package let count: Int
    /// Why the last try of the newest one failed.
    package let error: String
    /// When the first one is tried again. Nil if all were given up.
    package let next: WallTime?

    package init(target: String, count: Int, next: WallTime?, error: String) {
        (self.target, self.count, self.next, self.error) = (target, count, next, error)
    }
}

/// A message of the outbox that has not been delivered.
package struct OutboxEntry: Hashable, Sendable {
    package let message: OutboxMessage
    /// How often it was tried.
    package let tries: Int
    /// When it is due.
    package let next: WallTime
    /// Why the last try failed.
    package let error: String?
}
