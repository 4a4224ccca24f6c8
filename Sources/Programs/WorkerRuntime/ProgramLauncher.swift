import CLaunchers
import Catalogs
import Confinement
import Glibc
import JobModel
import WorkerProtocol

/// What a worker asks of its launcher.
enum ProgramOrder: Codable {
    case run(ProgramCall)
    /// The result is not needed any more. An order that comes too late is ignored.
    case cancel
}

/// One run of a program.
struct ProgramCall: Codable {
    let command: ProgramCommand
    /// The most bytes that the program may write to a file.
    let mostBytes: Int
    /// The most private memory in bytes. Nil for no limit.
    let memory: Int?
    let limit: Duration
}

/// The launcher's answer.
struct ProgramReport: Codable {
    enum End: Hashable, Codable {
        case exited(Int32)
        case signalled(Int32)
        case tookTooLong
        case cancelled
        /// The settings of this machine do not name the program.
        case unknown
        /// The file must not be executed. The reason is the end of a sentence.
        case unusable(path: String, reason: String)
        /// The file is not the one of the job's plan.
        case otherFile(path: String)
        /// The file changed while the program ran.
        case changed(path: String)
        /// A step failed before the program began. The reason is the end of a sentence.
        case notStarted(reason: String)
    }

    let end: End
    /// The end of what the program has written to its standard error.
    var errors = ""
}

/// Starts programs for a worker, in a process of its own. The worker itself gives up that right before it opens a picture.
///
/// It is forked from the worker while that has one thread, and ends with it. It trusts nobody: from the worker it takes the name of an
/// allowed program and its arguments. Each program begins in a sandbox, with a time limit, without environment, in an empty folder that
/// is removed afterwards, together with all processes that the program has left behind.
struct ProgramLauncher {
    /// What a worker has of its launcher.
    struct Connection: Sendable {
        let socket: Int32
        /// A program's standard input, a file in memory.
        let input: Int32
        /// A program's standard output, a file in memory.
        let output: Int32
    }

    private let files: launch_files
    /// Can be read when a child has ended.
    private let ends: Int32
    private let programs: [String: String]
    private let sandbox: ProgramSandbox
    private let temporaryFolder: String
    private var known: [String: ProgramFile] = [:]

    struct StartError: Error, CustomStringConvertible {
        let code: Int32
        var description: String { "the programs of the settings cannot be started: \(String(cString: strerror(code)))" }
    }

    /// Starts the launcher. Nil if the settings allow no program.
    ///
    /// - Precondition: This process has one thread.
    static func start(
        _ conditions: ProgramConditions, _ mode: SandboxMode, temporaryFolder: String
    ) throws(StartError) -> Connection? {
        guard !conditions.programs.isEmpty else { return nil }
        var files = launch_files()
        let code = launch_open(&files)
        guard code == 0 else { throw StartError(code: -code) }
        let process = launchers_fork()
        guard process >= 0 else { throw StartError(code: errno) }
        guard process > 0 else {
            let ends = launch_begin(&files)
            guard ends >= 0 else { _exit(1) }
            var launcher = ProgramLauncher(files, ends, conditions, mode, temporaryFolder)
            launcher.serve()
        }
        close(files.launchers_end)
        return Connection(socket: files.workers_end, input: files.input, output: files.output)
    }

    private init(
        _ files: launch_files, _ ends: Int32, _ conditions: ProgramConditions, _ mode: SandboxMode,
        _ temporaryFolder: String
    ) {
        (self.files, self.ends, self.temporaryFolder) = (files, ends, temporaryFolder)
        programs = Dictionary(conditions.programs.map { ($0.name, $0.path) }) { first, _ in first }
        sandbox = ProgramSandbox(mode: mode, readable: conditions.readable)
    }

    private mutating func serve() -> Never {
        var buffer = FrameBuffer()
        while let bytes = receive() {
            buffer.append(bytes)
            do {
                while let body = try buffer.next() {
                    guard case .run(let call) = try FrameCodec.decode(ProgramOrder.self, from: body) else { continue }
                    let report = run(call)
                    try Self.write(FrameCodec.encode(report), to: files.launchers_end)
                }
            } catch {
                // The worker is gone, or not itself any more.
                break
            }
        }
        _exit(0)
    }

