import FoundationEssentials
import JobModel
import QueueStorage
import Queueing
package import ServiceAPI
package import Settings

/// A request about a schedule that is refused.
package enum ScheduleRefusal: Error, Hashable, Sendable {
    case unknown(String)
    case nameIsUsed(String)
    case tooMany
    /// The config file has it, so a request cannot remove it.
    case isConfigured(String)
    /// The config file does not have it any more.
    case isRemoved(String)

    package var message: String {
        switch self {
        case .unknown(let name):
            "there is no schedule '\(VisibleText.line(String(name.prefix(100))))'\n   = 'penumbra queue schedules' lists them"
        case .nameIsUsed(let name):
            "there is already a schedule '\(name)'\n   = choose another name, or delete it first"
        case .tooMany:
            "there are \(ScheduleRunner.mostSchedules) schedules and watched folders already\n   = delete one of them first"
        case .isConfigured(let name):
            "schedule '\(name)' is in the config file\n   = remove it there, or disable it: 'penumbra queue schedule disable "
                + "\(name)'"
        case .isRemoved(let name):
            "schedule '\(name)' was removed from the config file\n   = add it there again, and restart the service"
        }
    }
}

extension ScheduleRunner {
    // MARK: The config file

    /// - Throws: ``FarmError`` if a value of the file is wrong.
    package static func check(_ configured: [ConfiguredSchedule]) throws {
        for schedule in configured { _ = try request(schedule) }
    }

    /// Makes the schedules of the config file those of the database, at the start of a service.
    ///
    /// A schedule that the file does not have any more is disabled, and how far it has come is kept. If somebody has disabled a
    /// schedule of the file, it stays so.
    ///
    /// - Throws: ``FarmError`` if a value of the file is wrong; ``QueueStoreError``.
    package func synchronise(with configured: [ConfiguredSchedule]) async throws {
        let wanted = try configured.map { try Self.request($0) }
        let time = now()
        let notes = try await supervisor.onStore { store in
            try Self.synchronise(store, wanted, at: time)
        }
        notes.forEach(noted)
        wake()
    }

    /// - Returns: what somebody should know.
    private static func synchronise(
        _ store: QueueStore, _ wanted: [ScheduleRequest], at now: WallTime
    ) throws -> [String] {
        var notes: [String] = []
        var stored: [String: (row: StoredSchedule, spec: ScheduleSpecification?)] = [:]
        for row in try store.schedules().schedules {
            // One that cannot be read is written again if the file has it, and else it stays.
            stored[row.name] = (row, try? ScheduleSpecification(row))
        }
        for request in wanted {
            let new = ScheduleSpecification(request, origin: .config)
            guard let (row, old) = stored.removeValue(forKey: request.name) else {
                try store.add(
                    StoredSchedule(name: request.name, kind: new.kind, spec: new.text(), last: now))
                continue
            }
            if old?.origin == .api {
                notes.append(
                    "schedule '\(request.name)' of the config file is not used: somebody has made one of this name by the "
                        + "API\n   = give one of them another name")
            } else if row.kind != new.kind {
                try store.removeSchedule(named: row.name)
                try store.add(StoredSchedule(name: row.name, kind: new.kind, spec: new.text(), last: now))
            } else if old?.origin == .removed {
                // The times in between are not made up for.
                try store.changeSchedule(
                    named: row.name, spec: new.text(), isEnabled: true, last: new.kind == .cron ? now : nil)
            } else if old != new {
                try store.changeSchedule(named: row.name, spec: new.text(), isEnabled: row.isEnabled)
            }
        }
        for (row, spec) in stored.values.sorted(by: { $0.row.name < $1.row.name }) {
            guard let spec, spec.origin == .config else { continue }
            try store.changeSchedule(
                named: row.name, spec: ScheduleSpecification(spec.schedule, origin: .removed).text(), isEnabled: false)
            notes.append("schedule '\(row.name)' is not in the config file any more, so it is disabled")
        }
        return notes
    }

    private static func request(_ configured: ConfiguredSchedule) throws(FarmError) -> ScheduleRequest {
        do throws(InputError) {
            var job = SubmitRequest(.file(path: configured.job.manifest))
            let priority = try Priority(configured.job.priority)
            if priority != .normal { job.priority = priority }
            job.labels = try Labels(configured.job.labels)
            job.options = try RunOptions(
                overrides: configured.job.overrides, isForced: configured.job.isForced,
                deadline: configured.job.deadline)
            job.options.isStrict = configured.job.isStrict
            let trigger: ScheduleRequest.Trigger
            switch configured.trigger {
            case .times(let cron, let zone, let missed, let overlap):
                trigger = .times(try CronExpression(cron), zone: zone, missed: missed, overlap: overlap)
            case .changes(let quiet, let minAge): trigger = .changes(quiet: quiet, minAge: minAge)
            }
            let request = try ScheduleRequest(name: configured.name, trigger: trigger, job: job)
            // The zone has to exist.
            _ = try schedule(request)
            return request
        } catch {
            throw FarmError(.badManifest, "the config file: schedule '\(configured.name)': \(error.message)")
        }
    }

