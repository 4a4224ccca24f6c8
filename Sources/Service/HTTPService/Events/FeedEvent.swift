import JobModel
package import Queueing

/// Something that has happened, as followers get it.
package struct FeedEvent: Hashable, Sendable {
    /// Counts from 1 since the service started.
    package let number: Int
    package let name: String
    package let data: [UInt8]
    /// What it is about, for filters: `job 17`. It is not sent.
    package let subject: String?
    /// The owner of the job that it is about, for filters. Nil if it is about no job. It is not sent.
    package let owner: Owner?
    /// Whether events before it are never joined with events after it, so that they are sent before it.
    package let isBarrier: Bool

    package init(
        number: Int, name: String, data: [UInt8], subject: String? = nil, owner: Owner? = nil, isBarrier: Bool = false
    ) {
        self.subject = subject
        self.owner = owner
        self.isBarrier = isBarrier
        self.number = number
        self.name = name
        self.data = data
    }

    /// As a stream of server-sent events has it (HTML Living Standard, section 9.2).
    ///
    /// - Parameter boot: Nil for an event that comes with later ones: only the last event of a batch has an `id`, so that a
    ///   client that loses its connection in between gets the whole batch again.
    package func text(boot: String?) -> [UInt8] {
        var text = Array("event: \(name)\n".utf8)
        if let boot { text += Array("id: \(boot)-\(number)\n".utf8) }
        let lines = VisibleText.json(data).split(omittingEmptySubsequences: false) { $0 == 0x0a || $0 == 0x0d }
        for line in lines { text += Array("data: ".utf8) + line + [0x0a] }
        return text + [0x0a]
    }
}

/// `BOOT-NUMBER`: the number of an event, and the start of the service that it counts from.
package struct EventID: Hashable, Sendable {
    package let boot: String
    package let number: Int

    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, (1...18).contains(parts[1].utf8.count),
            parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(parts[1])
        else { return nil }
        boot = String(parts[0])
        self.number = number
    }
}

/// Joins events of one name, so that a follower gets at most one of them in each interval.
package struct Coalescing: Sendable {
    package let name: String
    package let interval: Duration
    /// Makes the data of one event from the data of several, oldest first.
    let join: @Sendable ([[UInt8]]) -> [UInt8]

    package init(name: String, interval: Duration, join: @escaping @Sendable ([[UInt8]]) -> [UInt8]) {
        self.name = name
        self.interval = interval
        self.join = join
    }

    /// At most four events `frames` a second.
    package static func frames(join: @escaping @Sendable ([[UInt8]]) -> [UInt8]) -> Coalescing {
        Coalescing(name: "frames", interval: .milliseconds(250), join: join)
    }
}
