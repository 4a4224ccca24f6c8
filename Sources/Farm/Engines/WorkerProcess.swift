import Catalogs
import FoundationEssentials
import Glibc
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
    /// Gets what the worker offers; a worker that nobody asks does not say it.
    let introducing: (@Sendable (Catalog?) -> Void)?
    let onEvent: @Sendable (Event) -> Void

    /// A worker that has not said that it is ready by then hangs in loading a library.
    package static let startLimit = Duration.seconds(60)

    private typealias Running = Execution<CustomWriteInput, SequenceOutput, SequenceOutput>

    /// What the conversation with a process came to, before its exit status is known.
    private struct Course: Sendable {
        var becameReady = false
        var brokeProtocol: String?
        var endsByOrder = false
        var lastWords = ""
        /// The kernel's count of out-of-memory kills when the process got its latest order.
        var killsBefore = OutOfMemoryKills.count()
    }

    /// The tasks that talk with one process share this.
    private final class Conversation: Sendable {
        let course = Mutex(Course())
    }

    /// Runs the process and returns how it ended, and whether it ever was ready.
    func live() async -> (Death, wasReady: Bool) {
        do {
            let result = try await ProcessStart.one { hasStarted in
                try await Subprocess.run(
                    .path(FilePath(command.executable)), arguments: arguments,
                    environment: Self.environment(of: command), platformOptions: Self.platform, input: .inputWriter,
                    output: .sequence, error: .sequence
                ) { running in
                    hasStarted()
                    return await converse(with: running)
                }
            }
            let course = result.closureResult
            let ranOut = OutOfMemoryKills.count() > course.killsBefore
            return (death(result.terminationStatus, course, ranOut), course.becameReady)
        } catch {
            return (Death(.failedToStart("\(command.executable): \(Self.words(for: error))")), false)
        }
    }

    /// Why a process could not be started; a limit that was met by its name.
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
        // Swift's own crash reporter would take a second and hold the pipe; the coordinator classes the death itself.
        var values: [Environment.Key: String?] = ["SWIFT_BACKTRACE": "enable=no"]
        for (key, value) in command.environment {
            values[Environment.Key(stringLiteral: key)] = value
        }
        var plugins = command.plugins
        plugins.refused = command.refusals.all
        values[Environment.Key(stringLiteral: PluginConditions.variable)] = try plugins.text()
        let inherited = WorkerEnvironment.allowed(
            of: ProcessInfo.processInfo.environment, more: command.inheritedVariables)
        let kept = inherited.map { (Environment.Key(stringLiteral: $0), $1) }
        return Environment.custom(Dictionary(uniqueKeysWithValues: kept)).updating(values)
    }

    /// A group of its own: Ctrl-C in a terminal reaches the coordinator alone, and a kill reaches all that the
    /// worker started.
    static var platform: PlatformOptions {
        var options = PlatformOptions()
        options.processGroupID = 0
        return options
    }

    private func converse(with running: Running) async -> Course {
        let processID = running.processIdentifier.value
        let orders = workers.add(id, processID: processID)
        let conversation = Conversation()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await write(orders, to: running.standardInputWriter, conversation) }
            group.addTask { await keepLastWords(of: running.standardError, in: conversation) }
            group.addTask { await limitStart(conversation) }
            await hear(running.standardOutput, conversation)
            await noteClosedPipe(of: processID, conversation)
            // Dead or useless: it can be heard no more. Killing it again does no harm while nobody has reaped it.
            conversation.course.withLock { $0.endsByOrder = workers.endedByOrder(id) }
            ProcessGroup.end(processID)
            workers.remove(id)
            group.cancelAll()
        }
        return conversation.course.withLock { $0 }
    }

    private func write(
        _ orders: AsyncStream<[UInt8]>, to writer: StandardInputWriter, _ conversation: Conversation
    ) async {
        do {
            for await order in orders {
                conversation.course.withLock { $0.killsBefore = OutOfMemoryKills.count() }
                _ = try await writer.write(order)
            }
            try await writer.finish()
        } catch {
            // The process is gone; the end of its output tells so to everybody who needs to know.
        }
    }

    private func hear(_ output: SubprocessOutputSequence, _ conversation: Conversation) async {
        var buffer = FrameBuffer()
        do {
            for try await chunk in output {
                chunk.withUnsafeBytes { buffer.append($0) }
                while let body = try buffer.next() {
                    try receive(FrameCodec.decode(Report.self, from: body), conversation)
                }
            }
        } catch {
            conversation.course.withLock { $0.brokeProtocol = "\(error)" }
        }
    }

    /// A process that ends closes its pipe in the moment before its end. One that lives on can be heard no more: a plugin may
    /// have closed its descriptors. It is killed then, and that is nobody's kill from outside.
    private func noteClosedPipe(of processID: pid_t, _ conversation: Conversation) async {
        guard conversation.course.withLock({ $0.brokeProtocol == nil && !$0.endsByOrder }) else { return }
        for _ in 0..<200 {
            var found = siginfo_t()
            // It stays to be reaped by whoever has started it.
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

    private func receive(_ report: Report, _ conversation: Conversation) throws {
        guard case .ready(let greeting) = report else {
            if let report = try workers.report(report, of: id) { onEvent(.report(id, report)) }
            return
        }
        guard greeting.protocolVersion == Greeting.currentVersion else {
            throw VersionMismatch(worker: greeting.protocolVersion)
        }
        conversation.course.withLock { $0.becameReady = true }
        command.refusals.note(greeting.refused)
        introducing?(greeting.catalog)
        onEvent(.workerReady(id))
    }

    private struct VersionMismatch: Error, CustomStringConvertible {
        let worker: Int
        var description: String {
            "the worker speaks protocol \(worker), the coordinator \(Greeting.currentVersion); reinstall both together"
        }
    }

    /// Keeps the end of what the process writes to its standard error; it is wanted when the process dies.
    private func keepLastWords(
        of errors: SubprocessOutputSequence, in conversation: Conversation
    ) async {
        var tail: [UInt8] = []
        do {
            for try await chunk in errors {
                chunk.withUnsafeBytes { tail.append(contentsOf: $0) }
                onEvent(.words(id, chunk.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }))
                if tail.count > 2000 { tail.removeFirst(tail.count - 1000) }
                let words = String(decoding: tail.suffix(400), as: UTF8.self)
                conversation.course.withLock { $0.lastWords = words }
            }
        } catch {
            // What was kept so far is all there is.
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
        let ending = WorkerExit(
            executable: command.executable, status: status, becameReady: course.becameReady,
            endsByOrder: course.endsByOrder, brokeProtocol: course.brokeProtocol, memoryRanOut: ranOut)
        // What it says of itself needs no frame around it.
        if case .exited(69) = status, !course.becameReady, !course.endsByOrder, !course.lastWords.isEmpty {
            let words = course.lastWords.hasSuffix("\n") ? String(course.lastWords.dropLast()) : course.lastWords
            return Death(.failedToStart(words))
        }
        return Death(ending.manner, lastWords: course.lastWords.split(separator: "\n").joined(separator: " / "))
    }
}

/// All that is known of a process that has ended, and what follows from it.
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

    package var manner: Death.Manner {
        if let problem = brokeProtocol { return .brokeProtocol(problem) }
        if endsByOrder {
            return becameReady
                ? .byOrder : .failedToStart("\(executable) was not ready within \(WorkerProcess.startLimit)")
        }
        switch status {
        case .signaled(SIGKILL): return memoryRanOut ? .outOfMemory : .killed
        case _ where !becameReady: return .failedToStart("\(executable) ended before it was ready (\(status))")
        case .signaled(let signal): return .signal(signal)
        case .exited(let code): return .exited(code)
        }
    }
}

