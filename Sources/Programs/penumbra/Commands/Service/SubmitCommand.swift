import ArgumentParser
import Coordination
import Foundation
import JobModel
import Planning
import Queueing
import RenderFarm
import ServiceAPI
import ServiceClient

struct SubmitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "submit",
        abstract: "Submit jobs to a service, which runs each of them once.",
        discussion: """
            The service checks a manifest before it accepts a job, and reads it again when the run starts. Jobs of a higher priority get \
            workers first. 'penumbra queue' says why a job waits.

            With --key a command can be repeated, after a lost connection for example: the same key leads to the same job. \
            Other keys, or none, make a new job.

            Several manifests are all checked before the first job is made. If one of them is wrong, no job is made.

            With --wait the exit code is that of the run. Otherwise it is one of these:

              0   The service accepted the jobs.
              64  A value is wrong.
              65  A manifest is wrong.
              66  A file is missing.
              69  No service listens.
              75  The service is busy.
            """)

    @OptionGroup var manifests: ManifestOptions
    @OptionGroup(title: "Service Options") var service: ServiceOptions

    @Option(help: ArgumentHelp("0 to 100, the most urgent. Default: 50.", valueName: "n"))
    var priority: Int?

    @Option(
        help: ArgumentHelp(
            "Start after this job has succeeded, or with :end after any end of it. May be given again.",
            valueName: "job[:success|end]"), completion: ServiceCompletions.jobs)
    var after: [String] = []

    @Flag(help: "Keep the job from starting until 'penumbra queue release'.")
    var hold = false

    @Option(help: ArgumentHelp("Start no earlier: 2026-11-26T22:00:00Z.", valueName: "time"))
    var notBefore: String?

    @Option(help: ArgumentHelp("A label for filters. May be given again.", valueName: "name=value"))
    var label: [String] = []

    @Flag(help: "Wait for the end of the jobs, and exit as their runs do.")
    var wait = false

    @Flag(help: "Send the text of the manifest. Its relative paths start at its folder on the service's machine.")
    var upload = false

    @Option(help: ArgumentHelp("Names this submission, so that it can be repeated.", valueName: "key"))
    var key: String?

    @Flag(help: "Render everything again, and replace all files at the outputs' paths.")
    var force = false

    @Flag(help: "Count known problems as failures: pictures that are still broken, outputs that are kept.")
    var strict = false

    @Option(
        help: ArgumentHelp("End the run cleanly after this time: 50m.", valueName: "time"),
        transform: TimeArgument.read)
    var deadline: TimeArgument?

    @Flag(name: .shortAndLong, help: "Print nothing when all is well.")
    var quiet = false

    @Flag(help: "Print JSON lines, one for each job.")
    var json = false

    func validate() throws {
        if key != nil, manifests.manifests.count > 1 {
            throw ValidationError("--key names one job; give one manifest.")
        }
        try deadline?.checkForService()
    }

    func run() async throws {
        let requests = try manifests.manifests.map(request)
        let printer = JobPrinter(json: json, quiet: quiet)
        let (wait, key, names) = (wait, key, manifests.manifests)
        try await service.talking { client in
            let refusal = try Self.check(requests, client)
            guard refusal == .done else { return refusal }
            var jobs: [SubmitResponse] = []
            for request in requests {
                let body = try StrictJSON.encode(request)
                let answer: SubmitResponse
                do {
                    answer = try client.call(
                        ClientRequest(.post, "/jobs", body: body, key: key ?? "cli-\(UUID().uuidString)"))
                } catch let error as ServiceError where !jobs.isEmpty {
                    throw FarmError(error.outcome, error.message + Self.remedy(jobs, names.dropFirst(jobs.count)))
                }
                if !wait { try printer.accepted(answer) }
                jobs.append(answer)
            }
            guard wait else { return .done }
            return try JobWaiter(client: client, printer: printer).wait(for: jobs)
        }
    }

    /// Checks several manifests before the first one is submitted. Otherwise a mistake in a later one would leave the
    /// earlier ones submitted, and a repetition of the command would double their jobs.
    ///
    /// - Returns: the worst outcome. All problems are printed.
    private static func check(_ requests: [SubmitRequest], _ client: APIClient) throws -> RunOutcome {
        var worst = RunOutcome.done
        guard requests.count > 1 else { return worst }
        for request in requests {
            let body = try StrictJSON.encode(request)
            do throws(ServiceError) {
                _ = try client.send(ClientRequest(.post, "/check", body: body))
            } catch {
                guard error.status != nil else { throw error }
                Console.complain(error.message)
                worst = max(worst, error.outcome)
            }
        }
        if worst != .done { Console.complain("no job was submitted") }
        return worst
    }

    /// What a user has to know if only some manifests could be submitted, because something changed after the check.
    private static func remedy(_ jobs: [SubmitResponse], _ rest: ArraySlice<String>) -> String {
        "\n   = submitted: \(jobs.map(\.job.title).joined(separator: ", "))\n   = not submitted: "
            + rest.map(PathText.visible).joined(separator: " ")
    }

    private func request(_ manifest: String) throws -> SubmitRequest {
        do {
            let path = PathText.normalized(manifest, in: currentFolder())
            var request = SubmitRequest(try source(path, shown: manifest))
            if let priority { request.priority = try Priority(priority) }
            request.after = try after.map { text throws(InputError) in try Need(text: text) }
            request.isHeld = hold
            if let notBefore {
                guard let time = WallTime(text: notBefore) else { throw InputError.time(notBefore) }
                request.notBefore = time
            }
            request.labels = try Labels(texts: label)
            request.options = try RunOptions(
                overrides: manifests.overrides, isForced: force, deadline: deadline.map { Int($0.seconds) })
            request.options.isStrict = strict
            return request
        } catch let error as InputError {
            throw FarmError(.usage, error.message)
        }
    }

    private func source(_ path: String, shown: String) throws(FarmError) -> SubmitRequest.Source {
        guard upload else { return .file(path: path) }
        let bytes: [UInt8]
        do {
            bytes = try InputArgument.read(path, in: "/", limit: (1 << 20) + 1, control: Signals.current)
        } catch {
            throw error.error { "\(PathText.visible(shown)): the manifest cannot be read: \($0)" }
        }
        guard bytes.count <= 1 << 20, let text = String(validating: bytes, as: UTF8.self) else {
            throw FarmError(.badManifest, "\(PathText.visible(shown)): error: a manifest is UTF-8 text of at most 1 MB")
        }
        let file = PathText.name(of: path)
        let stem = [".yaml", ".yml"].first { file.hasSuffix($0) }.map { String(file.dropLast($0.count)) } ?? file
        return .text(text, folder: PathText.folder(of: path), name: stem)
    }
}

