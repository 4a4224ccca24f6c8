import Coordination
import HTTPService
import QueueStorage
import Queueing
import ServiceAPI
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
        let (problems, backup) = try await Blocking.run { () throws in
            // More would not fit on a screen, and say the same.
            (Array(try store.checkIntegrity().prefix(20)), QueueStore.lastBackup(in: folder))
        }
        return ServiceDiagnosis(
            version: about.version, pid: about.processID, isDrained: condition.limits.isDrained,
            trouble: condition.trouble, problems: problems, lastBackup: backup, now: now())
    }
}