    /// Waits for bytes of the worker. Nil if it is gone.
    private func receive() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(files.launchers_end, &bytes, bytes.count)
            if count > 0 { return Array(bytes.prefix(count)) }
            guard count < 0, errno == EINTR else { return nil }
        }
    }

    struct ClosedError: Error {}

    /// Writes all bytes to a socket.
    static func write(_ bytes: [UInt8], to socket: Int32) throws(ClosedError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(socket, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw ClosedError() }
            rest = rest.dropFirst(count)
        }
    }
}

extension ProgramLauncher {
    private mutating func run(_ call: ProgramCall) -> ProgramReport {
        guard let path = programs[call.command.program] else { return ProgramReport(end: .unknown) }
        do throws(ProgramFile.Refusal) {
            let file = try ProgramFile(path, known: known[path])
            known[path] = file
            guard file.sha256 == call.command.sha256 else { return ProgramReport(end: .otherFile(path: path)) }
            let report = start(call, path)
            return try ProgramFile.stamp(path) == file.stamp ? report : ProgramReport(end: .changed(path: path))
        } catch {
            return ProgramReport(end: .unusable(path: path, reason: error.reason))
        }
    }

    private func start(_ call: ProgramCall, _ path: String) -> ProgramReport {
        var name = Array("\(temporaryFolder)/penumbra-program-XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else { return Self.failure("no folder can be created in \(temporaryFolder)") }
        let folder = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { launch_remove(folder) }
        // Opened for each program, so that places and flags that one has set mean nothing to the next.
        let input = open("/proc/self/fd/\(files.input)", O_RDONLY | O_CLOEXEC)
        guard input >= 0 else { return Self.failure("its standard input cannot be opened") }
        defer { close(input) }
        let output = open("/proc/self/fd/\(files.output)", O_RDWR | O_CLOEXEC)
        guard output >= 0 else { return Self.failure("its standard output cannot be opened") }
        defer { close(output) }
        guard ftruncate(output, 0) == 0, let errors = Pipe(), let status = Pipe() else {
            return Self.failure("its standard output cannot be opened")
        }
        let launcher = getpid()
        let process = launchers_fork()
        guard process >= 0 else { return Self.failure("no process can be started") }
        if process == 0 {
            let problem = begin(call, path, folder, launcher, (input, output, errors.writing))
            // If it cannot be written, the program seems to have ended with this code.
            try? Self.write(Array(problem.utf8), to: status.writing)
            _exit(127)
        }
        // Also when the program has just set it itself.
        setpgid(process, process)
        errors.closeWriting()
        status.closeWriting()
        defer { launch_end_children(process) }
        // Ends when the program begins, because the pipe is then closed.
        let problem = String(decoding: status.rest(), as: UTF8.self)
        if problem.hasPrefix(Self.unusable) {
            let reason = String(problem.dropFirst(Self.unusable.count))
            return ProgramReport(end: .unusable(path: path, reason: reason))
        }
        guard problem.isEmpty else { return ProgramReport(end: .notStarted(reason: problem)) }
        var watch = ProgramWatch(errors.reading)
        let end = wait(for: process, until: .now + call.limit, &watch)
        return ProgramReport(end: end, errors: watch.text)
    }

    /// Begins the words about a file that cannot be executed now or later.
    private static let unusable = "unusable: "

    private static func failure(_ reason: String) -> ProgramReport {
        let code = errno
        return ProgramReport(end: .notStarted(reason: words(reason, code: code)))
    }

    private static func words(_ reason: String, code: Int32) -> String {
        "\(reason) (\(String(cString: strerror(code))))"
    }

    /// Becomes the program. Returns only if that fails.
    ///
    /// - Returns: What failed, and why.
    private func begin(
        _ call: ProgramCall, _ path: String, _ folder: String, _ launcher: pid_t,
        _ streams: (input: Int32, output: Int32, errors: Int32)
    ) -> String {
        let code = folder.withCString { folder in
            var start = launch_start(
                input: streams.input, output: streams.output, errors: streams.errors, folder: folder,
                file_size: UInt64(call.mostBytes),
                memory: call.memory.map { UInt64($0) } ?? .max, launcher: launcher)
            return launch_prepare(&start)
        }
        guard code == 0 else { return Self.words("its process cannot be prepared", code: -code) }
        do throws(ConfinementError) {
            try sandbox.enter(program: path, folder: folder)
        } catch {
            return "its sandbox is not complete: \(error.message.prefix { $0 != "\n" })"
        }
        let words = [path] + call.command.arguments
        let variables = [
            "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent", "LC_ALL=C", "TMPDIR=\(folder)",
        ]
        // They are not freed, because the process is replaced or ends.
        var arguments = words.map { strdup($0) } + [nil]
        var environment = variables.map { strdup($0) } + [nil]
        execve(path, &arguments, &environment)
        switch errno {
        case ENOEXEC: return "\(Self.unusable)it has no '#!' line, and is no program for this processor"
        case ENOENT, EACCES, ENOTDIR, ELOOP:
            return Self.unusable
                + Self.words(
                    "its interpreter cannot be executed, or a library that loads it: they must exist, below /usr or in "
                        + "'sandbox_read'", code: errno)
        default: return Self.words("it cannot be executed", code: errno)
        }
    }

    /// Waits for the end of the program, or of the worker.
    private func wait(
        for process: pid_t, until deadline: ContinuousClock.Instant, _ watch: inout ProgramWatch
    ) -> ProgramReport.End {
        while true {
            var (code, signal): (Int32, Int32) = (0, 0)
            if launch_has_ended(process, &code, &signal) != 0 {
                watch.drain()
                return signal == 0 ? .exited(code) : .signalled(signal)
            }
            let left = deadline - .now
            guard left > .zero else { return .tookTooLong }
            var events = [files.launchers_end, ends, watch.file].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            let milliseconds = min(left / .milliseconds(1) + 1, 60_000)
            guard poll(&events, nfds_t(events.count), Int32(milliseconds)) > 0 else { continue }
            var info = [UInt8](repeating: 0, count: 1024)
            if events[1].revents != 0 { _ = read(ends, &info, info.count) }
            if events[2].revents != 0 { watch.drain() }
            if events[0].revents != 0 {
                // Whatever comes, or if the worker is gone: the caller ends the program and removes its folder.
                _ = receive()
                return .cancelled
            }
        }
    }
}

/// Reads the standard error of a program, and keeps its end.
private struct ProgramWatch {
    /// Negative when nothing more can come.
    private(set) var file: Int32
    private var tail: [UInt8] = []