extension TimeArgument {
    /// Refuses deadlines that a service does not take.
    func checkForService() throws {
        guard seconds == seconds.rounded(), seconds >= 1 else {
            throw ValidationError("--deadline takes whole seconds here, at least one.")
        }
    }
}

/// Prints jobs as commands hand them in or wait for them.
struct JobPrinter: Sendable {
    let json: Bool
    let quiet: Bool

    func accepted(_ answer: SubmitResponse) throws {
        if json { return try Console.printJSONLine(of: answer) }
        guard !quiet else { return }
        let state =
            answer.isNew ? answer.job.state.rawValue : "was submitted before, and is \(answer.job.state.rawValue)"
        Console.print("\(answer.job.title): \(state)")
    }

    /// A state that is not the last one.
    func passed(_ job: QueueEntry) {
        guard !json, !quiet else { return }
        var words = job.state.rawValue
        if let run = job.run, job.state == .running { words += ", run \(VisibleText.line(run))" }
        if let reason = job.waitingFor { words += ": \(reason.localWords)" }
        Console.complain("\(job.title): \(words)")
    }

    /// - Parameter isNew: whether this command has made the job. Nil for a job that it has not submitted.
    func ended(_ job: QueueEntry, isNew: Bool?) throws {
        if json {
            guard let isNew else { return try Console.printJSONLine(of: job) }
            return try Console.printJSONLine(of: SubmitResponse(job, isNew: isNew))
        }
        let isBad = job.exitCode != 0
        guard isBad || !quiet else { return }
        let line = "\(job.title): \(job.result ?? job.state.rawValue)"
        isBad ? Console.complain(line) : Console.print(line)
    }
}

/// Waits for the ends of jobs. A service that is replaced by its next version is waited for, too.
struct JobWaiter: Sendable {
    let client: APIClient
    let printer: JobPrinter

    private static let longestPause = Duration.milliseconds(250)
    /// How long a service may be away, in looks.
    private static let mostFailures = 2400
    /// The pause between two looks is this part of the time since the first one: the end of a short job is seen soon, and a long one
    /// costs the service little.
    private static let pausePart = 8
    private static let shortestPause = Duration.milliseconds(10)

    /// - Returns: the worst outcome of the jobs.
    func wait(for jobs: [SubmitResponse]) throws -> RunOutcome { try wait(for: jobs.map { ($0.job.id, $0.isNew) }) }

    /// - Returns: the worst outcome of the jobs.
    func wait(for jobs: [JobID]) throws -> RunOutcome { try wait(for: jobs.map { ($0, nil) }) }

    private func wait(for jobs: [(id: JobID, isNew: Bool?)]) throws -> RunOutcome {
        var worst: Int32 = 0
        for job in jobs {
            let ended = try wait(for: job.id)
            try printer.ended(ended, isNew: job.isNew)
            worst = max(worst, Int32(ended.exitCode ?? 0))
        }
        throw ExitCode(worst)
    }

    private func wait(for id: JobID) throws(ServiceError) -> QueueEntry {
        var (last, failures): (QueueEntry?, Int) = (nil, 0)
        let pause = APIClient.Options().pause
        var waited = Duration.zero
        while true {
            var next = min(max(waited / Self.pausePart, Self.shortestPause), Self.longestPause)
            do throws(ServiceError) {
                let job = try client.call(ClientRequest(.get, "/jobs/\(id.number)"), as: QueueEntry.self)
                failures = 0
                if job.state.isEnd { return job }
                if job.state != last?.state || job.waitingFor?.kind != last?.waitingFor?.kind { printer.passed(job) }
                last = job
            } catch {
                failures += 1
                next = Self.longestPause
                guard error.mayPass, failures < Self.mostFailures else { throw error }
                if failures == 1 { Console.complain("\(error.message)\n   = waiting for it") }
            }
            pause(next)
            waited += next
        }
    }
}

extension ServiceError {
    /// The service may answer later.
    var mayPass: Bool {
        switch problem {
        case .noService, .connection: true
        case .refused(let status, _): [429, 502, 503, 504].contains(status)
        case .address, .token, .answer: false
        }
    }
}
