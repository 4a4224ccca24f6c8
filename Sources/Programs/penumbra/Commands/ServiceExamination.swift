import Coordination
import Glibc
import JobModel
import QueueStorage
import Queueing
import RenderFarm
import ServiceAPI
import ServiceClient
import WorkerProtocol

/// Checks the service of this machine for `penumbra doctor`.
struct ServiceExamination {
    let folder: ServiceFolder
    /// Whether the user has named the folder. Otherwise a farm without a service is as well.
    let isNamed: Bool

    /// The service makes a backup a day.
    private static let oldestBackup = Duration.seconds(2 * 86400)

    func run() async throws -> RunOutcome {
        guard access(folder.path, F_OK) == 0 else {
            guard isNamed else { return .done }
            return fail("\(VisibleText.line(folder.path)): there is no service folder", .missingInput)
        }
        let modes = max(
            examineMode(folder.path, 0o700),
            max(examineMode(folder.controlSocket, 0o600), examineMode(folder.webSocket, 0o660)))
        return max(modes, try await examineService())
    }

    /// Files that do not exist are fine.
    private func examineMode(_ path: String, _ most: mode_t) -> RunOutcome {
        var found = stat()
        guard lstat(path, &found) == 0 else { return .done }
        let mode = found.st_mode & 0o777
        guard mode & ~most != 0 else { return .done }
        let words =
            "others may use it (mode \(String(mode, radix: 8))); 'chmod \(String(most, radix: 8))' keeps them out"
        return fail("\(VisibleText.line(path)): \(words)", .unavailable)
    }

    private func examineService() async throws -> RunOutcome {
        let diagnosis: ServiceDiagnosis
        do {
            let address = try ServiceAddress(socket: folder.controlSocket)
            diagnosis = try await Blocking.run { () throws in
                try APIClient(address).call(ClientRequest(.get, "/diagnosis"), as: ServiceDiagnosis.self)
            }
        } catch let error as ServiceError {
            // It may be stopped on purpose. Its queue waits in the database.
            guard error.problem != .noService else {
                Console.print(
                    "note  service folder \(VisibleText.line(folder.path)): no service runs; 'penumbra serve' starts it"
                )
                return try await examineStoppedService()
            }
            return fail("service: \(error.message)", error.outcome)
        }
        return report(diagnosis)
    }

    /// Looks at the files of a service that does not run. It may be stopped because of them.
    private func examineStoppedService() async throws -> RunOutcome {
        let folder = folder
        guard access(folder.database, F_OK) == 0 else { return .done }
        let (problems, backup): ([String], WallTime?)
        do {
            (problems, backup) = try await Blocking.run { () throws in
                let store = try QueueStore(readOnly: folder.path)
                defer { store.close() }
                return (
                    Array(try store.checkIntegrity().prefix(20)),
                    QueueStore.lastBackup(in: QueueStore.backupFolder(of: folder.path))
                )
            }
        } catch let error as QueueStoreError {
            guard error.problem != .notMigrated else {
                Console.print("note  the service's database is of an earlier version; the next start changes it")
                return .done
            }
            return fail(error.message, .storage)
        }
        if problems.isEmpty { Console.print("ok    database \(VisibleText.line(folder.database)): whole") }
        for problem in problems { _ = fail(problem, .storage) }
        Console.print("note  backup of the service's database: \(backup?.text ?? "none")")
        return problems.isEmpty ? .done : .storage
    }

    private func report(_ diagnosis: ServiceDiagnosis) -> RunOutcome {
        var worst = RunOutcome.done
        Console.print("ok    service \(VisibleText.line(folder.path)): answers, process \(diagnosis.pid)")
        if diagnosis.version != Version.penumbra {
            let words = "the service is \(VisibleText.line(diagnosis.version)), and penumbra is \(Version.penumbra)"
            worst = max(worst, fail("\(words): start the service again", .unavailable))
        }
        if diagnosis.problems.isEmpty { Console.print("ok    database \(VisibleText.line(folder.database)): whole") }
        for problem in diagnosis.problems { worst = max(worst, fail(problem, .storage)) }
        if let trouble = diagnosis.trouble { worst = max(worst, fail(trouble, .storage)) }
        for trouble in (diagnosis.schedules ?? []) + (diagnosis.undelivered ?? []) {
            worst = max(worst, fail(trouble, .unavailable))
        }
        worst = max(worst, report(diagnosis.lastBackup, diagnosis.now))
        if diagnosis.isDrained {
            Console.print("note  the service is drained: no job starts until 'penumbra queue undrain'")
        }
        return worst
    }

    private func report(_ backup: WallTime?, _ now: WallTime) -> RunOutcome {
        guard let backup else { return fail("no backup of the service's database; its log says why", .storage) }
        guard now - backup <= Self.oldestBackup else {
            return fail("the last backup of the service's database is of \(backup.text); its log says why", .storage)
        }
        Console.print("ok    backup of the service's database: \(backup.text)")
        return .done
    }

    private func fail(_ text: String, _ outcome: RunOutcome) -> RunOutcome {
        Console.print("FAIL  \(text)")
        return outcome
    }
}
