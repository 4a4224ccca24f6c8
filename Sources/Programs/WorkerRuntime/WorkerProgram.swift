import CChannel
import CCrashRecord
import Catalogs
import Confinement
import FileAccess
import Glibc
import ImageFiles
import JobModel
import Synchronization
import WorkerProtocol

/// The whole life of the worker process `penumbra-worker`.
public enum WorkerProgram {
    private static let usage = """
        penumbra-worker renders for penumbra, which starts it.

          penumbra-worker             takes orders from standard input, sends reports to standard output
          penumbra-worker --introduce likewise, and first says what it offers
          penumbra-worker describe    prints what it offers, and what it refused to open, as JSON
          penumbra-worker examine     tells of chains, on standard input, what changes nothing or cannot be had
          penumbra-worker list-plugins        prints the plugins that it uses, as JSON
          penumbra-worker check-plugin FILE   tries a plugin with the contract of filters
          penumbra-worker --version   prints its version

        """

    /// - Returns: The exit code.
    public static func run(_ arguments: [String]) -> Int32 {
        ignoreSignals()
        ResourceLimitError.saveAddresses()
        switch arguments {
        case []: return serve()
        case [Greeting.introductionFlag]: return serve(introducing: true)
        case ["describe"]: return describe()
        case ["examine"]: return examine()
        case ["list-plugins"]:
            return attempt { try PluginCommands.list(try WorkerSandbox(in: variable, getsOpenFiles: true)) }
        case let words where words.count == 2 && words[0] == "check-plugin":
            return attempt { try PluginCommands.check(words[1], try WorkerSandbox(in: variable, getsOpenFiles: true)) }
        case ["--version"]:
            print("penumbra-worker \(Version.penumbra)")
            return 0
        case ["--help"], ["-h"], ["help"]:
            print(usage, terminator: "")
            return 0
        default:
            complain(usage)
            return 64
        }
    }

