package import JobModel
package import Shards

/// The jobs that coordinators of a run recorded before they submitted them.
package struct SubmittedJobs: Sendable {
    private let folder: ShardFolder

    package init(of folder: ShardFolder) { self.folder = folder }

    /// A line of the run's `submissions` or `coordinators`. It is written before a submission, and again with the job's
    /// number after it. The next coordinator knows from it what to cancel.
    struct Line: Hashable, Sendable, Codable {
        let epoch: Int
        let name: String
        let job: String?
        /// As ``CoordinatorJob/left``.
        var left: Int?
        /// Nil for Slurm.
        var engine: EngineName?
    }

    func note(_ job: ClusterJob, _ number: String?, epoch: Int, _ engine: EngineName) throws(ShardFolderError) {
        var line = Line(epoch: epoch, name: job.name, job: number, engine: engine == .slurm ? nil : engine)
        switch job {
        case .array: try folder.append(line, to: folder.submissions, syncs: true)
        case .coordinator(let coordinator):
            line.left = coordinator.left
            try folder.append(line, to: folder.coordinators, syncs: true)
        }
    }

    var arrays: [Line] { lines(folder.submissions) }
    var coordinators: [Line] { lines(folder.coordinators) }

    /// The engines of the job arrays, each once, in their order. A run that was continued by another engine has several.
    package var engines: [EngineName] {
        arrays.map { $0.engine ?? .slurm }.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Only lines with names that a run of this folder uses. The jobs in them may be cancelled.
    private func lines(_ list: String) -> [Line] {
        let name = PathNames.last(of: folder.path)
        let prefix = name.hasPrefix("penumbra-") ? "\(name)-" : "penumbra-"
        return folder.lines(Line.self, of: list).filter { $0.name.hasPrefix(prefix) }
    }

    /// The time that elements may take to end.
    private static let endLimit = Duration.seconds(60)
    private static let pause = Duration.milliseconds(500)

    /// Cancels the jobs of earlier coordinators of the run in a system, and waits until they have ended.
    ///
    /// - Throws: if the controller does not answer. Then elements of another coordinator may still run.
    package func endArrays(before epoch: Int, on system: any BatchSystem) async throws(BatchError) {
        let lines = arrays.filter { $0.epoch < epoch && ($0.engine ?? .slurm) == system.traits.engine }
        guard !lines.isEmpty else { return }
        let jobs = Set(lines.compactMap(\.job)).sorted()
        // A controller that has lost its state reuses numbers, but not names.
        let names = Set(lines.map(\.name))
        for name in names.sorted() { try await system.cancel(.named(name)) }
        let end = ContinuousClock.now + Self.endLimit
        // Elements that still run after this write files with names of their own.
        while ContinuousClock.now < end {
            let rest = try await system.query(.ids(jobs)).filter {
                names.contains($0.submission) && [.running, .suspended].contains($0.condition)
            }
            if rest.isEmpty { return }
            // The sleep is cancelled when the run is over.
            guard (try? await Task.sleep(for: Self.pause)) != nil else { return }
        }
    }

    /// Cancels the jobs that would resume the run.
    package func endCoordinators(on system: any BatchSystem) async throws(BatchError) {
        for name in Set(coordinators.map(\.name)).sorted() { try await system.cancel(.named(name)) }
    }

    /// Whether a job that will resume a run is in the queue or runs.
    package enum Successor: Hashable, Sendable {
        /// None was ever submitted.
        case never
        case queued
        case gone
        /// The system does not answer.
        case unknown
    }

    package func successor(on system: any BatchSystem) async -> Successor {
        let names = Set(coordinators.map(\.name))
        guard !names.isEmpty else { return .never }
        do {
            for name in names where try await system.isQueued(name) { return .queued }
            return .gone
        } catch {
            return .unknown
        }
    }
}

extension BatchSystem {
    /// Whether a job with this name waits or runs.
    func isQueued(_ name: String) async throws(BatchError) -> Bool {
        try await query(.named(name)).contains { $0.submission == name && !$0.condition.isOver }
    }

    /// The numbers of the jobs with this name.
    func jobs(named name: String) async throws(BatchError) -> [String] {
        Set(try await query(.named(name)).filter { $0.submission == name }.map(\.job)).sorted()
    }
}

extension SubmittedJobs.Line: SharedRecord {
    /// `scancel` separates names by commas, and takes a number with a hyphen in front for an option.
    package var isPlausible: Bool {
        let isName = name.utf8.count <= 250 && name.utf8.allSatisfy(JobNumber.isPlain)
        let isJob =
            job.map { engine == nil ? JobNumber.isDecimal($0) : JobNumber.isPlain($0) } ?? true
        return isName && isJob && StoredLimits.counts.contains(epoch)
            && left.map { (0...StoredLimits.counts.upperBound).contains($0) } ?? true
    }
}

/// The identifier of a job in a system.
package enum JobNumber {
    /// The form of Slurm's numbers.
    package static func isDecimal(_ text: String) -> Bool {
        (1...20).contains(text.utf8.count) && text.utf8.allSatisfy { (48...57).contains($0) }
    }

    /// The form for all systems. No command can take it for an option, or for several words.
    package static func isPlain(_ text: String) -> Bool {
        guard let first = text.utf8.first, text.utf8.count <= 100 else { return false }
        return isLetterOrDigit(first) && text.utf8.allSatisfy(isPlain)
    }

    static func isPlain(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || [UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_")].contains(byte)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
    }
}

/// Submits each job exactly once, even if the controller does not answer.
package struct ArraySubmitter: Sendable {
    private let system: any BatchSystem
    private let options: ClusterOptions
    private let setup: ClusterEngine.Setup
    private let pause: Duration
    private let timeout: Duration
    private let report: @Sendable (String) -> Void

    /// - Parameters:
    ///   - pause: the time before each repeated request to the controller.
    ///   - timeout: how long to wait for a controller that does not answer.
    ///   - report: gets messages for people, such as that the cluster does not answer.
    package init(
        system: any BatchSystem, options: ClusterOptions, setup: ClusterEngine.Setup, pause: Duration = .seconds(3),
        timeout: Duration = Self.timeout, report: @escaping @Sendable (String) -> Void
    ) {
        self.system = system
        self.options = options
        self.setup = setup
        self.pause = pause
        self.timeout = timeout
        self.report = report
    }

    package enum Outcome: Hashable, Sendable {
        case accepted(job: String)
        /// The site takes no more jobs of the user now.
        case full(String)
        case failed(String)
    }

    /// A controller that is away for this long does not come back by itself.
    package static let timeout = Duration.seconds(30 * 60)

    package func submit(_ job: ClusterJob) async -> Outcome {
        let submitted = SubmittedJobs(of: setup.folder)
        do {
            try submitted.note(job, nil, epoch: setup.epoch, system.traits.engine)
            let number = try await submitSurely(job)
            try submitted.note(job, number, epoch: setup.epoch, system.traits.engine)
            return .accepted(job: number)
        } catch BatchError.full(let message) {
            return .full(message)
        } catch let error as BatchError {
            return .failed(error.message)
        } catch let error as ShardFolderError {
            return .failed(error.message)
        } catch {
            return .failed("the submission was given up: \(error)")
        }
    }

    /// A submission without an answer may have been accepted, because a frozen controller accepts it when it wakes. So the
    /// job is looked up twice before it is submitted again.
    private func submitSurely(_ job: ClusterJob) async throws -> String {
        let submission = Submission(
            job, options: options, program: setup.program, folder: setup.folder.path, logs: setup.logs,
            variables: setup.variables)
        let script = "\(setup.folder.shards)/\(job.name).sh"
        try setup.folder.write(text: system.script(of: submission), to: script, by: "\(setup.epoch)")
        let begin = ContinuousClock.now
        while true {
            try Task.checkCancellation()
            do {
                return try await system.submit(submission, script: script)
            } catch {
                try wait(for: error, since: begin)
                report("\(system.traits.name) does not answer, and is asked again: \(error.message)")
            }
            if let number = try await found(job, since: begin) { return number }
        }
    }

    private func found(_ job: ClusterJob, since begin: ContinuousClock.Instant) async throws -> String? {
        var queries = 0
        while queries < 2 {
            try await Task.sleep(for: pause)
            do {
                if let number = try await system.jobs(named: job.name).first { return number }
                queries += 1
            } catch {
                try wait(for: error, since: begin)
            }
        }
        return nil
    }

    /// Throws errors that are decisions, and errors of a controller that was away for too long.
    private func wait(for error: BatchError, since begin: ContinuousClock.Instant) throws(BatchError) {
        guard case .unanswered = error, begin.duration(to: .now) < timeout else { throw error }
    }
}
