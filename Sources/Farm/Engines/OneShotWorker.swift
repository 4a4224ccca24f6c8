import Glibc
import JobModel
import Subprocess
import Synchronization
import SystemPackage
package import Catalogs
package import WorkerProtocol

/// Why a worker program did not answer a question.
package struct WorkerQueryError: Error, Hashable, Sendable {
    /// One sentence that says why, and what to do. It contains what the program printed.
    package let message: String
    /// False if the program ran, and reported itself what is wrong.
    package var isMissing = true
}

/// Questions to a worker program. A new process answers each of them.
extension WorkerCommand {
    /// Runs `penumbra-worker describe`. The workers that this command starts later do not try the libraries that it refused.
    ///
    /// - Parameter timeout: how long the worker may be silent.
    package func describe(timeout: Duration = WorkerProcess.startLimit) async throws(WorkerQueryError) -> Catalog {
        // A catalog has some ten kilobytes.
        let query = OneShotWorker(command: self, arguments: ["describe"], timeout: timeout, longestAnswer: 4 << 20)
        var answer = try await query.answer()
        var attempts = 1
        // A rendering worker that is killed from outside is started again, too.
        while answer.interruption == nil, answer.status == .signaled(SIGKILL), attempts < 20 {
            answer = try await query.answer()
            attempts += 1
        }
        return try catalog(from: answer)
    }

    private func catalog(from answer: OneShotWorker.Answer) throws(WorkerQueryError) -> Catalog {
        if let interruption = answer.interruption {
            throw WorkerQueryError(message: "\(executable) describe: \(interruption)", isMissing: false)
        }
        try refuseFailure(of: answer, to: "describe")
        let subject = "\(executable) describe: the answer"
        let greeting = try decode(Greeting.self, from: answer.output, subject, is: "catalog")
        guard greeting.protocolVersion == Greeting.currentVersion, let catalog = greeting.catalog else {
            throw Self.misfit(subject, "is no catalog")
        }
        if let objection = greeting.objection {
            throw WorkerQueryError(
                message: "\(executable) describe: the answer has \(objection), which no catalog has; remove the plugin "
                    + "that came last", isMissing: false)
        }
        refusals.note(greeting.refused)
        guard let reason = answer.unlimited else { return catalog }
        guard limits?.isRequired == true else { return catalog.withoutPart(reason) }
        throw WorkerQueryError(message: WorkerProcess.UnlimitedError(reason: reason).description, isMissing: false)
    }

    /// - Throws: what the worker said, or how it ended, unless it ended well.
    private func refuseFailure(of answer: OneShotWorker.Answer, to question: String) throws(WorkerQueryError) {
        guard !answer.status.isSuccess else { return }
        let words = answer.lastWords
        // The worker's own message needs no frame around it.
        if case .exited(69) = answer.status, let words { throw WorkerQueryError(message: words, isMissing: false) }
        if case .signaled(SIGSYS) = answer.status {
            throw WorkerQueryError(message: "\(executable) \(WorkerExit.endedByFilter)", isMissing: false)
        }
        throw WorkerQueryError(
            message: "\(executable) \(question): \(answer.status)\(words.map { ": \($0)" } ?? "")")
    }

    /// - Parameters:
    ///   - subject: the answer in a message.
    ///   - kind: what the answer has to be.
    /// - Throws: an error that names the limit of messages that the answer exceeds.
    private func decode<Message: Decodable>(
        _ type: Message.Type, from bytes: some Collection<UInt8>, _ subject: String, is kind: String
    ) throws(WorkerQueryError) -> Message {
        do {
            return try FrameCodec.decode(type, from: bytes, within: .reports)
        } catch let error as FrameCodecError where error.isExcess {
            throw Self.misfit(subject, "is \(error), which exceeds a limit of messages")
        } catch {
            throw Self.misfit(subject, "is no \(kind)")
        }
    }

    /// The loader refuses plugins with longer texts, so nearly always the programs do not fit each other.
    private static func misfit(_ subject: String, _ problem: String) -> WorkerQueryError {
        WorkerQueryError(message: "\(subject) \(problem); reinstall both programs together")
    }

    /// Runs `penumbra-worker examine`, which checks chains of filters before anything starts.
    ///
    /// - Parameter timeout: how long the worker may be silent.
    package func examine(
        _ chains: ExaminedChains, timeout: Duration = WorkerProcess.startLimit
    ) async throws(WorkerQueryError) -> Examination {
        let input: [UInt8]
        do {
            input = try FrameCodec.json(chains)
        } catch {
            throw WorkerQueryError(message: "\(executable): the worker program cannot be run: \(error)")
        }
        // The answer has a sentence for each filter of a manifest.
        let answer = try await OneShotWorker(
            command: self, arguments: ["examine"], timeout: timeout, longestAnswer: MessageLimits.reports.bytes,
            input: input
        ).answer()
        if let problem = Self.problem(ofExamination: answer) { throw WorkerQueryError(message: problem) }
        let subject = "the worker's answer"
        let examination = try decode(Examination.self, from: answer.output, subject, is: "examination")
        guard examination.filters.count == chains.filters.count, examination.pictures.count == chains.pictures.count
        else { throw Self.misfit(subject, "is no examination") }
        return examination
    }

