import Coordination
import HTTPService
import JobModel
import QueueStorage
import Queueing
import ServiceAPI
import Settings
import Supervision

/// What `penumbra doctor` asks.
extension Service {
    var diagnosisRoutes: [Route] {
        [
            .api(.get, "/diagnosis", .admin) { request in
                return try .json(encoding: try await diagnosis())
            }
        ]
    }

    /// Reads the whole database, beside the queue and without keeping it from writing.
    private func diagnosis() async throws -> ServiceDiagnosis {
        let condition = try await supervisor.condition()
        let (store, folder) = (store, QueueStore.backupFolder(of: about.serviceFolder))
        let failures = await schedules.failures
        let yesterday = now() + .seconds(-86_400)
        let (problems, undelivered, backup) = try await Blocking.run { () throws in
            // More would not fit on a screen, and say the same.
            (
                Array(try store.checkIntegrity().prefix(20)),
                try store.undeliveredMessages(since: yesterday).map(Self.words), QueueStore.lastBackup(in: folder)
            )
        }
        return ServiceDiagnosis(
            version: about.version, pid: about.processID, isDrained: condition.limits.isDrained,
            trouble: condition.trouble, problems: problems,
            schedules: failures, undelivered: undelivered, lastBackup: backup, now: now())
    }

    private static func words(_ messages: UndeliveredMessages) -> String {
        let parts = messages.target.split(separator: ":", maxSplits: 1).map(String.init)
        // Addresses of webhooks are often secret.
        let address = parts.first == "webhook" ? NotificationTarget.host(of: parts.last ?? "") : parts.last ?? ""
        let count = messages.count == 1 ? "a notice" : "\(messages.count) notices"
        // The outbox has an error in one line. Its remedies are in the log.
        let end = messages.error.firstRange(of: #"\u{a}"#)?.lowerBound ?? messages.error.endIndex
        let error = messages.error[..<end]
        let next = messages.next.map { "; the next try is at \($0.text)" } ?? ""
        return
            "\(count) to \(VisibleText.line("\(parts.first ?? "") \(address)")) could not be delivered: \(error)\(next)"
    }
}
