import ArgumentParser
import Foundation
import JobModel
import Queueing
import RenderFarm
import ServiceAPI
import ServiceClient

struct QueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: "List the jobs of a service, and change them.",
        subcommands: [
            QueueListCommand.self, QueueShowCommand.self, QueueWaitCommand.self, QueueHoldCommand.self,
            QueueReleaseCommand.self,
            QueuePriorityCommand.self, QueueRunNextCommand.self, QueueLabelCommand.self, QueueAfterCommand.self,
            QueueCancelCommand.self, QueueRetryCommand.self, QueueDrainCommand.self, QueueUndrainCommand.self,
            QueueSchedulesCommand.self, QueueScheduleCommand.self,
        ],
        defaultSubcommand: QueueListCommand.self)
}

/// Chooses jobs by their numbers, or by a filter.
struct JobSelection: ParsableArguments {
    @Argument(help: ArgumentHelp("Numbers of jobs.", valueName: "job"), completion: ServiceCompletions.jobs)
    var jobs: [Int] = []

    @Option(
        help: ArgumentHelp(
            "All jobs that match, instead of numbers: 'state=waiting&label=show=night'. The keys are state, label, owner and name.",
            valueName: "conditions"))
    var filter: String?

    @Option(
        help: ArgumentHelp(
            "How many jobs the filter has to match. Without it nothing is changed, and the number is printed.",
            valueName: "n"))
    var expect: Int?

    func validate() throws {
        if let wrong = jobs.first(where: { $0 < 1 }) { throw ValidationError("\(wrong) is no number of a job.") }
        if filter == nil, jobs.isEmpty { throw ValidationError("Name jobs by their numbers, or by --filter.") }
        if filter != nil, !jobs.isEmpty {
            throw ValidationError("Name jobs by their numbers or by --filter, not by both.")
        }
        if filter == nil, expect != nil { throw ValidationError("--expect belongs to --filter.") }
        if let expect, expect < 0 { throw ValidationError("--expect takes 0 or more, not \(expect).") }
    }

    /// Carries out an action on the chosen jobs, one by one or all at once.
    ///
    /// - Parameter each: the request for one job.
    func carryOut(
        _ action: BulkAction, _ service: ServiceOptions, each: @escaping @Sendable (Int) throws -> ClientRequest
    ) async throws {
        let (jobs, expect) = (jobs, expect)
        guard let text = filter else {
            return try await service.talking { client in
                var outcome = RunOutcome.done
                for job in jobs {
                    do {
                        let entry = try client.call(try each(job), as: QueueEntry.self)
                        Console.print("\(entry.title): \(entry.state.rawValue)")
                    } catch let error as ServiceError where error.status != nil && jobs.count > 1 {
                        // The other jobs are changed nevertheless.
                        Console.complain(error.message)
                        outcome = max(outcome, error.outcome)
                    }
                }
                return outcome
            }
        }
        let filter: JobFilter
        do {
            filter = try JobFilter(text: text)
        } catch {
            throw FarmError(.usage, error.message)
        }
        let body = try StrictJSON.encode(ActionRequest(action, filter, expecting: expect))
        try await service.talking { client in
            switch try client.call(ClientRequest(.post, "/jobs/actions", body: body), as: ActionResponse.self) {
            case .count(let count, let possible):
                let matches = "\(count) \(count == 1 ? "job matches" : "jobs match")"
                Console.print(
                    possible.map { "\(matches), and \($0) of them can be changed; --expect \(count) changes those" }
                        ?? "\(matches); --expect \(count) changes them")
                return .done
            case .done(let changes):
                let changed = changes.changed.count + changes.submitted.count
                Console.print("\(changed) \(changed == 1 ? "job" : "jobs") changed")
                for refused in changes.refused { Console.complain(refused.reason.message) }
                return changes.refused.isEmpty ? .done : .someFailed
            }
        }
    }
}