    private static func problem(ofExamination answer: OneShotWorker.Answer) -> String? {
        let remedy = "if they have a plugin, try it with 'penumbra plugin check'"
        return switch (answer.interruption, answer.status) {
        case (.silence(let timeout), _): "no answer within \(timeout); \(remedy)"
        case (.tooLong(let limit), _): misfit("the worker's answer", "has more than \(limit) bytes").message
        case (nil, .signaled(let signal)): "the worker died of signal \(signal); \(remedy)"
        case (nil, .exited(0)): nil
        case (nil, .exited(let code)): answer.lastWords ?? "the worker left with exit code \(code); \(remedy)"
        }
    }

    /// Runs `penumbra-worker check-plugin`, which checks a library against the contract of filters.
    ///
    /// - Parameter timeout: how long one check may take.
    /// - Returns: a finding for each check, in order. If a check ended the process, its finding says how.
    package func check(
        plugin library: String, timeout: Duration = .seconds(120)
    ) async throws(WorkerQueryError) -> [PluginFinding] {
        let answer = try await OneShotWorker(
            command: self, arguments: ["check-plugin", library], timeout: timeout, longestAnswer: Self.longestFindings
        ).answer()
        let findings = try pluginFindings(in: answer)
        let ended = findings.filter(\.isOutcome)
        if case .begins(let name) = findings.last { return ended + [.broken(name, how: Self.end(of: answer))] }
        if case .crashed(let tile) = findings.last, case .begins(let name) = findings.last(where: \.isBeginning) {
            return ended + [.broken(name, how: crash(of: answer, on: tile, library))]
        }
        guard answer.interruption == nil else { return ended + [.broken("the end", how: Self.end(of: answer))] }
        try refuseFailure(of: answer, to: "check-plugin")
        return ended
    }

    /// In bytes. Plugins print into their findings, which have some kilobytes.
    private static let longestFindings = 1 << 20

    /// Leaves out a last line that the end of the process has torn.
    private func pluginFindings(in answer: OneShotWorker.Answer) throws(WorkerQueryError) -> [PluginFinding] {
        guard let end = answer.output.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        let subject = "\(executable) check-plugin: the answer"
        return try answer.output[..<end].split(separator: UInt8(ascii: "\n")).map {
            (line) throws(WorkerQueryError) in
            try decode(PluginFinding.self, from: line, subject, is: "list of findings")
        }
    }

    private func crash(of answer: OneShotWorker.Answer, on tile: String, _ library: String) -> String {
        let printed = answer.lastWords.map { "; it printed '\($0.prefix(300))'" } ?? ""
        let words = "\(Self.end(of: answer)) on \(tile)\(printed)"
        guard case .signaled = answer.status else { return words }
        return "\(words)\n   = to see where: gdb --args \(executable) check-plugin \(library)"
    }

    private static func end(of answer: OneShotWorker.Answer) -> String {
        switch (answer.interruption, answer.status) {
        case (.silence(let timeout), _): "it hangs: it was not done within \(timeout)"
        case (.tooLong(let limit), _): "it says more than \(limit) bytes"
        case (nil, .signaled(let signal)): "it crashes with signal \(signal)"
        case (nil, .exited(let code)): "it ends the process with exit code \(code)"
        }
    }

    /// Runs `penumbra-worker list-plugins`: the plugins that workers use, and those that they cannot use.
    ///
    /// - Parameter timeout: how long the worker may be silent.
    package func listPlugins(timeout: Duration = WorkerProcess.startLimit) async throws(WorkerQueryError) -> PluginList
    {
        let answer = try await OneShotWorker(
            command: self, arguments: ["list-plugins"], timeout: timeout, longestAnswer: Self.longestFindings
        ).answer()
        let name = "\(executable) list-plugins"
        if let interruption = answer.interruption { throw WorkerQueryError(message: "\(name): \(interruption)") }
        try refuseFailure(of: answer, to: "list-plugins")
        return try decode(PluginList.self, from: answer.output, "\(name): the answer", is: "list of plugins")
    }
}

extension PluginFinding {
    /// Whether it is the result of a check.
    fileprivate var isOutcome: Bool {
        switch self {
        case .kept, .broken, .skipped: true
        case .begins, .crashed: false
        }
    }

    fileprivate var isBeginning: Bool { if case .begins = self { true } else { false } }
}

/// A worker process that answers one question. It has a process group of its own, which ends with it.
struct OneShotWorker: Sendable {
    let command: WorkerCommand
    let arguments: [String]
    /// How long the worker may be silent. Plugins can hang in it.
    let timeout: Duration
    /// A longer answer ends the worker.
    let longestAnswer: Int
    /// The worker's standard input.
    var input: [UInt8] = []

    struct Answer: Sendable {
        let status: TerminationStatus
        let output: [UInt8]
        /// The end of its standard error.
        let standardError: String
        /// Why the worker was ended; nil when it ended by itself.
        let interruption: Interruption?
        /// Why its memory could not be limited; nil if it was, or need not be.
        let unlimited: String?