    private static let kept = 2000

    init(_ file: Int32) {
        self.file = file
        _ = fcntl(file, F_SETFL, O_NONBLOCK)
    }

    var text: String { String(decoding: tail.suffix(Self.kept), as: UTF8.self) }

    /// Reads what has come. Of a program that writes faster than this reads, the rest is read later.
    mutating func drain() {
        var bytes = [UInt8](repeating: 0, count: 65536)
        for _ in 0..<16 where file >= 0 {
            let count = read(file, &bytes, bytes.count)
            guard count > 0 else {
                if count == 0 || errno != EAGAIN && errno != EINTR { file = -1 }
                return
            }
            tail = (tail + bytes.prefix(count)).suffix(2 * Self.kept)
        }
    }
}

/// A pipe that is closed with its last reference.
private final class Pipe {
    let reading: Int32
    private(set) var writing: Int32

    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        (reading, writing) = (ends[0], ends[1])
        // No other thread starts a process meanwhile.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    deinit {
        close(reading)
        closeWriting()
    }

    func closeWriting() {
        if writing >= 0 { close(writing) }
        writing = -1
    }

    /// Everything until the other end is closed, at most 4 KB.
    func rest() -> [UInt8] {
        var all: [UInt8] = []
        var bytes = [UInt8](repeating: 0, count: 4096)
        while all.count < 4096 {
            let count = read(reading, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            all += bytes.prefix(count)
        }
        return all
    }
}
