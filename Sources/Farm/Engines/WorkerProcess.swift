import CChannel
import Catalogs
import FoundationEssentials
import Glibc
import JobModel
package import Scheduling
package import Subprocess
import Synchronization
import SystemPackage
import WorkerProtocol

/// One worker process, from its start to its end.
package struct WorkerProcess: Sendable {
    let id: WorkerID
    let command: WorkerCommand
    let workers: WorkerPool
    /// Gets the worker's catalog. A worker reports it only if asked.
    let introducing: (@Sendable (Catalog?) -> Void)?
    /// An order that an earlier process of the worker could not carry out. Everybody else takes the worker for ready already.
    let firstOrder: Lease?
    let onEvent: @Sendable (Event) -> Void

    /// A worker that is not ready by then hangs while it loads a library.
    package static let startLimit = Duration.seconds(60)

    private typealias Running = Execution<FileDescriptorInput, SequenceOutput, SequenceOutput>

    /// What is known of a process before its exit status.
    private struct Course: Sendable {
        var becameReady = false
        var brokeProtocol: String?
        /// Why the settings refuse the process.
        var refusal: String?
        var endsByOrder = false
        var lastWords = ""
        /// The kernel's count of out-of-memory kills when the process got its latest order.
        var killsBefore = OutOfMemoryKills.count()
    }

    /// Shared by the tasks that talk with one process.
    private final class Conversation: Sendable {
        let course = Mutex(Course())
    }

    /// Runs the process. Returns how it ended, and whether it was ever ready.
    func live() async -> (Death, wasReady: Bool) {
        do {
            let result = try await ProcessStart.one { hasStarted in
                let conversation = Conversation()
                let orders = try OrderChannel()
                let sender = try sender(orders.ownEnd, conversation)
                do {
                    return try await Subprocess.run(
                        .path(FilePath(command.executable)), arguments: arguments,
                        environment: Self.environment(of: command), platformOptions: Self.platform,
                        input: .fileDescriptor(orders.workersEnd, closeAfterSpawningProcess: false), output: .sequence,
                        error: .sequence
                    ) { running in
                        hasStarted()
                        orders.closeWorkersEnd()
                        return await converse(with: running, sender, conversation)
                    }
                } catch {
                    orders.closeWorkersEnd()
                    await sender.endOfProcess()
                    throw error
                }
            }
            let course = result.closureResult
            let ranOut = OutOfMemoryKills.count() > course.killsBefore
            return (death(result.terminationStatus, course, ranOut), course.becameReady)
        } catch {
            return (Death(.failedToStart("\(command.executable): \(Self.words(for: error))")), false)
        }
    }

    /// Why a process could not be started. A limit of the system is named.
    static func words(for error: any Error) -> String {
        guard let code = (error as? SubprocessError)?.underlyingError?.rawValue,
            let limitError = ResourceLimitError(code: code, "start a process")
        else { return "\(error)" }
        return "\(limitError)"
    }

    private var arguments: Arguments {
        Arguments(command.arguments + (introducing == nil ? [] : [Greeting.introductionFlag]))
    }

    static func environment(of command: WorkerCommand) throws -> Environment {
        // Swift's crash reporter takes a second and holds the pipe. The coordinator classifies the death itself.
        var values: [Environment.Key: String?] = ["SWIFT_BACKTRACE": "enable=no"]
        for (key, value) in command.environment {
            values[Environment.Key(stringLiteral: key)] = value
        }
        // Always set, so that a variable of the user does not decide.
        values[Environment.Key(stringLiteral: SandboxMode.folderVariable)] = command.folders.joined(separator: ":")
        let readable = command.readable + [command.scratch].compactMap(\.self)
        values[Environment.Key(stringLiteral: SandboxMode.readVariable)] = readable.joined(separator: ":")
        values[Environment.Key(stringLiteral: ProgramConditions.variable)] = try command.programs.text()
        var plugins = command.plugins
        plugins.refused = command.refusals.all
        values[Environment.Key(stringLiteral: PluginConditions.variable)] = try plugins.text()
        let inherited = WorkerEnvironment.allowed(
            of: ProcessInfo.processInfo.environment, more: command.inheritedVariables)
        let kept = inherited.map { (Environment.Key(stringLiteral: $0), $1) }
        return Environment.custom(Dictionary(uniqueKeysWithValues: kept)).updating(values)
    }

    /// The process gets a group of its own. So Ctrl-C in a terminal reaches only the coordinator, and a kill reaches
    /// everything that the worker started.
    static var platform: PlatformOptions {
        var options = PlatformOptions()
        options.processGroupID = 0
        return options
    }

    /// Sends the orders of one process.
    private func sender(_ channel: Int32, _ conversation: Conversation) throws(ResourceLimitError) -> OrderSender {
        let conditions = OrderSender.Conditions(
            temporaryFolder: temporaryFolder, folders: command.folders, restrictThread: command.restrictThread,
            limits: command.limits,
            willSend: { conversation.course.withLock { $0.killsBefore = OutOfMemoryKills.count() } },
            // Killing the worker makes the task fail with a reason.
            cannotSend: { [workers, id] in workers.kill(id) })
        return try OrderSender(channel, conditions)
    }

    private var temporaryFolder: String {
        command.environment["TMPDIR"] ?? ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    }

    private func converse(with running: Running, _ sender: OrderSender, _ conversation: Conversation) async -> Course {
        let processID = running.processIdentifier.value
        workers.add(id, processID: processID, sender, scratch: command.scratch)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await keepLastWords(of: running.standardError, in: conversation) }
            group.addTask { await limitStart(conversation) }
            await readReports(running, sender, conversation)
            await noteClosedPipe(of: processID, conversation)
            // The process is dead or useless. Killing it again does no harm while nobody has reaped it.
            conversation.course.withLock { $0.endsByOrder = workers.endedByOrder(id) }
            ProcessGroup.end(processID)
            workers.remove(id)
            await sender.endOfProcess()
            group.cancelAll()
        }
        return conversation.course.withLock { $0 }
    }

    private func readReports(
        _ running: Running, _ sender: OrderSender, _ conversation: Conversation
    ) async {
        let processID = running.processIdentifier.value
        var buffer = FrameBuffer(within: .reports)
        var decoder = ReportDecoder()
        var budget = ReportBudget()
        var pace = ReadingPace(perSecond: ReportDecoder.unitsPerSecond)
        let start = ContinuousClock.now
        do {
            for try await chunk in running.standardOutput {
                chunk.withUnsafeBytes { buffer.append($0) }
                while let body = try buffer.next() {
                    let decoded = try decoder.decode(body)
                    let now = Timestamp(ContinuousClock.now - start)
                    if try !receive(decoded.report, of: processID, sender, conversation),
                        let objection = budget.objection(toNeedless: body.count, at: now)
                    {
                        throw ProtocolError(description: objection)
                    }
                    if let pause = pace.pause(after: decoded.units, at: now) { await Self.wait(pause) }
                }
            }
        } catch {
            conversation.course.withLock { $0.brokeProtocol = "\(error)" }
        }
    }

    /// A process closes its pipe just before it ends. If it lives on, a plugin may have closed its descriptors. Then it is
    /// killed, and that does not count as a kill from outside.
    private func noteClosedPipe(of processID: pid_t, _ conversation: Conversation) async {
        guard conversation.course.withLock({ $0.brokeProtocol == nil && !$0.endsByOrder }) else { return }
        for _ in 0..<200 {
            var found = siginfo_t()
            // Does not reap the process.
            guard waitid(P_PID, id_t(processID), &found, WEXITED | WNOHANG | WNOWAIT) == 0, found.si_signo == 0 else {
                return
            }
            do {
                try await Task.sleep(for: .milliseconds(5))
            } catch {
                return
            }
        }
        conversation.course.withLock { $0.brokeProtocol = "it closed its pipe to the coordinator, and went on" }
    }

    private static func wait(_ pause: Duration) async {
        // If the task is cancelled, its process ends, and there is nothing to wait for.
        try? await Task.sleep(for: pause)
    }

    /// - Returns: false for a report that answers nothing.
    private func receive(
        _ report: Report, of processID: pid_t, _ sender: OrderSender, _ conversation: Conversation
    ) throws -> Bool {
        let isReady = conversation.course.withLock { $0.becameReady }
        guard case .ready(let greeting) = report else {
            guard isReady else { throw ProtocolError(description: "a report before its greeting") }
            guard let report = try workers.report(report, of: id) else { return false }
            switch report {
            case .failed(let lease, let failure):
                // The files are gone before anybody acts on the failure.
                sender.removeFiles { [id, onEvent] folders in
                    let words = folders.reduce(failure.message) { $0.replacing($1.source, with: $1.target) }
                    onEvent(.report(id, .failed(lease, TaskFailure(failure.kind, words))))
                }
                return report.answersSomething
            case .finished(let lease, let receipt) where receipt.writesNothing:
                // Of a picture that is too large to be rendered at once, the files of its outputs are there, and empty.
                sender.removeFiles { [id, onEvent] _ in onEvent(.report(id, .finished(lease, receipt))) }
                return report.answersSomething
            case .finished(let lease, let receipt):
                // The outputs are in their places before anybody looks for them.
                sender.finishFiles { [id, onEvent] moved in
                    switch moved {
                    case .success(let folders): onEvent(.report(id, .finished(lease, receipt.after(folders))))
                    case .failure(let failure): onEvent(.report(id, .failed(lease, failure)))
                    }
                }
                return report.answersSomething
            case .ready, .inPlugins, .alive, .worn: break
            }
            onEvent(.report(id, report))
            return report.answersSomething
        }
        // A second greeting changes nothing. It may come from a process that was taken over meanwhile.
        guard !isReady else { return false }
        guard greeting.protocolVersion == Greeting.currentVersion else {
            throw ProtocolVersionError(worker: greeting.protocolVersion)
        }
        if let objection = greeting.objection { throw ProtocolError(description: objection) }
        try workers.admit(greeting.versions)
        let unlimited = try limit(processID, sender, conversation)
        conversation.course.withLock { $0.becameReady = true }
        sender.setFolderFormats(greeting.folderFormats)
        command.refusals.note(greeting.refused)
        introducing?(unlimited.map { greeting.catalog?.withoutPart($0) } ?? greeting.catalog)
        if let firstOrder {
            workers.start(firstOrder, scratch: nil)
        } else {
            onEvent(.workerReady(id))
        }
        return true
    }

    /// Limits the process before its first order.
    ///
    /// - Returns: why it cannot be limited. Nil if it is, or need not be.
    private func limit(
        _ processID: pid_t, _ sender: OrderSender, _ conversation: Conversation
    ) throws(UnlimitedError) -> String? {
        let code = sender.limit(processID)
        guard code != 0, let limits = command.limits else { return nil }
        let reason = WorkerLimits.reason(code)
        guard limits.isRequired else { return reason }
        let error = UnlimitedError(reason: reason)
        conversation.course.withLock { $0.refusal = error.description }
        throw error
    }

    /// A worker cannot be limited, and the settings require it.
    struct UnlimitedError: Error, CustomStringConvertible {
        let reason: String
        var description: String {
            "'sandbox: require' cannot be kept, because \(reason); correct that, or set 'sandbox: auto'"
        }
    }

    /// The worker sent what no worker sends. The text is the end of a sentence about it.
    private struct ProtocolError: Error, CustomStringConvertible {
        let description: String
    }

    private struct ProtocolVersionError: Error, CustomStringConvertible {
        let worker: Int
        var description: String {
            "the worker speaks protocol \(worker), the coordinator \(Greeting.currentVersion); reinstall both together"
        }
    }

    /// The bytes of standard error that are read in a second. Only their end is kept, so a worker that prints more has to wait.
    private static let wordsPerSecond = 16 << 20

    /// Keeps the end of the process's standard error for the case that it dies.
    private func keepLastWords(
        of errors: SubprocessOutputSequence, in conversation: Conversation
    ) async {
        var tail: [UInt8] = []
        var pace = ReadingPace(perSecond: Self.wordsPerSecond)
        let start = ContinuousClock.now
        do {
            for try await chunk in errors {
                chunk.withUnsafeBytes { tail.append(contentsOf: $0) }
                onEvent(.words(id, chunk.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }))
                if tail.count > 2000 { tail.removeFirst(tail.count - 1000) }
                let words = String(decoding: tail.suffix(400), as: UTF8.self)
                conversation.course.withLock { $0.lastWords = words }
                let now = Timestamp(ContinuousClock.now - start)
                if let pause = pace.pause(after: chunk.count, at: now) { await Self.wait(pause) }
            }
        } catch {
            // The text so far is kept.
        }
    }

    private func limitStart(_ conversation: Conversation) async {
        do {
            try await Task.sleep(for: Self.startLimit)
        } catch {
            return
        }
        if conversation.course.withLock({ !$0.becameReady }) { workers.kill(id) }
    }
}