        /// The last line as visible text, of at most this many bytes.
        var lastWords: String? {
            standardError.split(separator: "\n").last.map {
                VisibleText.line(String($0).prefix(bytes: Self.longestWords))
            }
        }

        private static let longestWords = 4000
    }

    enum Interruption: Hashable, Sendable, CustomStringConvertible {
        /// It printed nothing for this time.
        case silence(Duration)
        case tooLong(limit: Int)

        var description: String {
            switch self {
            case .silence(let timeout):
                "no answer within \(timeout); a plugin may hang when it is opened: look at those that came last"
            case .tooLong(let limit): "the answer has more than \(limit) bytes; reinstall both programs together"
            }
        }
    }

    private typealias Running = Execution<CustomWriteInput, SequenceOutput, SequenceOutput>

    /// What the worker has printed. The tasks that read from it share this.
    private final class Transcript: Sendable {
        struct State {
            var output: [UInt8] = []
            var standardError: [UInt8] = []
            var lastOutput = ContinuousClock.now
            var interruption: Interruption?
            var unlimited: String?
        }

        let state = Mutex(State())
    }

    private static let longestStandardError = 65536

    func answer() async throws(WorkerQueryError) -> Answer {
        do {
            return try await run()
        } catch {
            throw WorkerQueryError(
                message: "\(command.executable): the worker program cannot be run: \(WorkerProcess.words(for: error))",
                isMissing: !(error is ResourceLimitError))
        }
    }

    private func run() async throws -> Answer {
        let result = try await ProcessStart.one { hasStarted in
            try await Subprocess.run(
                .path(FilePath(command.executable)), arguments: Arguments(arguments),
                environment: WorkerProcess.environment(of: command), platformOptions: WorkerProcess.platform,
                input: .inputWriter, output: .sequence, error: .sequence
            ) { running in
                hasStarted()
                let transcript = Transcript()
                let unlimited = command.limits?.problem(of: running.processIdentifier.value)
                transcript.state.withLock { $0.unlimited = unlimited }
                await listen(to: running, transcript)
                return transcript.state.withLock { $0 }
            }
        }
        let printed = result.closureResult
        return Answer(
            status: result.terminationStatus, output: printed.output,
            standardError: String(decoding: printed.standardError, as: UTF8.self), interruption: printed.interruption,
            unlimited: printed.unlimited)
    }

    private func listen(to running: Running, _ transcript: Transcript) async {
        let processID = running.processIdentifier.value
        // Nobody reaps the process before this function returns, so its number stays its own.
        let kill: @Sendable () -> Void = { ProcessGroup.end(processID) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await interrupt(transcript, processID, kill) }
            group.addTask { await write(to: running.standardInputWriter) }
            group.addTask { await keepStandardError(running.standardError, in: transcript) }
            await collect(running.standardOutput, in: transcript, kill)
            kill()
            group.cancelAll()
        }
    }

    private func write(to writer: StandardInputWriter) async {
        do {
            if !input.isEmpty { _ = try await writer.write(input) }
            try await writer.finish()
        } catch {
            // The worker has ended. Its exit status says why.
        }
    }

    private func collect(
        _ output: SubprocessOutputSequence, in transcript: Transcript, _ kill: @Sendable () -> Void
    ) async {
        do {
            for try await chunk in output {
                let isTooLong = transcript.state.withLock { state in
                    chunk.withUnsafeBytes { state.output.append(contentsOf: $0) }
                    state.lastOutput = .now
                    guard state.output.count > longestAnswer else { return false }
                    state.interruption = state.interruption ?? .tooLong(limit: longestAnswer)
                    return true
                }
                if isTooLong { return kill() }
            }
        } catch {
            // The output so far is kept. The exit status says why it ended.
        }
    }

    private func keepStandardError(_ output: SubprocessOutputSequence, in transcript: Transcript) async {
        do {
            for try await chunk in output {
                transcript.state.withLock { state in
                    chunk.withUnsafeBytes { state.standardError.append(contentsOf: $0) }
                    state.standardError.removeFirst(max(0, state.standardError.count - Self.longestStandardError))
                }
            }
        } catch {
            // The output so far is kept.
        }
    }

    private func interrupt(_ transcript: Transcript, _ processID: pid_t, _ kill: @Sendable () -> Void) async {
        do {
            while true {
                let end = transcript.state.withLock { $0.lastOutput } + timeout
                if end <= .now { break }
                try await Task.sleep(until: end)
            }
        } catch {
            return  // The worker has ended.
        }
        // After the machine was suspended, the end of the process may not have been noticed yet.
        if !Self.hasEnded(processID) {
            transcript.state.withLock { $0.interruption = $0.interruption ?? .silence(timeout) }
        }
        kill()
    }

    /// Does not reap the process.
    private static func hasEnded(_ processID: pid_t) -> Bool {
        var facts = siginfo_t()
        let found = waitid(P_PID, id_t(processID), &facts, WEXITED | WNOHANG | WNOWAIT)
        return found == 0 && facts.si_signo == SIGCHLD
    }
}
