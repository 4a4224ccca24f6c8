import GRDB
import QueueStorage
import Queueing
import TestSupport

/// A service's folder with its database.
struct StoredQueue {
    let folder: TemporaryFolder
    let store: QueueStore

    init(settings: String = "") throws {
        folder = try TemporaryFolder()
        store = try QueueStore(folder: folder.path, settings: settings)
    }

    var path: String { folder.file(QueueStore.fileName) }

    /// Another connection, which does what no version of Penumbra would do.
    func change(_ sql: String) throws {
        let raw = try DatabaseQueue(path: path)
        try raw.writeWithoutTransaction { try $0.execute(sql: sql) }
        try raw.close()
    }

    @discardableResult
    func submit(
        owner: Owner = .user(1000), key: String? = nil, digest: String = "d", name: String = "night",
        manifest: ManifestSource = .file, priority: Int = 50, labels: [String: String] = [:], needs: [Need] = [],
        isHeld: Bool = false, notBefore: WallTime? = nil, schedule: ScheduleStep? = nil, at time: WallTime = .noon
    ) throws -> Submission {
        try store.insert(JobRequest(owner: owner, key: key, digest: digest), schedule: schedule, at: time) {
            id, known in
            try Submission(
                id: id, owner: owner, key: key, digest: digest, name: name, manifest: manifest,
                priority: Priority(priority), labels: Labels(labels), needs: needs, isHeld: isHeld,
                notBefore: notBefore, at: time, known: known)
        }.job
    }

    /// Submits a job, runs it, and ends it.
    @discardableResult
    func end(
        name: String = "night", code: Int? = 0, key: String? = nil, needs: [Need] = [], at time: WallTime = .noon
    ) throws -> Submission {
        var job = try submit(key: key, name: name, needs: needs, at: time)
        try job.start(run: "run-\(job.id.number)", at: time)
        try job.processEnded(
            code: code, leaving: code == nil ? .interrupted : .ended, text: "", progressed: false, at: time)
        try store.update(job, at: time)
        return job
    }
}

extension ManifestSource {
    static let file = ManifestSource(.file(path: "/srv/a/night.yaml"), digest: "m")
}

extension WallTime {
    static let noon = WallTime(milliseconds: 1_795_608_000_000)

    static func noon(plus seconds: Int) -> WallTime { noon + .seconds(seconds) }

    static func noon(plusDays days: Int) -> WallTime { noon + .seconds(days * 86_400) }
}

/// The message of the error. Nil if there was none.
func message(_ body: () throws -> Void) -> String? {
    do {
        try body()
        return nil
    } catch let error as QueueStoreError {
        return error.message
    } catch let refusal as Refusal {
        return refusal.message
    } catch let error as InputError {
        return error.message
    } catch {
        return "\(error)"
    }
}

/// The problem of the error. Nil if there was none, or another error.
func problem(_ body: () throws -> Void) -> QueueStoreError.Problem? {
    do {
        try body()
        return nil
    } catch {
        return (error as? QueueStoreError)?.problem
    }
}
