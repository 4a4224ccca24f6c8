import NoticeDelivery
import Notifications
import QueueStorage
import Queueing
import Settings
import Synchronization
import TestSupport

/// A real database, a clock that is moved by hand, and channels that record what they get.
final class Fixture: Sendable {
    struct Sent: Hashable, Sendable {
        let id: String
        let target: String
        let text: String
    }

    private struct State {
        var now = WallTime.noon
        var sent: [Sent] = []
        var notes: [String] = []
        /// What becomes of the next tries. Afterwards everything is delivered.
        var answers: [Delivery] = []
    }

    let folder: TemporaryFolder
    let store: QueueStore
    let origin = NoticeOrigin(service: "farm", host: "render1")
    private let state = Mutex(State())

    init(store settings: String = "") throws {
        folder = try TemporaryFolder()
        store = try QueueStore(folder: folder.path, settings: settings)
    }

    // MARK: The world

    var now: WallTime { state.withLock { $0.now } }
    func pass(_ seconds: Int) { state.withLock { $0.now = $0.now + .seconds(seconds) } }
    func answer(_ answers: Delivery...) { state.withLock { $0.answers = answers } }
    var notes: [String] { state.withLock { $0.notes } }

    /// What was sent since the last look.
    func takeSent() -> [Sent] {
        state.withLock { state in
            defer { state.sent = [] }
            return state.sent
        }
    }

    private func send(_ sent: Sent) -> Delivery {
        state.withLock { state in
            state.sent.append(sent)
            return state.answers.isEmpty ? .delivered : state.answers.removeFirst()
        }
    }

    func sender(_ rules: NoticeRules) -> NoticeSender {
        NoticeSender(
            rules, store: store,
            channels: .init(
                webhook: { [self] message, address, secret, _ in
                    send(Sent(id: message.id, target: address + (secret.map { " \($0)" } ?? ""), text: message.body))
                },
                mail: { [self] message in send(Sent(id: "", target: "mail", text: message.text)) }),
            now: { [self] in now }, jitter: { 0.5 }, note: { [self] line in state.withLock { $0.notes.append(line) } })
    }

    // MARK: Jobs

    func submit(_ name: String = "night") throws -> Submission {
        try store.insert(JobRequest(owner: .user(1000), key: nil, digest: "d"), at: now) { id, known in
            try Submission(
                id: id, owner: .user(1000), digest: "d", name: name,
                manifest: ManifestSource(.file(path: "/srv/night.yaml"), digest: "m"), at: now, known: known)
        }.job
    }

    /// A job that ends now, and its messages in the same transaction.
    @discardableResult
    func end(_ name: String = "night", code: Int, text: String = "", _ rules: NoticeRules) throws -> Submission {
        var job = try submit(name)
        try job.start(run: "run-\(job.id.number)", at: now)
        try job.processEnded(code: code, leaving: .ended, text: text, progressed: true, at: now)
        try store.update(job, messages: messages(of: job, rules), at: now)
        return job
    }

    func messages(of job: Submission, _ rules: NoticeRules) -> [OutboxMessage] {
        EndNotices(rules, origin, stateFolder: folder.file("state")).messages(of: job)
    }
}

extension WallTime {
    static let noon = WallTime(milliseconds: 1_795_608_000_000)
}

extension NotificationTarget {
    static let hook = webhook(address: "https://example.org/hook", secretFile: "/etc/secret")
    static let ops = mail("ops@example.org")
}
