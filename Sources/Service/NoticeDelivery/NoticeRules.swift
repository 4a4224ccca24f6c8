import ContentNames
import Notifications
import QueueStorage
package import Settings

/// Who is told of what. Only the config file of the service says so.
package struct NoticeRules: Sendable {
    private let onEnd: [NotificationTarget]
    private let onFailure: [NotificationTarget]
    let late: [ExpectedSuccess]

    package init(onEnd: [NotificationTarget] = [], onFailure: [NotificationTarget] = [], late: [ExpectedSuccess] = []) {
        self.onEnd = onEnd
        self.onFailure = onFailure
        self.late = late
    }

    package init(_ settings: Settings) {
        self.init(onEnd: settings.onEnd.value, onFailure: settings.onFailure.value, late: settings.late.value)
    }

    /// Whether anybody is told of ends.
    var tellsOfEnds: Bool { !onEnd.isEmpty || !onFailure.isEmpty }

    /// The targets of the end of a job, each once.
    func targets(isFailure: Bool) -> [NotificationTarget] { Self.each(onEnd + (isFailure ? onFailure : [])) }

    /// A target that the config names, by the name in the outbox. A message to a target that it names no more is not sent.
    func target(named name: String) -> NotificationTarget? {
        (onEnd + onFailure + late.flatMap(\.targets)).first { $0.outboxName == name }
    }

    static func each(_ targets: [NotificationTarget]) -> [NotificationTarget] {
        var seen: Set<String> = []
        return targets.filter { seen.insert($0.outboxName).inserted }
    }
}

extension NotificationTarget {
    /// Names it in the outbox. The file of its secret is not part of it, so that it may be moved.
    var outboxName: String {
        switch self {
        case .webhook(let address, _): "webhook:\(address)"
        case .mail(let address): "mail:\(address)"
        }
    }
}

/// Short names for texts of any length.
enum ShortDigest {
    /// 20 digits of the SHA-256 digest. If the library has none, the text itself would still be as unique.
    static func text(_ parts: String...) -> String {
        let joined = parts.map { "\($0.utf8.count):\($0)" }.joined()
        return SHA256Stream.digest(of: Array(joined.utf8)).map { String($0.prefix(20)) } ?? String(joined.prefix(150))
    }
}
