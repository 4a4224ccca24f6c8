import Coordination
import JobModel
package import Notifications
package import QueueStorage
package import Queueing
import Settings
import Synchronization

/// Sends the messages of the outbox.
///
/// A message is stored as delivered after it was sent. If the service is killed in between, the next one sends it again. A webhook then
/// gets it twice, with the same `webhook-id`, as Standard Webhooks allows.
package final class NoticeSender: Sendable {
    /// How messages leave this machine.
    package struct Channels: Sendable {
        package var webhook:
            @Sendable (_ message: WebhookMessage, _ address: String, _ secretFile: String?, _ now: WallTime) async ->
                Delivery
        package var mail: @Sendable (MailMessage) async -> Delivery

        package init(
            webhook: @escaping @Sendable (WebhookMessage, String, String?, WallTime) async -> Delivery,
            mail: @escaping @Sendable (MailMessage) async -> Delivery
        ) {
            self.webhook = webhook
            self.mail = mail
        }
    }

    private let rules: NoticeRules
    private let store: QueueStore
    private let channels: Channels
    private let now: @Sendable () -> WallTime
    private let jitter: @Sendable () -> Double
    private let note: @Sendable (String) -> Void
    private let wakes: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)
    /// Messages that were delivered, which could not be stored. They are not sent again by this process.
    private let delivered = Mutex<Set<String>>([])

    /// - Parameters:
    ///   - jitter: a random number from 0 to 1, see ``RedeliveryPolicy``.
    ///   - note: gets a line for the service's log: each failure.
    package init(
        _ rules: NoticeRules, store: QueueStore, channels: Channels, now: @escaping @Sendable () -> WallTime,
        jitter: @escaping @Sendable () -> Double, note: @escaping @Sendable (String) -> Void
    ) {
        self.rules = rules
        self.store = store
        self.channels = channels
        self.now = now
        self.jitter = jitter
        self.note = note
        wakes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// There may be new messages.
    package func wake() { wakes.continuation.yield() }

    // MARK: The loop

    /// A message that cannot be read, or a database that cannot be written, is looked at again after this time.
    private static let troublePause = Duration.seconds(30)
    /// Also looks without being woken, because clocks are set.
    private static let longestPause = Duration.seconds(600)
    /// Delivered messages are removed after this time. Until then the outbox tells who was told.
    private static let memory = Duration.seconds(30 * 86_400)
    private static let pruneInterval = Duration.seconds(86_400)

    /// Sends messages until the task is cancelled.
    ///
    /// - Parameter sleep: waits for a time, or until its task is cancelled.
    package func run(sleep: @escaping @Sendable (Duration) async throws -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            let (ticks, tick) = AsyncStream.makeStream(of: Duration.self, bufferingPolicy: .bufferingNewest(1))
            group.addTask { [wakes] in
                for await time in ticks {
                    // The sleep fails when the service ends. Then the task ends, too.
                    try? await sleep(time)
                    wakes.continuation.yield()
                }
            }
            wakes.continuation.yield()
            var pruned: WallTime?
            for await _ in wakes.stream {
                if Task.isCancelled { break }
                do {
                    if pruned.map({ now() - $0 >= Self.pruneInterval }) ?? true {
                        try await prune()
                        pruned = now()
                    }
                    tick.yield(pause(until: try await sendDue()))
                } catch {
                    note(Self.words(error))
                    tick.yield(Self.troublePause)
                }
            }
            tick.finish()
            group.cancelAll()
        }
    }

    private func pause(until next: WallTime?) -> Duration {
        guard let next else { return Self.longestPause }
        let pause = next - now()
        return pause <= .zero ? Self.troublePause : min(pause, Self.longestPause)
    }

    private func prune() async throws {
        let time = now() + (.zero - Self.memory)
        try await onStore { try $0.pruneMessages(doneBefore: time) }
    }

    private static func words(_ error: any Error) -> String {
        "notices cannot be sent: \((error as? QueueStoreError)?.message ?? "\(error)")"
    }

    private func onStore<Value: Sendable>(_ body: @escaping @Sendable (QueueStore) throws -> Value) async throws
        -> Value
    {
        try await Blocking.run { [store] () throws -> Value in try body(store) }
    }

    // MARK: One pass

    /// How many messages are read at once.
    private static let page = 100
    /// How many programs run at once.
    private static let width = 8

    /// Tries all messages that are due, each once.
    ///
    /// - Returns: when the next one is due.
    @discardableResult
    package func sendDue() async throws -> WallTime? {
        var tried: Set<String> = []
        while !Task.isCancelled {
            let time = now()
            let limit = Self.page + tried.count
            let due = try await onStore { try $0.dueMessages(at: time, limit: limit) }.filter {
                !tried.contains($0.message.event)
            }
            guard !due.isEmpty else { break }
            tried.formUnion(due.map(\.message.event))
            try await inParallel(try await items(due))
        }
        return try await onStore { try $0.nextMessageTime() }
    }

    /// What is sent as one: a message to a webhook, or the messages to one address about one job.
    private enum Item: Sendable {
        case webhook(OutboxEntry, Notice, address: String, secretFile: String?)
        case mail(MailKey)
    }

    private struct MailKey: Hashable, Sendable {
        let address: String
        let job: String
    }

    private func items(_ due: [OutboxEntry]) async throws -> [Item] {
        let unstored = delivered.withLock { $0 }
        var items: [Item] = []
        var keys: Set<MailKey> = []
        for entry in due {
            let event = entry.message.event
            if unstored.contains(event) {
                try await store(delivered: [event])
                continue
            }
            // The message is given up, and says why.
            guard let notice = try? StoredNotice.notice(entry.message.body) else {
                try await giveUp(entry, "it is of a later version, or damaged")
                continue
            }
            switch rules.target(named: entry.message.target) {
            case .webhook(let address, let secretFile):
                items.append(.webhook(entry, notice, address: address, secretFile: secretFile))
            case .mail(let address):
                let key = MailKey(address: address, job: notice.job)
                if keys.insert(key).inserted { items.append(.mail(key)) }
            case nil: try await giveUp(entry, "the config file does not name its target any more")
            }
        }
        return items
    }

    private func inParallel(_ items: [Item]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, item) in items.enumerated() {
                if index >= Self.width { try await group.next() }
                group.addTask { try await self.send(item) }
            }
            try await group.waitForAll()
        }
    }

    private func send(_ item: Item) async throws {
        switch item {
        case .webhook(let entry, let notice, let address, let secretFile):
            let message = WebhookMessage(notice, id: entry.message.event)
            let delivery = await channels.webhook(message, address, secretFile, now())
            try await settle([entry], notice, .webhook(address: address, secretFile: secretFile), delivery)
        case .mail(let key): try await sendMail(key)
        }
    }

    /// The most messages that are gathered in one mail.
    private static let mostGathered = 1000

    private func sendMail(_ key: MailKey) async throws {
        let (time, target) = (now(), NotificationTarget.mail(key.address))
        let (entries, last) = try await onStore { store in
            (
                try store.dueMessages(at: time, to: target.outboxName, about: key.job, limit: Self.mostGathered),
                try store.lastDelivery(to: target.outboxName, about: key.job)
            )
        }
        let unstored = delivered.withLock { $0 }
        let open = entries.filter { !unstored.contains($0.message.event) }
        var digest = MailDigest(lastSent: last)
        // Messages that cannot be read are given up when they are due.
        let notices = open.compactMap { try? StoredNotice.notice($0.message.body) }
        for notice in notices { digest.add(notice) }
        guard let due = digest.due(at: time), let newest = notices.last, let identifier = open.last?.message.event
        else {
            return
        }
        guard let batch = digest.take(at: time) else {
            let events = open.map(\.message.event)
            return try await onStore { try $0.postpone(events, until: due) }
        }
        let delivery = await channels.mail(MailMessage(batch, to: key.address, id: identifier, sent: time))
        try await settle(open, newest, target, delivery)
    }

    // MARK: What became of a try

    private func settle(
        _ entries: [OutboxEntry], _ notice: Notice, _ target: NotificationTarget, _ delivery: Delivery
    ) async throws {
        let (time, events) = (now(), entries.map(\.message.event))
        let words: String
        switch delivery {
        case .delivered: return try await store(delivered: events)
        case .refused(let text): words = text
        case .later(let text):
            // The service ends, and has ended the program. The next service tries again.
            if Task.isCancelled { return }
            words = text
        }
        let mayRetry = if case .later = delivery { true } else { false }
        let jitter = jitter()
        let plan = entries.map { entry in
            (
                event: entry.message.event,
                next: mayRetry
                    ? RedeliveryPolicy.next(
                        after: entry.tries + 1, created: entry.created ?? time, now: time, jitter: jitter)
                    : nil
            )
        }
        let next = plan.compactMap(\.next).min()
        note(
            "\(VisibleText.line(notice.job)): the notice to \(target.shown) was not delivered, and is "
                + (next.map { "tried again at \($0)" } ?? "given up") + ": \(words)")
        try await onStore { store in
            for step in plan { try store.failed(step.event, error: words, next: step.next, at: time) }
        }
    }

    private func store(delivered events: [String]) async throws {
        let time = now()
        do {
            try await onStore { try $0.delivered(events, at: time) }
            delivered.withLock { $0.subtract(events) }
        } catch {
            delivered.withLock { $0.formUnion(events) }
            throw error
        }
    }

    private func giveUp(_ entry: OutboxEntry, _ reason: String) async throws {
        let (time, event) = (now(), entry.message.event)
        note("the notice \(VisibleText.line(event)) is given up: \(reason)")
        try await onStore { try $0.failed(event, error: reason, next: nil, at: time) }
    }
}

extension OutboxEntry {
    /// When its message was made. Nil if it cannot be read.
    fileprivate var created: WallTime? { (try? StoredNotice.notice(message.body))?.time }
}