struct QueueListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List jobs that have not ended, and why waiting ones wait.")

    @OptionGroup var service: ServiceOptions

    @Flag(help: "Also jobs that have ended.")
    var all = false

    @Option(
        help: ArgumentHelp("Only jobs that match: 'state=failed&name=night*'.", valueName: "conditions"))
    var filter: String?

    @Flag(help: "Print JSON lines, one for each job, the newest first.")
    var json = false

    func run() async throws {
        var filter: JobFilter
        do {
            filter = try JobFilter(text: self.filter ?? "")
        } catch {
            throw FarmError(.usage, error.message)
        }
        let isOpenOnly = !all && filter.states.isEmpty
        if isOpenOnly { filter.states = Set(JobState.Name.open) }
        let (query, json) = (filter.text, json)
        let nothing =
            self.filter == nil
            ? "no jobs; 'penumbra submit MANIFEST' submits one"
            : "no job matches" + (isOpenOnly ? "; --all looks at jobs that have ended, too" : "")
        try await service.talking { client in
            var jobs: [QueueEntry] = []
            var cursor: String?
            repeat {
                let parts = [query, "limit=1000"] + (cursor.map { ["cursor=\($0)"] } ?? [])
                let list = try client.call(
                    ClientRequest(.get, "/jobs?" + parts.filter { !$0.isEmpty }.joined(separator: "&")),
                    as: JobList.self)
                if json { for job in list.jobs { try Console.printJSONLine(of: job) } } else { jobs += list.jobs }
                cursor = list.cursor
            } while cursor != nil
            guard !json else { return .done }
            guard !jobs.isEmpty else {
                Console.print(nothing)
                return .done
            }
            for line in QueueText.table(jobs) { Console.print(line) }
            return .done
        }
    }
}

struct QueueShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one job, and the end of its run's log.")

    @Argument(help: ArgumentHelp("The number of a job.", valueName: "job"), completion: ServiceCompletions.jobs)
    var job: Int

    @OptionGroup var service: ServiceOptions

    @Flag(help: "Print the job as one line of JSON.")
    var json = false

    func run() async throws {
        let (job, json) = (job, json)
        try await service.talking { client in
            let entry = try client.call(ClientRequest(.get, "/jobs/\(job)"), as: QueueEntry.self)
            if json {
                try Console.printJSONLine(of: entry)
                return .done
            }
            for line in QueueText.details(entry) { Console.print(line) }
            let log = try client.send(ClientRequest(.get, "/jobs/\(job)/log")).body
            guard !log.isEmpty else { return .done }
            Console.print("log:")
            for line in String(decoding: log, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false) {
                Console.print("  \(line)")
            }
            return .done
        }
    }
}

struct QueueWaitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until jobs have ended, and exit as their runs did.",
        discussion: """
            Jobs that have not started are waited for, too. The exit code is the worst of the jobs'. A job that was cancelled or skipped \
            has one, too.
            """)

    @Argument(help: ArgumentHelp("Numbers of jobs.", valueName: "job"), completion: ServiceCompletions.jobs)
    var jobs: [Int]

    @OptionGroup var service: ServiceOptions

    @Flag(name: .shortAndLong, help: "Print nothing when all is well.")
    var quiet = false

    @Flag(help: "Print JSON lines, one for each job.")
    var json = false

    func validate() throws {
        if let wrong = jobs.first(where: { $0 < 1 }) { throw ValidationError("\(wrong) is no number of a job.") }
    }

    func run() async throws {
        let (jobs, printer) = (jobs, JobPrinter(json: json, quiet: quiet))
        try await service.talking { client in
            // A wrong number is reported at once, and not after the jobs before it.
            let found = try jobs.map { try client.call(ClientRequest(.get, "/jobs/\($0)"), as: QueueEntry.self) }
            return try JobWaiter(client: client, printer: printer).wait(for: found.map(\.id))
        }
    }
}

struct QueueHoldCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hold", abstract: "Keep waiting jobs from starting until they are released.")
    @OptionGroup var selection: JobSelection
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        try await selection.carryOut(.hold, service) { ClientRequest(.post, "/jobs/\($0)/hold") }
    }
}

struct QueueReleaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "release", abstract: "Let held jobs start.")
    @OptionGroup var selection: JobSelection
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        try await selection.carryOut(.release, service) { ClientRequest(.post, "/jobs/\($0)/release") }
    }
}