    // MARK: Requests

    /// Each of them has a task.
    static let mostSchedules = 1000

    /// All schedules by name.
    package func list() async throws -> ScheduleList {
        let (schedules, rows) = try await supervisor.onStore { try $0.schedules() }
        var unreadable = rows.map(\.message)
        var entries: [ScheduleEntry] = []
        for stored in schedules {
            do {
                entries.append(entry(stored, try ScheduleSpecification(stored)))
            } catch {
                unreadable.append("schedule '\(stored.name)': \(ScheduleFailure(error).words)")
            }
        }
        return ScheduleList(entries, unreadable: unreadable)
    }

    private func entry(_ stored: StoredSchedule, _ spec: ScheduleSpecification) -> ScheduleEntry {
        var next: WallTime?
        // If the zone is not known any more, the problem says so.
        if stored.isEnabled, let times = try? Self.schedule(spec.schedule) { next = times.next(after: stored.last) }
        return ScheduleEntry(
            spec.schedule.with(isEnabled: stored.isEnabled), origin: spec.origin, last: stored.last, next: next,
            lastJob: stored.lastJob, submitted: stored.submitted, problem: problems[stored.name])
    }

    /// - Throws: ``ScheduleRefusal``, ``InputError``, ``QueueStoreError``.
    package func add(_ request: ScheduleRequest, by caller: Supervisor.Caller) async throws -> ScheduleEntry {
        _ = try Self.schedule(request)
        let spec = ScheduleSpecification(request, origin: .api)
        let time = now()
        let stored = StoredSchedule(
            name: request.name, kind: spec.kind, spec: try spec.text(), isEnabled: request.isEnabled, last: time)
        let audit = Self.audit("schedule.add", request.name, caller, at: time)
        try await supervisor.onStore { store in
            guard try store.schedule(named: request.name) == nil else { throw ScheduleRefusal.nameIsUsed(request.name) }
            let (schedules, unreadable) = try store.schedules()
            guard schedules.count + unreadable.count < Self.mostSchedules else { throw ScheduleRefusal.tooMany }
            try store.add(stored, audit: audit)
        }
        wake()
        return entry(stored, spec)
    }

    /// - Throws: ``ScheduleRefusal``, ``QueueStoreError``.
    package func setEnabled(
        _ isEnabled: Bool, _ name: String, by caller: Supervisor.Caller
    ) async throws -> ScheduleEntry {
        let time = now()
        let audit = Self.audit(isEnabled ? "schedule.enable" : "schedule.disable", name, caller, at: time)
        let (stored, spec) = try await supervisor.onStore { store in
            let (stored, spec) = try Self.found(name, in: store)
            if stored.isEnabled == isEnabled { return (stored, spec) }
            if isEnabled, spec.origin == .removed { throw ScheduleRefusal.isRemoved(name) }
            // The times in between are not made up for. Changes of a folder are.
            try store.changeSchedule(
                named: name, spec: stored.spec, isEnabled: isEnabled,
                last: isEnabled && spec.kind == .cron ? time : nil,
                audit: audit)
            return try Self.found(name, in: store)
        }
        problems[name] = nil
        wake()
        return entry(stored, spec)
    }

    /// Removes a schedule. Its jobs stay.
    ///
    /// - Throws: ``ScheduleRefusal``, ``QueueStoreError``.
    package func remove(_ name: String, by caller: Supervisor.Caller) async throws {
        let audit = Self.audit("schedule.remove", name, caller, at: now())
        try await supervisor.onStore { store in
            do {
                if try Self.found(name, in: store).spec.origin == .config { throw ScheduleRefusal.isConfigured(name) }
            } catch is BodyError {
                // One that cannot be read can be removed.
            }
            guard try store.removeSchedule(named: name, audit: audit) else { throw ScheduleRefusal.unknown(name) }
        }
        problems[name] = nil
        wake()
    }

    private static func found(
        _ name: String, in store: QueueStore
    ) throws -> (stored: StoredSchedule, spec: ScheduleSpecification) {
        guard let stored = try store.schedule(named: name) else { throw ScheduleRefusal.unknown(name) }
        return (stored, try ScheduleSpecification(stored))
    }

    private static func audit(
        _ action: String, _ name: String, _ caller: Supervisor.Caller, at time: WallTime
    ) -> AuditEntry {
        AuditEntry(
            at: time, caller: caller.owner.text, address: caller.address, action: action,
            subject: "schedule '\(VisibleText.line(String(name.prefix(100))))'")
    }
}