    /// If the coordinator is gone, or a file is too large, the failing call returns an error instead of a signal.
    private static func ignoreSignals() {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    private static func describe() -> Int32 {
        let channel = Channel()
        return attempt {
            try channel.send(bytes: FrameCodec.json(greeting(of: toolbox(introducing: true), introducing: true)))
        }
    }

    private static func examine() -> Int32 {
        let channel = Channel()
        return attempt { try ChainExaminer.answer(on: channel) { try toolbox() } }
    }

    /// The exit code of a body that may throw.
    private static func attempt(_ body: () throws -> Void) -> Int32 {
        do {
            try body()
            return 0
        } catch {
            complain("\(error)\n")
            return 69
        }
    }

    /// The launchers of programs and of ffmpeg are started first, and then plugins are opened, because all need a process with one
    /// thread.
    ///
    /// - Parameters:
    ///   - getsOpenFiles: Whether this process gets the files that it writes as open descriptors, or writes none.
    ///   - renders: Whether it may have to run programs, or to write videos.
    ///   - introducing: Whether its catalog is asked for, which has the digests of programs.
    private static func toolbox(
        getsOpenFiles: Bool = true, renders: Bool = false, introducing: Bool = false
    ) throws -> Toolbox {
        let cancellation = TaskCancellation()
        let sandbox = try WorkerSandbox(in: variable, getsOpenFiles: getsOpenFiles)
        sandbox.prepare()
        let conditions = try programConditions()
        let launcher =
            renders
            ? try ProgramLauncher.start(
                conditions, sandbox.mode, temporaryFolder: variable("TMPDIR") ?? "/tmp"
            ).map { ProgramConnection($0) } : nil
        // Before the sandbox, which may hide them.
        let programs = introducing ? conditions.programs.map { AllowedProgram($0) } : []
        let ffmpeg = variable(VideoProgramPath.variable) ?? VideoProgramPath.usual
        let missingVideo = VideoProgram.missing(ffmpeg)
        let video = renders && missingVideo == nil ? try VideoProgram(ffmpeg, sandbox.mode) : nil
        ProcessState.watch([STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO])
        ProcessState.record()
        // Language runtimes change the process state when they are opened. It is restored, and nobody is blamed.
        let installed = try ProcessState.kept { Result { try InstalledPlugins(cancellation: cancellation, sandbox) } }
            .result
            .get()
        ignoreSignals()
        try Toolbox.startLibraries()
        return try Toolbox(
            installed, cancellation: cancellation, programs: programs, launcher, missingVideo: missingVideo, video)
    }

    private struct UnknownProgramsError: Error, CustomStringConvertible {
        let description =
            "\(ProgramConditions.variable) is not as this penumbra-worker knows it; reinstall both programs together"
    }

    private static func programConditions() throws(UnknownProgramsError) -> ProgramConditions {
        guard let text = variable(ProgramConditions.variable) else { return ProgramConditions() }
        guard let conditions = ProgramConditions(text: text) else { throw UnknownProgramsError() }
        return conditions
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    private static func greeting(of toolbox: Toolbox, introducing: Bool) -> Greeting {
        Greeting(
            protocolVersion: Greeting.currentVersion, versions: toolbox.catalog.versions,
            catalog: introducing ? toolbox.catalog : nil,
            refused: toolbox.refused,
            folderFormats: toolbox.catalog.formats.filter(\.isFolder).map(\.name))
    }

    private static func serve(introducing: Bool = false) -> Int32 {
        ProcessPriority.apply(variable)
        let channel = Channel()
        do {
            let toolbox = try toolbox(
                getsOpenFiles: channel.carriesFiles, renders: true, introducing: introducing)
            let memory = MemoryWatch(variable: variable)
            OuterLimits.record()
            let orders = try OrderQueue(channel)
            // A worker that cannot render reports it before it gets a picture, so that no picture is blamed.
            if let shortage = ResourceLimitError.found(threads: TaskFailure.threads, for: "render") { throw shortage }
            // Before the greeting, because the coordinator sets limits as soon as it has that.
            channel.recordCrashes()
            try channel.send(.ready(greeting(of: toolbox, introducing: introducing)))
            let drawing = DrawingWatch(channel)
            try Heartbeat(channel, drawing).start()
            // Includes the signal handlers that plugins and libraries have added until now.
            ProcessState.record()
            let files = FileWatch()
            while true {
                let order = orders.next()
                let lease = order.lease
                toolbox.cancellation.reset()
                // The coordinator has set other limits before it sent the order.
                ProcessState.recordLimits()
                drawing.begin(lease)
                let programs = ProgramRunner(toolbox.launcher, toolbox.cancellation, timeLimit: order.timeLimit)
                let runner = TaskRunner(
                    toolbox: toolbox, watch: PluginWatch(lease: lease, channel: channel), opener: order.opener,
                    programs: programs)
                let report = runner.report(on: order.spec, lease)
                order.opener.close()
                guard drawing.end() else { continue }
                if report.isFault || programs.isLost || memory.isExceeded(beside: toolbox.pictures.bytes)
                    || files.isExceeded
                {
                    try channel.send(.worn(lease))
                }
                try channel.send(report)
            }
        } catch {
            // The coordinator is gone, no thread can be started, or libvips does not start. The worker ends.
            complain("\(error)\n")
            return 69
        }
    }

    private static func complain(_ text: String) {
        var text = VisibleText.lines(text)
        text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

extension Report {
    /// True if a plugin broke the rules for plugins in this process.
    fileprivate var isFault: Bool {
        if case .failed(_, let failure) = self, case .plugin = failure.kind { true } else { false }
    }
}

/// The channels to the coordinator, out of reach of all other code in this process.
///
/// Orders come over a socket, together with open files, or over a pipe. Reports go over a pipe.
///
/// A print of a plugin or a decoder must not get between messages. So the pipe gets a descriptor of its own, descriptor
/// 1 becomes standard error, and descriptor 0 becomes empty.
final class Channel: Sendable {
    private let input: Int32
    /// A sender holds the lock until its whole message is in the pipe, because heartbeats come from another thread.
    private let output: Mutex<Int32>

    struct ClosedError: Error {}

    init() {
        input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
        output = Mutex(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3))
        dup2(STDERR_FILENO, STDOUT_FILENO)
        let nothing = open("/dev/null", O_RDONLY)
        dup2(nothing, STDIN_FILENO)
        close(nothing)
        ProcessState.watch([input, output.withLock { $0 }])
    }

    /// From now on, crashing threads write their ``CrashMessage``.
    ///
    /// - Parameter noise: what this process prints is shown, too.
    func recordCrashes(showing noise: PrintedNoise? = nil) {
        noise?.showIfCrashed()
        crash_record_explain { WorkerSandbox.explain(call: $0) }
        output.withLock { crash_record_start($0) }
    }

    func send(_ report: Report) throws { try send(bytes: FrameCodec.encode(report)) }

    func send(bytes: [UInt8]) throws {
        try output.withLock { output in
            crash_record_lock()
            defer { crash_record_unlock() }
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw ClosedError() }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// True if open files can come with the bytes.
    var carriesFiles: Bool {
        var found = stat()
        return fstat(input, &found) == 0 && found.st_mode & S_IFMT == S_IFSOCK
    }

    struct Received {
        let bytes: [UInt8]
        /// Descriptors that came with the bytes. The caller closes them.
        let files: [Int32]
        /// Whether more files came, but this process may not have so many open.
        let areMissing: Bool
    }

    /// Waits for bytes. Nil if the coordinator has closed its end.
    func receive() -> Received? {
        var buffer = [UInt8](repeating: 0, count: 65536)
        var files = [Int32](repeating: -1, count: Int(CHANNEL_MOST_FILES))
        var (fileCount, areMissing): (Int32, Int32) = (0, 0)
        let count = buffer.withUnsafeMutableBytes { bytes in
            channel_receive(input, bytes.baseAddress, bytes.count, &files, &fileCount, &areMissing)
        }
        guard count > 0 else { return nil }
        return Received(
            bytes: Array(buffer[..<Int(count)]), files: Array(files[..<Int(fileCount)]), areMissing: areMissing != 0)
    }
}

/// Reports from a thread of its own that this process lives, whatever a decoder or a plugin does. Also checks for late
/// drawings.
///
/// The message is built once, so that a beat needs no memory and waits only for the pipe.
struct Heartbeat: Sendable {
    private let channel: Channel
    private let message: [UInt8]
    private let drawing: DrawingWatch

    init(_ channel: Channel, _ drawing: DrawingWatch) throws {
        self.channel = channel
        self.drawing = drawing
        message = try FrameCodec.encode(Report.alive)
    }

    func start() throws(ResourceLimitError) {
        try WorkerThread.start {
            // The thread that reads orders notices the coordinator's end.
            while (try? self.channel.send(bytes: self.message)) != nil, (try? self.drawing.check()) != nil {
                // A signal may end the pause early, and then a heartbeat comes sooner.
                let (seconds, rest) = Report.heartbeat.components
                var pause = timespec(tv_sec: Int(seconds), tv_nsec: Int(rest / 1_000_000_000))
                nanosleep(&pause, nil)
            }
        }
    }
}

/// Threads of a worker. A thread that cannot be started is an error, not a hang.
enum WorkerThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a thread of its own.
    ///
    /// - Throws: If the system has no thread for it. Then `body` is not called.
    static func start(_ body: @escaping @Sendable () -> Void) throws(ResourceLimitError) {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(body))
        let code = pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            }, work.toOpaque())
        guard code == 0 else {
            work.release()
            throw ResourceLimitError(noThread: code)
        }
        pthread_detach(thread)
    }
}

