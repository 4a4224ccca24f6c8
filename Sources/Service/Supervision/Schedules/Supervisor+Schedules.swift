import ContentNames
import JobModel
import RenderFarm
package import QueueStorage
package import Queueing
import ServiceAPI

extension Supervisor {
    /// Submits the job of a schedule, and stores how far the schedule has come, in one transaction.
    ///
    /// The order's key alone says which job it is. So a time is submitted once, even if somebody changes the schedule's
    /// job between two tries.
    ///
    /// - Parameter expected: the schedule as it was decided on.
    /// - Returns: nil if the schedule is not as expected any more.
    /// - Throws: ``ManifestRefusal``, ``InputError``, ``Refusal``, ``FullQueue``, ``QueueStoreError``.
    package func submit(
        _ order: SubmissionOrder, step: ScheduleStep, of expected: StoredSchedule
    ) async throws -> Insertion? {
        let digest = try Self.digest(of: Array("\(order.owner) \(order.key ?? "")".utf8))
        let manifest = try await checker.check(order.place, name: order.name, order.options)
        return try await onThread { [self] in
            guard try store.schedule(named: expected.name) == expected else { return nil }
            let time = now()
            let insertion = try store.insert(
                JobRequest(owner: order.owner, key: order.key, digest: digest), schedule: step,
                audit: {
                    AuditEntry(
                        at: time, caller: order.owner.text, action: "submit", subject: "\($0.id)", detail: $0.name)
                }, at: time
            ) { id, known in
                try refuseIfFull(for: [order.place])
                return try Submission(
                    id: id, owner: order.owner, key: order.key, digest: digest, name: manifest.job,
                    manifest: ManifestSource(order.place, digest: manifest.digest, fileName: order.name),
                    options: order.options,
                    priority: order.priority ?? .normal, labels: order.labels,
                    // An old job may be removed at any time.
                    needs: order.needs.filter { known($0.job) != nil }, at: time, known: known)
            }
            if case .new(let job) = insertion {
                put([job])
                observer.step(.submitted)
                wake()
            }
            return insertion
        }
    }
}

extension SubmissionOrder {
    /// The order of a schedule's job.
    ///
    /// - Parameter earlier: a job that has not ended, for which it waits.
    init(_ request: SubmitRequest, owner: Owner, key: String, after earlier: JobID?) {
        let place: ManifestSource.Place
        let name: String?
        switch request.source {
        case .file(let path): (place, name) = (.file(path: path), nil)
        case .text(let text, let folder, let job): (place, name) = (.uploaded(text: text, folder: folder), job)
        }
        self.init(owner: owner, key: key, place: place, name: name)
        (options, priority, labels) = (request.options, request.priority, request.labels)
        needs = earlier.map { [Need($0, on: .end)] } ?? []
    }
}

extension QueueStore {
    /// What has become of the job that a schedule submitted last. Nil if there was none, or if it is not known any more.
    func lastJob(of schedule: StoredSchedule) throws -> Schedule.LastJob? {
        guard let id = schedule.lastJob else { return nil }
        let job: Submission?
        do {
            job = try self.job(id)
        } catch let error as QueueStoreError {
            // A job that cannot be read does not run. The schedule goes on.
            guard case .unreadable = error.problem else { throw error }
            return nil
        }
        guard let job else { return nil }
        switch job.state {
        case .ended: return .ended
        // A job that has had a process may have looked for its pictures before the next ones came.
        case .held(let waiting), .waiting(let waiting):
            return waiting.history.tries == 0 ? .waiting(id) : .running(id)
        case .starting, .running: return .running(id)
        }
    }
}

/// Why a schedule or a watched folder submits no job now.
package struct ScheduleTrouble: Hashable, Sendable {
    /// The name of the schedule.
    package let name: String
    package let words: String
    /// That of `penumbra run` for this reason.
    package let exitCode: Int
    package let time: WallTime

    package init(name: String, words: String, exitCode: Int, time: WallTime) {
        (self.name, self.words, self.exitCode, self.time) = (name, words, exitCode, time)
    }
}

/// The words of an error for which a schedule submits no job, and whether the next look may go better.
struct ScheduleFailure {
    let words: String
    let isPassing: Bool
    var outcome: RunOutcome = .badManifest

    init(_ error: any Error) {
        switch error {
        case let error as ManifestRefusal:
            let first = error.errors.first
            let place = first?.line.map { ":\($0)" } ?? ""
            let manifest = VisibleText.line(error.manifest)
            let message = first?.message ?? "the manifest is not accepted"
            words = message.hasPrefix(manifest) ? message : "\(manifest)\(place): \(message)"
            isPassing = false
            outcome = error.outcome
        case let error as BodyError:
            // The other lines tell a caller what to do.
            words = error.message.split(separator: "\n").first.map(String.init) ?? error.message
            isPassing = false
        case let error as InputError: (words, isPassing) = (error.message, false)
        case let error as Refusal: (words, isPassing) = (error.message, false)
        case let error as QueueStoreError: (words, isPassing, outcome) = (error.message, true, .storage)
        case let error as Supervisor.FullQueue: (words, isPassing, outcome) = (error.message, true, .unavailable)
        case _ where FarmError.knows(error):
            let known = FarmError(error)
            (words, isPassing, outcome) = (known.message, true, known.outcome)
        default: (words, isPassing, outcome) = ("\(error)", true, .unavailable)
        }
    }
}
