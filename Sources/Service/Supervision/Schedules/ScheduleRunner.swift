import FoundationEssentials
import JobModel
import QueueStorage
package import Queueing
import ServiceAPI

/// Submits the jobs of schedules and of watched folders.
///
/// All facts are in the database. So any number of looks decide the same, and a killed service continues where it was.
/// Each schedule and each watched folder has a task of its own: a file system that does not answer holds up that one alone.
package actor ScheduleRunner {
    let supervisor: Supervisor
    let manifests: any WatchedManifests
    let noted: @Sendable (String) -> Void
    let now: @Sendable () -> WallTime
    private let uptime: @Sendable () -> ContinuousClock.Instant
    private let sleep: @Sendable (Duration) async throws -> Void
    /// Why a schedule submits nothing now.
    var problems: [String: String] = [:]
    private var followed: [String: Followed] = [:]
    private let wakes: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)

    private struct Followed {
        let spec: ScheduleSpecification
        let task: Task<Void, Never>
    }

    /// The wall clock may be set, so the times are compared with it this often.
    private static let longestPause = Duration.seconds(60)
    /// After an error that may pass.
    static let retryPause = Duration.seconds(10)

    /// - Parameters:
    ///   - manifests: reads the manifests of watched folders.
    ///   - noted: takes lines for the service's own log.
    ///   - uptime: a clock that nobody sets.
    ///   - sleep: waits for a time, or until its task is cancelled.
    package init(
        _ supervisor: Supervisor, manifests: any WatchedManifests, noted: @escaping @Sendable (String) -> Void,
        now: @escaping @Sendable () -> WallTime,
        uptime: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.supervisor = supervisor
        self.manifests = manifests
        self.noted = noted
        self.now = now
        self.uptime = uptime
        self.sleep = sleep
        wakes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    // MARK: The loop

    /// Submits jobs until its task is cancelled.
    package func run() async {
        let (wakes, sleep) = (wakes, sleep)
        var timer: Task<Void, Never>?
        wakes.continuation.yield()
        for await _ in wakes.stream {
            timer?.cancel()
            let pause = await follow() ? Self.longestPause : Self.retryPause
            // The sleep fails if the timer was cancelled.
            timer = Task { if (try? await sleep(pause)) != nil { wakes.continuation.yield() } }
            if Task.isCancelled { break }
        }
        timer?.cancel()
        // Nobody waits for their ends, because a file system may not answer. What they still submit is in the database.
        for schedule in followed.values { schedule.task.cancel() }
        followed = [:]
    }

    /// Looks at once: a schedule has changed.
    func wake() { wakes.continuation.yield() }

    /// Begins and ends tasks, so that there is one for each schedule that is enabled.
    ///
    /// - Returns: false if the database cannot be used.
    private func follow() async -> Bool {
        var wanted: [String: ScheduleSpecification] = [:]
        do {
            let (schedules, unreadable) = try await supervisor.onStore { try $0.schedules() }
            for row in unreadable { tell(row.subject, row.message) }
            for schedule in schedules where schedule.isEnabled {
                do {
                    wanted[schedule.name] = try ScheduleSpecification(schedule)
                } catch {
                    tell(schedule.name, "schedule '\(schedule.name)': \(ScheduleFailure(error).words)")
                }
            }
        } catch {
            supervisor.note(error)
            return false
        }
        for (name, schedule) in followed where wanted[name] != schedule.spec {
            schedule.task.cancel()
            followed[name] = nil
            problems[name] = nil
        }
        for (name, spec) in wanted where followed[name] == nil {
            followed[name] = Followed(spec: spec, task: task(name, spec))
        }
        return true
    }

    private func task(_ name: String, _ spec: ScheduleSpecification) -> Task<Void, Never> {
        let sleep = sleep
        switch spec.kind {
        case .cron:
            return Task { [weak self] in
                while !Task.isCancelled, let pause = await self?.look(at: name) {
                    // It fails if the task is cancelled.
                    try? await sleep(pause)
                }
            }
        case .watch:
            let folder = WatchedFolder(
                name: name, spec: spec, supervisor: supervisor, manifests: manifests,
                told: { [weak self] words in await self?.tell(name, words) }, now: now, uptime: uptime)
            return Task { await folder.run(sleep: sleep) }
        }
    }

    // MARK: Times

    /// Submits the job of a schedule if one of its times has come.
    ///
    /// - Returns: for how long nothing more is due.
    package func look(at name: String) async -> Duration {
        do {
            guard let stored = try await supervisor.onStore({ try $0.schedule(named: name) }), stored.isEnabled else {
                return Self.longestPause
            }
            return min(Self.longestPause, try await look(at: stored, ScheduleSpecification(stored)))
        } catch {
            tell(name, "schedule '\(name)': \(ScheduleFailure(error).words)")
            return Self.retryPause
        }
    }

    private func look(at stored: StoredSchedule, _ spec: ScheduleSpecification) async throws -> Duration {
        guard let schedule = try Self.schedule(spec.schedule) else { return Self.longestPause }
        let lastJob = try await supervisor.onStore { try $0.lastJob(of: stored) }
        let decision = schedule.decision(since: stored.last, lastJob: lastJob, at: now())
        switch decision.action {
        case nil: break
        case .pass(let time, let reason):
            let step = ScheduleStep(name: stored.name, last: time)
            try await supervisor.onStore { try $0.pass(step) }
            tell(stored.name, "schedule '\(stored.name)': no job for \(time): \(reason.words)")
        case .submit(let key, let time):
            guard try await submit(spec, stored, key: key, last: time, after: lastJob) else { return .zero }
        }
        return decision.next.map { max(.zero, $0 - now()) } ?? Self.longestPause
    }

    /// - Returns: false if the schedule has changed meanwhile.
    private func submit(
        _ spec: ScheduleSpecification, _ stored: StoredSchedule, key: String, last: WallTime,
        after lastJob: Schedule.LastJob?
    ) async throws -> Bool {
        var earlier: JobID?
        if case .running(let job) = lastJob { earlier = job }
        let step = ScheduleStep(name: stored.name, last: last)
        do {
            let order = SubmissionOrder(
                spec.schedule.job, owner: .schedule(stored.name), key: key, after: earlier)
            guard try await supervisor.submit(order, step: step, of: stored) != nil else { return false }
            problems[stored.name] = nil
        } catch {
            let failure = ScheduleFailure(error)
            guard !failure.isPassing else { throw error }
            // A manifest that is wrong now is read again at the next time.
            try await supervisor.onStore { try $0.pass(step) }
            tell(stored.name, "schedule '\(stored.name)': no job for \(last): \(failure.words)")
        }
        return true
    }

    /// The times of a schedule. Nil for a watch.
    ///
    /// - Throws: ``InputError`` if this machine does not know the zone.
    static func schedule(_ request: ScheduleRequest) throws(InputError) -> Schedule? {
        guard case .times(let cron, let zone, let missed, let overlap) = request.trigger else { return nil }
        var place = TimeZone.current
        if let zone { place = try Schedule.zone(named: zone) }
        return try Schedule(name: request.name, cron: cron, zone: place, missed: missed, overlap: overlap)
    }

    /// Each problem is told once, until it changes.
    ///
    /// - Parameter words: nil if nothing is wrong.
    func tell(_ name: String, _ words: String?) {
        guard problems[name] != words else { return }
        problems[name] = words
        if let words { noted(words) }
    }
}