struct QueuePriorityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "priority", abstract: "Change the priority of jobs that wait or run.")
    @Option(name: .customLong("to"), help: ArgumentHelp("0 to 100, the most urgent.", valueName: "n"))
    var priority: Int
    @OptionGroup var selection: JobSelection
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        let priority: Priority
        do {
            priority = try Priority(self.priority)
        } catch {
            throw FarmError(.usage, error.message)
        }
        try await selection.carryOut(.setPriority(priority), service) { job in
            ClientRequest(.patch, "/jobs/\(job)", body: try StrictJSON.encode(JobChange(priority: priority)))
        }
    }
}

struct QueueRunNextCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run-next", abstract: "Put jobs before all others, whatever their priorities.")
    @OptionGroup var selection: JobSelection
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        try await selection.carryOut(.runNext, service) { ClientRequest(.post, "/jobs/\($0)/run-next") }
    }
}

struct QueueLabelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "label", abstract: "Set a label of jobs, or remove it.")
    @Option(
        name: .customLong("set"),
        help: ArgumentHelp("The label: show=night, or show to remove it.", valueName: "name[=value]"))
    var label: String
    @OptionGroup var selection: JobSelection
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        let parts = label.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let (name, value) = (parts[0], parts.count == 2 ? parts[1] : nil)
        do {
            _ = try Labels([name: value ?? ""])
        } catch {
            throw FarmError(.usage, error.message)
        }
        try await selection.carryOut(.setLabel(name, value), service) { job in
            ClientRequest(.patch, "/jobs/\(job)", body: try StrictJSON.encode(JobChange(labels: [name: value])))
        }
    }
}

struct QueueAfterCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "after", abstract: "Change which jobs a waiting job needs.")
    @Argument(help: ArgumentHelp("The number of the job.", valueName: "job"), completion: ServiceCompletions.jobs)
    var job: Int
    @Argument(
        help: ArgumentHelp(
            "All jobs that it needs from now on. Without any, it needs no other.", valueName: "job[:success|end]"),
        completion: ServiceCompletions.jobs)
    var needs: [String] = []
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        let (job, change): (Int, JobChange)
        do {
            (job, change) = (
                self.job, JobChange(after: try needs.map { text throws(InputError) in try Need(text: text) })
            )
        } catch {
            throw FarmError(.usage, error.message)
        }
        let body = try StrictJSON.encode(change)
        try await service.talking { client in
            let entry = try client.call(ClientRequest(.patch, "/jobs/\(job)", body: body), as: QueueEntry.self)
            let needs = entry.after.map(\.description).joined(separator: ", ")
            Console.print("\(entry.title): needs \(needs.isEmpty ? "no other job" : needs)")
            return .done
        }
    }
}

struct QueueCancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "End jobs, wherever they stand.",
        discussion: "Published outputs stay. Jobs that need the success of a cancelled job are skipped.")
    @OptionGroup var selection: JobSelection
    @OptionGroup var service: ServiceOptions

    func run() async throws {
        try await selection.carryOut(.cancel, service) { ClientRequest(.post, "/jobs/\($0)/cancel") }
    }
}

struct QueueRetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Submit jobs again that have ended without success, as new jobs.",
        discussion: """
            A new job does the frames that failed, that are still broken, or that were left. Outputs that are up to date \
            stay.
            """)

    @Option(
        help: ArgumentHelp(
            "End the runs cleanly after this time: 50m. Not with --filter. Default: as the jobs had it.",
            valueName: "time"),
        transform: TimeArgument.read)
    var deadline: TimeArgument?

    @Flag(help: "Let the runs take as long as they need, although the jobs had a deadline. Not with --filter.")
    var noDeadline = false

    @OptionGroup var selection: JobSelection
    @OptionGroup var service: ServiceOptions

    func validate() throws {
        if deadline != nil, noDeadline {
            throw ValidationError("--deadline and --no-deadline exclude each other; give one of them.")
        }
        if deadline != nil || noDeadline, selection.filter != nil {
            throw ValidationError("--filter repeats jobs with their own deadlines; name the jobs by their numbers.")
        }
        try deadline?.checkForService()
    }

    func run() async throws {
        let change = RetryRequest(
            deadline: noDeadline ? .none : deadline.map { .seconds(Int($0.seconds)) } ?? .kept)
        try await selection.carryOut(.retry, service) { job in try ClientRequest.retry(job, change) }
    }
}