/// Reads orders on a thread of its own, so that it notices the coordinator's end at once, even in the middle of a task.
/// Then the process exits. The coordinator's next run removes its unpublished files.
final class OrderQueue: @unchecked Sendable {
    /// An order with its files.
    struct Arrival {
        let lease: LeaseID
        let spec: TaskSpec
        let opener: FileOpener
        let timeLimit: Duration?
    }

    // Sendable: `waiting` and `last` are touched only while `condition` is locked.
    private let condition = ThreadCondition()
    private var waiting: [Arrival] = []
    /// The number of the last order. An order that comes twice is carried out once.
    private var last = 0
    private let channel: Channel

    /// - Throws: If no thread can be started. Without it, the worker would not notice the coordinator's end.
    init(_ channel: Channel) throws(ResourceLimitError) {
        self.channel = channel
        try WorkerThread.start { self.readAll() }
    }

    /// Waits for the next order.
    func next() -> Arrival {
        condition.withLock {
            while waiting.isEmpty { condition.wait() }
            return waiting.removeFirst()
        }
    }

    private func readAll() {
        var buffer = FrameBuffer()
        var files = ReceivedFiles(areCarried: channel.carriesFiles)
        while let received = channel.receive() {
            buffer.append(received.bytes)
            files.add(received)
            do {
                while let body = try buffer.next() {
                    guard
                        case .start(let lease, let spec, let sent, let limit) = try FrameCodec.decode(
                            Order.self, from: body)
                    else { continue }
                    add(Arrival(lease: lease, spec: spec, opener: try files.opener(for: sent), timeLimit: limit))
                }
            } catch {
                // The order was damaged on its way, or is from another version. The coordinator gives it to the next
                // worker.
                _exit(70)
            }
        }
        VideoProgram.end()
        // No destructors, because another thread may be in the middle of a task.
        _exit(0)
    }