extension WorkerProcess {
    private func death(_ status: TerminationStatus, _ course: Course, _ ranOut: Bool) -> Death {
        if let refusal = course.refusal { return Death(.failedToStart(refusal)) }
        let ending = WorkerExit(
            executable: command.executable, status: status, becameReady: course.becameReady,
            endsByOrder: course.endsByOrder, brokeProtocol: course.brokeProtocol, memoryRanOut: ranOut)
        // The worker's own message needs no frame around it.
        if case .exited(69) = status, !course.becameReady, !course.endsByOrder, !course.lastWords.isEmpty {
            let words = course.lastWords.hasSuffix("\n") ? String(course.lastWords.dropLast()) : course.lastWords
            return Death(.failedToStart(VisibleText.message(words)))
        }
        return Death(ending.manner, lastWords: course.lastWords.split(separator: "\n").joined(separator: " / "))
    }
}

/// Everything that is known of a process that has ended, and the resulting manner of death.
package struct WorkerExit: Hashable, Sendable {
    let executable: String
    let status: TerminationStatus
    let becameReady: Bool
    let endsByOrder: Bool
    let brokeProtocol: String?
    /// The kernel counted an out-of-memory kill since the process got its latest order.
    let memoryRanOut: Bool

    package init(
        executable: String, status: TerminationStatus, becameReady: Bool, endsByOrder: Bool, brokeProtocol: String?,
        memoryRanOut: Bool
    ) {
        self.executable = executable
        self.status = status
        self.becameReady = becameReady
        self.endsByOrder = endsByOrder
        self.brokeProtocol = brokeProtocol
        self.memoryRanOut = memoryRanOut
    }

    /// What is said of a process that a filter of system calls above it has ended.
    static let endedByFilter =
        "was ended by a filter of system calls before it was ready (SIGSYS); in the settings of what starts Penumbra, such as a "
        + "systemd unit or a container, allow prctl and seccomp, or let refused calls fail: SystemCallErrorNumber=EPERM"

    package var manner: Death.Manner {
        if let problem = brokeProtocol { return .brokeProtocol(problem) }
        if endsByOrder {
            return becameReady
                ? .byOrder : .failedToStart("\(executable) was not ready within \(WorkerProcess.startLimit)")
        }
        switch status {
        case .signaled(SIGKILL): return memoryRanOut ? .outOfMemory : .killed
        case .signaled(SIGSYS) where !becameReady: return .failedToStart("\(executable) \(Self.endedByFilter)")
        case _ where !becameReady: return .failedToStart("\(executable) ended before it was ready (\(status))")
        case .signaled(let signal): return .signal(signal)
        case .exited(let code): return .exited(code)
        }
    }
}

