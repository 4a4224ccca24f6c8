import FoundationEssentials
import JobModel
import Notifications
package import QueueStorage
import Settings

/// The service from which notices come.
package struct NoticeOrigin: Hashable, Sendable {
    /// No other service has it. Receivers know messages by their identifiers, which begin with it.
    package let service: String
    /// The name of this machine.
    package let host: String
    /// Behind a command that talks to the service, so that it talks to this one: ` --service-dir /srv/queue`. Empty for the
    /// service that it finds by itself.
    package var serviceOption = ""
    /// The same for commands that look at its runs: ` --state-dir /srv/state`.
    package var stateOption = ""

    package init(service: String, host: String) {
        self.service = service
        self.host = host
    }

    /// - Parameter random: 64 random bits, for a service that is new.
    package static func of(_ store: QueueStore, host: String, random: UInt64) throws -> NoticeOrigin {
        if let known = try store[.identifier] { return NoticeOrigin(service: known, host: host) }
        let new = String(random, radix: 36)
        try store.set(.identifier, to: new)
        return NoticeOrigin(service: new, host: host)
    }

    /// The messages of a notice, one for each target.
    ///
    /// - Parameter event: what happened, in letters, digits, `.`, `-` and `_`. The same event is stored once.
    func messages(_ notice: Notice, to targets: [NotificationTarget], event: String) -> [OutboxMessage] {
        // A notice can always be encoded: fractions that JSON lacks become texts.
        guard let body = try? StoredNotice.text(notice) else { return [] }
        return targets.map { target in
            OutboxMessage(
                event: "\(service)-\(event)-\(ShortDigest.text(target.outboxName))", target: target.outboxName,
                body: body)
        }
    }
}

extension QueueStore.Setting {
    fileprivate static let identifier = Self(name: "identifier")
}

/// A notice as the outbox has it.
enum StoredNotice {
    private static let (infinity, negative, none) = ("inf", "-inf", "nan")

    static func text(_ notice: Notice) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: infinity, negativeInfinity: negative, nan: none)
        return String(decoding: try encoder.encode(notice), as: UTF8.self)
    }

    static func notice(_ text: String) throws -> Notice {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: infinity, negativeInfinity: negative, nan: none)
        return try decoder.decode(Notice.self, from: Data(text.utf8))
    }
}
