import Queueing
import Terminals

extension WallTime {
    /// For people: `2026-11-26 23:04:05 +01:00`.
    var local: String { LocalTime.text(seconds) }
}

extension WaitReason {
    /// ``words`` with local times.
    var localWords: String { time.map { words.replacing($0.text, with: $0.local) } ?? words }
}