/// How many processes the kernel has killed for want of memory, as this process's control group counts them.
///
/// A SIGKILL looks the same whoever sent it; only a count that rose in the meantime proves the kernel's hand.
enum OutOfMemoryKills {
    /// 0 where the kernel or the container tells nothing.
    static func count() -> Int {
        for path in ["/sys/fs/cgroup/memory.events", "/proc/vmstat"] {
            if let text = read(path), let count = field("oom_kill", of: text) { return count }
        }
        return 0
    }

    /// Asked for every task: bytes are a tenth of the work that characters are.
    static func field(_ name: String, of text: [UInt8]) -> Int? {
        let start = Array("\(name) ".utf8)
        for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: start) {
            return Int(String(decoding: line.dropFirst(start.count), as: UTF8.self))
        }
        return nil
    }

    private static func read(_ path: String) -> [UInt8]? {
        // A file that is not there is an answer: this kernel does not count.
        guard let file = try? FileDescriptor.open(path, .readOnly) else { return nil }
        return try? file.closeAfter {
            var bytes = [UInt8](repeating: 0, count: 16384)
            let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0) }
            return Array(bytes.prefix(count))
        }
    }
}

/// A worker process and all that it has started.
enum ProcessGroup {
    /// Kills them. A plugin may have put its process into another group: it ends all the same.
    ///
    /// - Parameter process: the group's first one, which nobody has reaped: else its number may be another's.
    static func end(_ process: pid_t) {
        kill(-process, SIGKILL)
        kill(process, SIGKILL)
    }
}