struct QueueDrainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain",
        abstract: "Start no further jobs. Open runs continue.",
        discussion:
            "The service accepts jobs meanwhile. It stays drained after a restart, until 'penumbra queue undrain'.")
    @OptionGroup var service: ServiceOptions

    func run() async throws { try await service.drain(true) }
}

struct QueueUndrainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "undrain", abstract: "Start jobs again after a drain.")
    @OptionGroup var service: ServiceOptions

    func run() async throws { try await service.drain(false) }
}

extension ServiceOptions {
    fileprivate func drain(_ isDrained: Bool) async throws {
        let body = try StrictJSON.encode(DrainRequest(isDrained: isDrained))
        try await talking { client in
            let status = try client.call(ClientRequest(.post, "/drain", body: body), as: ServiceStatus.self)
            let open = "\(status.openRuns) \(status.openRuns == 1 ? "run is" : "runs are") open"
            Console.print(isDrained ? "drained: no further job starts; \(open)" : "jobs start again; \(open)")
            return .done
        }
    }
}

/// Jobs as text for a person.
enum QueueText {
    static func table(_ jobs: [QueueEntry]) -> [String] {
        var table = Table(["job", "name", "state", "prio", "submitted", "owner", "because"])
        let names = OwnerNames(jobs)
        for job in jobs {
            table.add(
                "\(job.id.number)", VisibleText.line(job.name), job.paused == true ? "paused" : job.state.rawValue,
                job.runNext == nil ? "\(job.priority.value)" : "next", job.submitted.local,
                VisibleText.line(names[job]),
                because(job))
        }
        return table.lines
    }

    /// Why a job is where it is: what it waits for, its run, or how it ended.
    private static func because(_ job: QueueEntry) -> String {
        if let reason = job.waitingFor { return reason.localWords }
        if job.state.isEnd { return job.result.map(VisibleText.line) ?? "" }
        let cancelling = job.cancelling == true ? ", to be cancelled" : ""
        return job.run.map { "run \(VisibleText.line($0))\(cancelling)" } ?? ""
    }

    static func details(_ job: QueueEntry) -> [String] {
        func line(_ name: String, _ value: String?) -> [String] {
            value.map { ["\(name): " + VisibleText.line($0)] } ?? []
        }
        let after = job.after.map(\.description).joined(separator: ", ")
        let labels = job.labels.texts.joined(separator: ", ")
        return [job.title]
            + line("state", job.stateWords)
            + line("result", job.result) + RunText.reasons(job.keptByReason ?? [:]).flatMap { line("kept", $0) }
            + line("waits", job.waitingFor?.localWords)
            + line("position", job.position.map(String.init)) + line("manifest", job.manifest) + line("run", job.run)
            + line("processes", job.tries > 1 ? "\(job.tries)" : nil)
            + line("priority", job.runNext == nil ? "\(job.priority.value)" : "\(job.priority.value), runs next")
            + line("after", after.isEmpty ? nil : after) + line("labels", labels.isEmpty ? nil : labels)
            + line("not before", job.notBefore?.local)
            + line("owner", job.ownerName.map { "\($0) (\(job.owner.text))" } ?? job.owner.text)
            + line("key", job.key)
            + line("submitted", job.submitted.local) + line("started", job.started?.local)
            + line("ended", job.ended?.local)
            + line("exit code", job.exitCode.map(String.init)) + line("retry of", job.retryOf.map { "\($0)" })
    }
}

/// The names of owners in a list of jobs: those of their tokens. If two tokens of the list have one name, it is followed by
/// the token's identifier.
struct OwnerNames {
    private var owners: [String: Set<String>] = [:]

    init(_ jobs: [QueueEntry]) {
        for job in jobs { if let name = job.ownerName { owners[name, default: []].insert(job.owner.text) } }
    }

    subscript(job: QueueEntry) -> String {
        guard let name = job.ownerName else { return job.owner.text }
        return owners[name].map { $0.count > 1 } ?? false ? "\(name) (\(job.owner.text))" : name
    }
}