/// The number of processes that the kernel has killed because memory ran out, as counted for this process's control group.
///
/// A SIGKILL does not tell who sent it. Only a count that rose meanwhile proves that the kernel did.
enum OutOfMemoryKills {
    /// 0 if the kernel or the container does not count.
    static func count() -> Int {
        for path in ["/sys/fs/cgroup/memory.events", "/proc/vmstat"] {
            if let text = read(path), let count = field("oom_kill", of: text) { return count }
        }
        return 0
    }

    /// This runs for every task, so the lines of the text, nearly 200, are not collected.
    static func field(_ name: String, of text: [UInt8]) -> Int? {
        let start = Array("\(name) ".utf8)
        var rest = text[...]
        while true {
            let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            if rest.starts(with: start) {
                return Int(String(decoding: rest[..<end].dropFirst(start.count), as: UTF8.self))
            }
            guard end < rest.endIndex else { return nil }
            rest = rest[(end + 1)...]
        }
    }

    private static func read(_ path: String) -> [UInt8]? {
        // If the file is missing, this kernel does not count.
        guard let file = try? FileDescriptor.open(path, .readOnly) else { return nil }
        return try? file.closeAfter {
            var bytes = [UInt8](repeating: 0, count: 16384)
            let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0) }
            bytes.removeLast(bytes.count - count)
            return bytes
        }
    }
}

/// A worker process and everything that it has started.
enum ProcessGroup {
    /// Kills all processes of the group, and the process itself, because a plugin may have moved it to another group.
    ///
    /// - Parameter process: the first process of the group. It must not have been reaped, or its number may be another
    ///   process's.
    static func end(_ process: pid_t) {
        kill(-process, SIGKILL)
        kill(process, SIGKILL)
    }
}
