import Coordination
package import FoundationEssentials
import JobModel
import Notifications
package import QueueStorage
package import Queueing
import Settings

/// Reports jobs that have not succeeded by the time of day that the config file expects. Each day is judged once.
package struct LateJobs: Sendable {
    private let rules: [Rule]
    private let origin: NoticeOrigin
    private let store: QueueStore
    private let lastSuccess: @Sendable (String) throws -> WallTime?

    private struct Rule: Sendable {
        let expected: ExpectedSuccess
        let policy: LatenessPolicy
        /// `06:00 Europe/Berlin`
        let words: String
        /// Another rule has another one. The last time that was judged is stored under it.
        let name: String
    }

    /// - Parameters:
    ///   - zone: the zone of rules that name none.
    ///   - lastSuccess: when a job of a name has succeeded last. Nil if never. May block.
    /// - Throws: ``InputError`` for a zone that does not exist.
    package init(
        _ rules: NoticeRules, _ origin: NoticeOrigin, store: QueueStore, zone: TimeZone,
        lastSuccess: @escaping @Sendable (String) throws -> WallTime?
    ) throws {
        self.rules = try rules.late.map { expected in
            let zone = try expected.zone.map { try Schedule.zone(named: $0) } ?? zone
            // As the config has it: Foundation calls UTC GMT.
            let words = "\(expected.time) \(expected.zone ?? zone.identifier)"
            return Rule(
                expected: expected, policy: try LatenessPolicy(minute: expected.minute, zone: zone), words: words,
                name: ShortDigest.text(expected.job, words))
        }
        self.origin = origin
        self.store = store
        self.lastSuccess = lastSuccess
    }

    private static let longestPause = Duration.seconds(600)
    private static let shortestPause = Duration.seconds(1)

    /// Judges until the task is cancelled.
    ///
    /// - Parameters:
    ///   - sleep: waits for a time, or until its task is cancelled.
    ///   - found: is called if there are new messages.
    ///   - note: gets a line for the service's log.
    package func run(
        now: @escaping @Sendable () -> WallTime, sleep: @escaping @Sendable (Duration) async throws -> Void,
        found: @escaping @Sendable () -> Void, note: @escaping @Sendable (String) -> Void
    ) async {
        var pause = Duration.zero
        repeat {
            pause = Self.longestPause
            do {
                let time = now()
                let judged = try await Blocking.run { () throws -> (hasMessages: Bool, next: WallTime?) in
                    try judge(at: time)
                }
                if judged.hasMessages { found() }
                if let next = judged.next { pause = min(pause, max(Self.shortestPause, next - now())) }
            } catch {
                note("lateness cannot be judged: \((error as? QueueStoreError)?.message ?? "\(error)")")
            }
            // The sleep fails when the service ends.
        } while (try? await sleep(pause)) != nil
    }

    /// Judges all jobs whose time has come, and stores messages of those that are late. Blocks.
    ///
    /// A rule that is new is judged from now on.
    ///
    /// - Returns: whether there are new messages, and when to judge again; nil if there are no rules.
    package func judge(at now: WallTime) throws -> (hasMessages: Bool, next: WallTime?) {
        var (hasMessages, next) = (false, WallTime?.none)
        for rule in rules {
            let isLate = try judge(rule, at: now)
            hasMessages = hasMessages || isLate.hasMessages
            next = [next, isLate.next].compactMap { $0 }.min()
        }
        return (hasMessages, next)
    }

    private func judge(_ rule: Rule, at now: WallTime) throws -> (hasMessages: Bool, next: WallTime?) {
        let setting = QueueStore.Setting(name: "late-\(rule.name)")
        guard let judged = try store[setting].flatMap({ Int64($0) }).map(WallTime.init(milliseconds:)) else {
            try store.enqueue([], setting: (setting, "\(now.milliseconds)"), at: now)
            return (false, rule.policy.decision(since: now, lastSuccess: nil, at: now).next)
        }
        // Without a look at the runs, as long as nothing is due.
        let due = rule.policy.decision(since: judged, lastSuccess: nil, at: now)
        guard due.judged != judged else { return (false, due.next) }
        let success = try lastSuccess(rule.expected.job)
        let decision = rule.policy.decision(since: judged, lastSuccess: success, at: now)
        var messages: [OutboxMessage] = []
        if let late = decision.lateSince {
            let lateness = Notice.Lateness(expectedBy: late, rule: rule.words, lastSuccess: success)
            let notice = Notice(
                job: rule.expected.job, host: origin.host, time: now, command: "penumbra status\(origin.stateOption)",
                event: .late(lateness))
            messages = origin.messages(
                notice, to: NoticeRules.each(rule.expected.targets), event: "late-\(rule.name)-\(late.seconds)")
        }
        try store.enqueue(messages, setting: (setting, "\(decision.judged.milliseconds)"), at: now)
        return (!messages.isEmpty, decision.next)
    }
}
