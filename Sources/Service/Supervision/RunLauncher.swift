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
    /// - Parameter onEnd: Gets the exit code, on any thread: 128 and the number of a signal that ended the process. Nil if the
    ///   process can be waited for no more, and may still live. It is not called if this program ends first.
    func launch(_ order: RunOrder, onEnd: @escaping @Sendable (Int?) -> Void) async throws(LaunchError)

    /// Whether the process lives that was started with the lock of a file. True if that is unknown.
    func hasProcess(holding lockPath: String) -> Bool

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

    package func launch(_ order: RunOrder, onEnd: @escaping @Sendable (Int?) -> Void) async throws(LaunchError) {
        let files: OpenFiles
        do throws(FileError) {
            files = try OpenFiles(order)
        } catch {
            throw LaunchError(error.message)
        }
        let arguments =
            order.confinement.map { ["confined"] + $0.arguments(for: [program] + order.arguments) } ?? order.arguments
        var environment = Self.ownVariables
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
                // They were closed here when the process began to run.
                guard files.close() else { return onEnd(nil) }
                start.yield(LaunchError("\(program) cannot be started: \(error)"))
            }
        }
        for await error in starts {
            if let error { throw error }
            return
        }
    }

    /// Variables that are the service's alone: a secret, and what systemd tells its services.
    private static let ownVariables: [Environment.Key: String?] = [
        "PENUMBRA_TOKEN": nil, "NOTIFY_SOCKET": nil, "LISTEN_PID": nil, "LISTEN_FDS": nil, "LISTEN_FDNAMES": nil,
        "WATCHDOG_PID": nil, "WATCHDOG_USEC": nil,
    ]

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

    package func hasProcess(holding lockPath: String) -> Bool {
        // Without its file, the lock can be found only at the process.
        FileSystem.exists(lockPath) ? KernelLock.isHeld(lockPath) : Self.process(withInput: lockPath) != nil
    }

    package func terminate(holderOf lockPath: String) {
        if FileSystem.exists(lockPath), !KernelLock.isHeld(lockPath) { return }
        guard let process = Self.process(withInput: lockPath) else { return }
        kill(process, SIGTERM)
    }

    /// The process whose standard input is the file, or was it before somebody removed the file. Its number is not used again while it
    /// has the file.
    private static func process(withInput path: String) -> pid_t? {
        var (own, found) = (stat(), stat())
        let exists = lstat(path, &own) == 0
        for name in FileSystem.names(in: "/proc") {
            guard let process = pid_t(name), process != getpid() else { continue }
            let input = "/proc/\(name)/fd/0"
            let isFound =
                exists
                ? stat(input, &found) == 0 && found.st_ino == own.st_ino && found.st_dev == own.st_dev
                : target(of: input) == path + " (deleted)"
            if isFound { return process }
        }
        return nil
    }

    private static func target(of link: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &buffer, buffer.count)
        return count >= 0 ? String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
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

    /// - Returns: false if they were closed before.
    @discardableResult
    func close() -> Bool {
        let isOpen = held.withLock { $0.take() != nil }
        if isOpen { Glibc.close(log.rawValue) }
        return isOpen
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