    private func add(_ arrival: Arrival) {
        condition.withLock {
            guard arrival.lease.number > last else { return arrival.opener.close() }
            last = arrival.lease.number
            waiting.append(arrival)
            condition.broadcast()
        }
    }
}

/// Detects that this process holds more memory than it may, for example because a plugin or a decoder leaks.
struct MemoryWatch: Sendable {
    /// In bytes. Nil for no limit.
    private let limit: Int?

    /// The memory that a worker needs for itself and for caches, without a leak.
    private static let least = 256_000_000

    /// - Parameter variable: Reads a variable of the environment, which the coordinator sets.
    init(variable: (String) -> String?) {
        limit = variable("PENUMBRA_WORKER_MEMORY").flatMap { Int($0) }.map { max($0, Self.least) }
    }

    /// True if a fresh process should replace this one. Asked between two tasks, when pixels have been freed.
    ///
    /// - Parameter kept: Bytes that are kept on purpose for the next task.
    func isExceeded(beside kept: Int) -> Bool {
        guard let limit, let pages = Self.residentPages() else { return false }
        return pages * Int(getpagesize()) - kept > limit
    }

    /// The second number of `/proc/self/statm`.
    private static func residentPages() -> Int? {
        let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = read(file, &bytes, bytes.count)
        let words = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
        return words.count > 1 ? Int(words[1]) : nil
    }
}

/// Detects that this process keeps files open that no task needs, for example because a plugin or a decoder leaks.
struct FileWatch: Sendable {
    /// The value before the first task.
    private let start = ProcessState.lowestFreeDescriptor

    /// True if a fresh process should replace this one. Asked between two tasks, when files have been closed.
    var isExceeded: Bool { ProcessState.lowestFreeDescriptor - start > ProcessState.toleratedFiles }
}

/// Ends a task if its picture takes too long to draw.
///
/// Drawing cannot be interrupted. So another thread answers the task, and this process asks to be replaced. When the
/// coordinator lets it go, it exits together with the thread that still draws.
final class DrawingWatch: Sendable {
    private let channel: Channel
    private let drawing: DrawingTime
    /// The task that has no answer yet.
    private let open = Mutex<LeaseID?>(nil)

    init(_ channel: Channel, _ drawing: DrawingTime = .shared) { (self.channel, self.drawing) = (channel, drawing) }

    /// A task begins.
    func begin(_ lease: LeaseID) { open.withLock { $0 = lease } }

    /// The task has an answer.
    ///
    /// - Returns: False if it had one before. Then this one must not be sent.
    func end() -> Bool { open.withLock { $0.take() } != nil }

    /// Checks once whether a picture takes too long. A thread calls it every second or so.
    ///
    /// - Throws: If the coordinator is gone.
    func check() throws {
        // The lock keeps the task from ending here, so a late drawing belongs to this task.
        let late = open.withLock { lease -> (lease: LeaseID, error: ImageFileError)? in
            guard let error = drawing.overrun, let lease = lease.take() else { return nil }
            return (lease, error)
        }
        guard let late else { return }
        try channel.send(.worn(late.lease))
        try channel.send(.failed(late.lease, TaskFailure(classing: late.error)))
    }
}
