package import Confinement
import Engines
import Glibc
import JobModel
package import Queueing
import SafeFiles
import Subprocess
import Synchronization
import SystemPackage

/// What the process of a run is started with.
package struct RunOrder: Hashable, Sendable {
    package let job: JobID
    package let run: String
    /// Of `penumbra`.
    package let arguments: [String]
    /// The process holds the lock of this file while it lives.
    package let lockPath: String
    /// The file to which its outputs are appended.
    package let logPath: String
    /// What the log begins with, for a person.
    package let notes: [String]
    /// The places that the process, and everything that it starts, can open. Nil for all that its user can.
    package let confinement: Confinement?
    /// Variables of its environment in place of the service's.
    package let environment: [String: String]
}

/// Starts the processes of runs. They outlive the program that starts them.
package protocol RunLauncher: Sendable {
    /// Returns when the process runs.
    ///
    /// - Parameter onEnd: Gets the exit code, on any thread: 128 and the number of a signal that ended the process. It is
    ///   not called if this program ends first.
    func launch(_ order: RunOrder, onEnd: @escaping @Sendable (Int) -> Void) async throws(LaunchError)

    /// Sends SIGTERM to the process that holds the lock of a file, if there is one.
    func terminate(holderOf lockPath: String)
}

/// No process could be started.
package struct LaunchError: Error, Hashable, Sendable {
    package let message: String

    package init(_ message: String) { self.message = message }
}

/// Starts real processes of `penumbra`.
///
/// The standard input of a process is a locked empty file. The lock belongs to the open file, which the process inherits, so the
/// kernel holds it for exactly as long as the process lives. A service that is killed between any two steps, and started again, sees by
/// the lock whether the process exists.
package struct PenumbraLauncher: RunLauncher {
    /// The path of `penumbra`.
    private let program: String

    package init(program: String) { self.program = program }

    package func launch(_ order: RunOrder, onEnd: @escaping @Sendable (Int) -> Void) async throws(LaunchError) {
        let files: OpenFiles
        do throws(FileError) {
            files = try OpenFiles(order)
        } catch {
            throw LaunchError(error.message)
        }
        let arguments =
            order.confinement.map { ["confined"] + $0.arguments(for: [program] + order.arguments) } ?? order.arguments
        var environment: [Environment.Key: String?] = ["PENUMBRA_TOKEN": nil]
        for (name, value) in order.environment { environment[Environment.Key(stringLiteral: name)] = value }
        let (starts, start) = AsyncStream.makeStream(of: LaunchError?.self)
        // Nobody waits for this task: it lives as long as the process.
        Task { [program, environment] in
            do {
                let result = try await ProcessStart.one { hasStarted in
                    try await Subprocess.run(
                        .path(FilePath(program)), arguments: Arguments(arguments),
                        environment: .inherit.updating(environment), workingDirectory: "/",
                        platformOptions: Self.platform,
                        input: .fileDescriptor(files.lock, closeAfterSpawningProcess: false),
                        output: .fileDescriptor(files.log, closeAfterSpawningProcess: false),
                        error: .fileDescriptor(files.log, closeAfterSpawningProcess: false)
                    ) { _ in
                        hasStarted()
                        // From now on the lock is the process's alone.
                        files.close()
                        start.yield(nil)
                    }
                }
                onEnd(Self.code(result.terminationStatus))
            } catch {
                files.close()
                start.yield(LaunchError("\(program) cannot be started: \(error)"))
            }
        }
        for await error in starts {
            if let error { throw error }
            return
        }
    }

    private static func code(_ status: TerminationStatus) -> Int {
        switch status {
        case .exited(let code): Int(code)
        case .signaled(let signal): 128 + Int(signal)
        }
    }

    /// Signals of the service's terminal do not reach a run.
    private static var platform: PlatformOptions {
        var options = PlatformOptions()
        options.createSession = true
        return options
    }

    package func terminate(holderOf lockPath: String) {
        guard let process = Self.holder(of: lockPath) else { return }
        kill(process, SIGTERM)
    }

    /// The process whose standard input is the locked file. It cannot have another number while it holds the lock.
    private static func holder(of lockPath: String) -> pid_t? {
        guard KernelLock.isHeld(lockPath) else { return nil }
        var (own, found) = (stat(), stat())
        guard lstat(lockPath, &own) == 0 else { return nil }
        for name in FileSystem.names(in: "/proc") {
            guard let process = pid_t(name), process != getpid(), stat("/proc/\(name)/fd/0", &found) == 0,
                found.st_ino == own.st_ino, found.st_dev == own.st_dev
            else { continue }
            return process
        }
        return nil
    }
}

/// The files that a new process inherits.
private final class OpenFiles: Sendable {
    let lock: FileDescriptor
    let log: FileDescriptor
    /// Nil once they are closed here.
    private let held: Mutex<KernelLock?>

    init(_ order: RunOrder) throws(FileError) {
        guard let taken = try KernelLock.take(order.lockPath) else {
            throw FileError(path: order.lockPath, code: EBUSY, action: "lock", reason: "another process has the run")
        }
        lock = FileDescriptor(rawValue: taken.descriptor)
        log = FileDescriptor(rawValue: try Self.openLog(order))
        held = Mutex(taken)
    }

    deinit { close() }

    func close() {
        let isOpen = held.withLock { $0.take() != nil }
        if isOpen { Glibc.close(log.rawValue) }
    }

    private static func openLog(_ order: RunOrder) throws(FileError) -> Int32 {
        let file = open(order.logPath, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard file >= 0 else { throw FileError(path: order.logPath, code: errno, action: "open the log of a run") }
        for note in order.notes {
            let line = Array("\(VisibleText.line(note))\n".utf8)
            // A note that is lost on a full disk does not keep the run from starting.
            _ = write(file, line, line.count)
        }
        return file
    }
}
