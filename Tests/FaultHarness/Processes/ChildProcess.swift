import Glibc

/// How a process ended.
enum Ending: Hashable, Sendable, CustomStringConvertible {
    case exited(Int32)
    case signaled(Int32)

    /// As a shell tells it.
    var code: Int32 {
        switch self {
        case .exited(let code): code
        case .signaled(let signal): 128 + signal
        }
    }

    var description: String {
        switch self {
        case .exited(let code): "exit code \(code)"
        case .signaled(let signal): "signal \(signal)"
        }
    }

    init(status: Int32) {
        let signal = status & 0x7f
        self = signal == 0 ? .exited(status >> 8 & 0xff) : .signaled(signal)
    }
}

/// A process that could not be started.
struct SpawnProblem: Error, CustomStringConvertible {
    let executable: String
    let code: Int32
    var description: String { "\(executable): cannot be started: \(String(cString: strerror(code)))" }
}

/// A process that the harness started, in a process group of its own unless told otherwise.
final class ChildProcess {
    let processID: pid_t
    private(set) var ending: Ending?

    /// What a descriptor of the child is.
    enum Stream {
        case descriptor(Int32)
        case file(String)
    }

    /// - Parameters:
    ///   - environment: all of it.
    ///   - ownGroup: false for a child that belongs to this process's group.
    init(
        _ executable: String, _ arguments: [String], environment: [String: String], input: Stream = .file("/dev/null"),
        output: Stream, errors: Stream, ownGroup: Bool = true
    ) throws(SpawnProblem) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        Self.add(input, 0, O_RDONLY, &actions)
        Self.add(output, 1, O_WRONLY | O_CREAT | O_APPEND, &actions)
        Self.add(errors, 2, O_WRONLY | O_CREAT | O_APPEND, &actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        if ownGroup {
            posix_spawnattr_setpgroup(&attributes, 0)
            posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        }
        var process: pid_t = 0
        let code = Self.withCStrings([executable] + arguments) { argv in
            Self.withCStrings(environment.map { "\($0.key)=\($0.value)" }) { envp in
                posix_spawn(&process, executable, &actions, &attributes, argv, envp)
            }
        }
        guard code == 0 else { throw SpawnProblem(executable: executable, code: code) }
        processID = process
    }

    private static func add(
        _ stream: Stream, _ target: Int32, _ flags: Int32, _ actions: inout posix_spawn_file_actions_t
    ) {
        switch stream {
        case .descriptor(let source): posix_spawn_file_actions_adddup2(&actions, source, target)
        case .file(let path): posix_spawn_file_actions_addopen(&actions, target, path, flags, 0o644)
        }
    }

    private static func withCStrings<Result>(
        _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers = texts.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return pointers.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { preconditionFailure("the list ends with nil at least") }
            return body(base)
        }
    }

    var isRunning: Bool { poll() == nil }

    /// How it ended; nil while it runs.
    @discardableResult func poll() -> Ending? {
        if let ending { return ending }
        var status: Int32 = 0
        if waitpid(processID, &status, WNOHANG) == processID { ending = Ending(status: status) }
        return ending
    }

    /// Waits, at most so long.
    func wait(seconds: Double) -> Ending? {
        let end = Moment.now + seconds
        while poll() == nil, Moment.now < end { usleep(1000) }
        return ending
    }

    /// Nothing is sent to a process that has been waited for.
    func signal(_ signal: Int32) {
        if poll() == nil { kill(processID, signal) }
    }
}

/// Seconds of a clock that never jumps.
enum Moment {
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// Waits a fraction of a second.
func pause(_ seconds: Double) { usleep(UInt32(max(0, seconds) * 1e6)) }
