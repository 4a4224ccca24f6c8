import Glibc
import Subprocess
import Synchronization
import SystemPackage

/// A worker program that is started to answer one question, in a process group of its own, which is ended with it.
struct OneShotWorker: Sendable {
    let command: WorkerCommand
    let arguments: [String]
    /// How long the worker may say nothing. Plugins can hang in it.
    let patience: Duration
    /// A longer answer ends the worker.
    let longestAnswer: Int
    /// What it reads from its standard input.
    var input: [UInt8] = []

    struct Answer: Sendable {
        let status: TerminationStatus
        let output: [UInt8]
        /// The end of what it wrote to its standard error.
        let errors: String
        /// Why the worker was ended; nil when it ended by itself.
        let interruption: Interruption?

        var lastWords: String? { errors.split(separator: "\n").last.map(String.init) }
    }

    enum Interruption: Hashable, Sendable {
        /// It was not heard of for so long.
        case silence(Duration)
        case tooLong
    }

    private typealias Running = Execution<CustomWriteInput, SequenceOutput, SequenceOutput>

    /// What is known while the worker runs; the tasks that listen to it share this.
    private final class Hearing: Sendable {
        struct State {
            var output: [UInt8] = []
            var errors: [UInt8] = []
            var lastHeard = ContinuousClock.now
            var interruption: Interruption?
        }

        let state = Mutex(State())
    }

    private static let longestErrors = 65536

    /// Throws when the program cannot be run.
    func ask() async throws -> Answer {
        let result = try await ProcessStart.one { hasStarted in
            try await Subprocess.run(
                .path(FilePath(command.executable)), arguments: Arguments(arguments),
                environment: WorkerProcess.environment(of: command), platformOptions: WorkerProcess.platform,
                input: .inputWriter, output: .sequence, error: .sequence
            ) { running in
                hasStarted()
                let hearing = Hearing()
                await listen(to: running, hearing)
                return hearing.state.withLock { $0 }
            }
        }
        let heard = result.closureResult
        return Answer(
            status: result.terminationStatus, output: heard.output,
            errors: String(decoding: heard.errors, as: UTF8.self), interruption: heard.interruption)
    }

    private func listen(to running: Running, _ hearing: Hearing) async {
        let processID = running.processIdentifier.value
        // Until this returns nobody reaps the process, so that its number is nobody else's.
        let kill: @Sendable () -> Void = { ProcessGroup.end(processID) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await interrupt(hearing, processID, kill) }
            group.addTask { await write(to: running.standardInputWriter) }
            group.addTask { await keepErrors(of: running.standardError, in: hearing) }
            await collect(running.standardOutput, in: hearing, kill)
            kill()
            group.cancelAll()
        }
    }

    private func write(to writer: StandardInputWriter) async {
        do {
            if !input.isEmpty { _ = try await writer.write(input) }
            try await writer.finish()
        } catch {
            // It has ended, and its exit status tells the rest.
        }
    }

    private func collect(
        _ output: SubprocessOutputSequence, in hearing: Hearing, _ kill: @Sendable () -> Void
    ) async {
        do {
            for try await chunk in output {
                let isTooLong = hearing.state.withLock { state in
                    chunk.withUnsafeBytes { state.output.append(contentsOf: $0) }
                    state.lastHeard = .now
                    guard state.output.count > longestAnswer else { return false }
                    state.interruption = state.interruption ?? .tooLong
                    return true
                }
                if isTooLong { return kill() }
            }
        } catch {
            // What was read so far is all there is; the exit status tells the rest.
        }
    }

    private func keepErrors(of errors: SubprocessOutputSequence, in hearing: Hearing) async {
        do {
            for try await chunk in errors {
                hearing.state.withLock { state in
                    chunk.withUnsafeBytes { state.errors.append(contentsOf: $0) }
                    state.errors.removeFirst(max(0, state.errors.count - Self.longestErrors))
                }
            }
        } catch {
            // As above.
        }
    }

    private func interrupt(_ hearing: Hearing, _ processID: pid_t, _ kill: @Sendable () -> Void) async {
        do {
            while true {
                let end = hearing.state.withLock { $0.lastHeard } + patience
                if end <= .now { break }
                try await Task.sleep(until: end)
            }
        } catch {
            return  // It has ended.
        }
        // On a machine that has stood still its end may not have been noticed yet.
        if !Self.hasEnded(processID) {
            hearing.state.withLock { $0.interruption = $0.interruption ?? .silence(patience) }
        }
        kill()
    }

    /// It stays to be reaped.
    private static func hasEnded(_ processID: pid_t) -> Bool {
        var facts = siginfo_t()
        let found = waitid(P_PID, id_t(processID), &facts, WEXITED | WNOHANG | WNOWAIT)
        return found == 0 && facts.si_signo == SIGCHLD
    }
}
