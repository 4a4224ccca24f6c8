import FoundationEssentials
package import JobModel
package import QueueStorage
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
    private let notices: @Sendable (ScheduleTrouble) -> [OutboxMessage]
    let now: @Sendable () -> WallTime
    private let uptime: @Sendable () -> ContinuousClock.Instant
    private let sleep: @Sendable (Duration) async throws -> Void
    /// Why a schedule submits nothing now.
    var problems: [String: String] = [:]
    /// Schedules whose problem keeps jobs from being submitted. It is no failure if a time passes because of a rule.
    private var failing: Set<String> = []
    /// Since when errors that may pass have kept a schedule from submitting its job.
    private var delayed: [String: WallTime] = [:]
    /// The last notice of each schedule, by one of its messages, so that a look does not store it again.
    private var lastNotices: [String: String] = [:]
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
    /// A notice is sent of an error that may pass if it lasts for so long.
    package static let patience = Duration.seconds(300)

    /// - Parameters:
    ///   - manifests: reads the manifests of watched folders.
    ///   - noted: takes lines for the service's own log.
    ///   - notices: makes the messages to those who are told of failures. The same trouble gets the same messages.
    ///   - uptime: a clock that nobody sets.
    ///   - sleep: waits for a time, or until its task is cancelled.
    package init(
        _ supervisor: Supervisor, manifests: any WatchedManifests, noted: @escaping @Sendable (String) -> Void,
        notices: @escaping @Sendable (ScheduleTrouble) -> [OutboxMessage] = { _ in [] },
        now: @escaping @Sendable () -> WallTime,
        uptime: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.supervisor = supervisor
        self.manifests = manifests
        self.noted = noted
        self.notices = notices
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
            for row in unreadable { await tell(row.subject, ScheduleProblem(row.message, outcome: .storage)) }
            for schedule in schedules where schedule.isEnabled {
                do {
                    wanted[schedule.name] = try ScheduleSpecification(schedule)
                } catch {
                    let failure = ScheduleFailure(error)
                    await tell(
                        schedule.name,
                        ScheduleProblem("schedule '\(schedule.name)': \(failure.words)", outcome: failure.outcome))
                }
            }
        } catch {
            supervisor.note(error)
            return false
        }
        for (name, schedule) in followed where wanted[name] != schedule.spec {
            schedule.task.cancel()
            followed[name] = nil
            (problems[name], delayed[name]) = (nil, nil)
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
                await self?.checkManifest(of: name, spec)
                while !Task.isCancelled, let pause = await self?.look(at: name) {
                    // It fails if the task is cancelled.
                    try? await sleep(pause)
                }
            }
        case .watch:
            let folder = WatchedFolder(
                name: name, spec: spec, supervisor: supervisor, manifests: manifests,
                told: { [weak self] problem in await self?.tell(name, problem) }, now: now, uptime: uptime)
            return Task { await folder.run(sleep: sleep) }
        }
    }

    // MARK: Times

    /// Reads the manifest of a schedule when the service begins to follow it, so that a mistake is known before its time comes.
    package func checkManifest(of name: String, _ spec: ScheduleSpecification) async {
        let order = SubmissionOrder(spec.schedule.job, owner: .schedule(name), key: "", after: nil)
        do {
            _ = try await supervisor.check(order.place, name: order.name, order.options)
        } catch {
            let failure = ScheduleFailure(error)
            // Other errors are looked at when the time has come.
            guard !failure.isPassing, problems[name] == nil else { return }
            tell(name, "schedule '\(name)': its manifest was wrong at \(now()): \(failure.words)", isFailure: true)
        }
    }

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
            let failure = ScheduleFailure(error)
            await tell(
                name,
                ScheduleProblem(
                    "schedule '\(name)': \(failure.words)", outcome: failure.outcome, mayPass: failure.isPassing))
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
            (problems[stored.name], delayed[stored.name]) = (nil, nil)
        } catch {
            let failure = ScheduleFailure(error)
            guard !failure.isPassing else { throw error }
            // A service that is killed before the time has passed stores the same notice again, which is then there already.
            await tell(
                stored.name,
                ScheduleProblem(
                    "schedule '\(stored.name)': no job for \(last): \(failure.words)", outcome: failure.outcome))
            // A manifest that is wrong now is read again at the next time.
            try await supervisor.onStore { try $0.pass(step) }
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

    /// Logs a problem that keeps a schedule from submitting its job, and sends a notice of it.
    ///
    /// - Parameter problem: nil if nothing is wrong.
    private func tell(_ name: String, _ problem: ScheduleProblem?) async {
        let time = now()
        if problem?.mayPass == true {
            if delayed[name] == nil { delayed[name] = time }
        } else {
            delayed[name] = nil
        }
        if let problem, let outcome = problem.outcome, delayed[name].map({ time - $0 >= Self.patience }) ?? true {
            let messages = notices(
                ScheduleTrouble(name: name, words: problem.words, exitCode: Int(outcome.rawValue), time: time))
            do {
                if let first = messages.first?.event, lastNotices[name] != first {
                    try await supervisor.onStore { try $0.enqueue(messages, at: time) }
                    lastNotices[name] = first
                }
            } catch {
                supervisor.note(error)
            }
        }
        tell(name, problem?.words, isFailure: problem?.outcome != nil)
    }

    /// Why schedules and watched folders submit no jobs now.
    package var failures: [String] { failing.compactMap { problems[$0] }.sorted() }

    /// Each problem is told once, until it changes.
    ///
    /// - Parameter words: nil if nothing is wrong.
    func tell(_ name: String, _ words: String?, isFailure: Bool = false) {
        if isFailure { failing.insert(name) } else { failing.remove(name) }
        guard problems[name] != words else { return }
        problems[name] = words
        if let words { noted(words) }
    }
}

/// What is wrong with a schedule or a watched folder.
package struct ScheduleProblem: Hashable, Sendable {
    package let words: String
    /// Nil if jobs are submitted nevertheless.
    package let outcome: RunOutcome?
    /// Whether the next look may go better without anybody's doing.
    package let mayPass: Bool

    package init(_ words: String, outcome: RunOutcome?, mayPass: Bool = false) {
        self.words = words
        self.outcome = outcome
        self.mayPass = mayPass
    }
}
