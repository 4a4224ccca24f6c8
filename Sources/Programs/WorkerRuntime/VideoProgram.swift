import CChannel
import CLaunchers
import Catalogs
import Confinement
import Digests
import Glibc
import ImageFiles
import JobModel
import Synchronization
import WorkerProtocol

/// ffmpeg, for a worker that may not start programs, and ffprobe, which comes with it.
///
/// The worker forks a launcher before its sandbox closes. The launcher forks a process for each film (``VideoSession``), which starts ffmpeg in a
/// sandbox of its own, and tells how it ended. If the worker ends, all of these processes end with it.
///
/// These processes may open more files than the worker, which may have been taken over by a picture. So it cannot choose a program, an
/// argument or a file to write: it sends numbers and words of lists, and a film is written into a file in memory that it gets.
final class VideoProgram: Sendable {
    private let launcher: Mutex<Int32>

    /// Why there is no ffmpeg at a path. Nil if there is one.
    static func missing(_ path: String) -> String? {
        access(path, X_OK) == 0 ? nil : "\(path) cannot be executed (\(String(cString: strerror(errno))))"
    }

    /// Words for a machine without it.
    static let remedy = "install the package 'ffmpeg' (apt-get install ffmpeg), or set 'ffmpeg' to its path"

    /// Starts the launcher.
    ///
    /// - Parameters:
    ///   - path: the program's path.
    ///   - mode: the sandbox of ffmpeg.
    /// - Precondition: this process has one thread.
    /// - Throws: if no process can be started.
    init(_ path: String, _ mode: SandboxMode) throws(ResourceLimitError) {
        var ends: [Int32] = [-1, -1]
        let code = channel_make_pair(&ends)
        let worker = getpid()
        let libraries = getenv("LD_LIBRARY_PATH").map { String(cString: $0) }
        let process = code == 0 ? launchers_fork() : -1
        guard process >= 0 else { throw ResourceLimitError(noThread: code == 0 ? errno : -code, "start a process") }
        if process == 0 {
            guard video_serve(ends[1], worker) >= 0 else { _exit(1) }
            signal(SIGCHLD, SIG_IGN)  // sessions are not waited for
            VideoSession(program: path, libraries: libraries, worker: worker, mode: mode).serve()
        }
        close(ends[1])
        launcher = Mutex(ends[0])
        Self.started.withLock { $0 = (ends[0], process) }
    }

    /// The launcher of this process.
    private static let started = Mutex<(socket: Int32, process: pid_t)?>(nil)

    /// Ends the launcher, and waits for it. Where no process takes care of orphans, as in some containers, it would otherwise stay in the
    /// list of processes. Call it when this process is about to end.
    static func end() {
        guard let (socket, process) = started.withLock({ $0.take() }) else { return }
        close(socket)
        _ = video_wait(process)
    }

    struct EndedError: Error {}

    /// A connection to a new session.
    private func openSession() throws(EndedError) -> VideoConnection {
        try launcher.withLock { launcher throws(EndedError) in
            var request: UInt8 = 0
            guard write(launcher, &request, 1) == 1 else { throw EndedError() }
            let connection = VideoConnection(launcher)
            guard let session = connection.receiveFile() else { throw EndedError() }
            return VideoConnection(session, isOwn: true)
        }
    }

    /// Encodes a video.
    ///
    /// - Parameters:
    ///   - sound: the open file of the clip whose sound is copied. Nil if there is none.
    ///   - frames: calls its argument for each frame's bytes.
    ///   - film: gets an open file with the video, if ffmpeg was successful.
    /// - Returns: what ffmpeg reports.
    /// - Throws: the errors of `frames`, or ``EndedError`` if the processes were ended from outside.
    func encode(
        _ stream: VideoStream, sound: Int32? = nil, frames: (_ write: ([UInt8]) throws -> Void) throws -> Void,
        film: (_ file: Int32) throws -> Void
    ) throws -> VideoReport {
        let session = try openSession()
        let pipe = try session.begin(.encode(stream, sound: sound))
        guard let file = session.takeFile() else { throw EndedError() }
        defer { close(file) }
        do {
            try frames { try pipe.write($0) }
        } catch is VideoPipe.ClosedError {
            // ffmpeg has ended early. Its report says why.
        }
        pipe.close()
        let report = try session.report()
        if report.failure == nil { try film(file) }
        return report
    }

    /// Decodes all frames of a video.
    ///
    /// - Returns: the number of bytes of all frames, and what ffmpeg reports.
    func decode(_ file: Int32) throws -> (bytes: Int, report: VideoReport) {
        let session = try openSession()
        let pipe = try session.begin(.decode(file: file))
        var count = 0
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let got = pipe.read(into: &buffer), got > 0 { count += got }
        return (count, try session.report())
    }
}

extension VideoProgram: ClipProgram {
    func answer(to question: ClipQuestion, _ file: Int32, limit: Int) throws(OwnDecodingError) -> [UInt8] {
        try Self.decoding { () throws(EndedError) in
            let session = try openSession()
            let pipe = try session.begin(.ask(question, file: file))
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while case let got = pipe.read(into: &buffer), got > 0 {
                bytes += buffer.prefix(got)
                // The session ends with its connection.
                guard bytes.count <= limit else { return (bytes, nil) }
            }
            return (bytes, try session.report())
        }
    }

    /// - Parameter body: returns no report if there is too much to read.
    private static func decoding(
        _ body: () throws(EndedError) -> (bytes: [UInt8], report: VideoReport?)
    ) throws(OwnDecodingError) -> [UInt8] {
        let answer: (bytes: [UInt8], report: VideoReport?)
        do throws(EndedError) {
            answer = try body()
        } catch {
            throw .interrupted
        }
        guard let report = answer.report else { throw .broken("ffprobe says too much of it") }
        try report.check("ffprobe")
        return answer.bytes
    }

    func pictures(_ question: ClipQuestion, _ file: Int32) throws(OwnDecodingError) -> any ClipPicturesReader {
        do throws(EndedError) {
            let session = try openSession()
            return DecodedPictures(session, try session.begin(.ask(question, file: file)))
        } catch {
            throw .interrupted
        }
    }

    /// The pictures of a clip, as ffmpeg decodes them. ffmpeg ends with this object.
    private final class DecodedPictures: ClipPicturesReader {
        private let session: VideoConnection
        private let pipe: VideoPipe

        init(_ session: VideoConnection, _ pipe: VideoPipe) { (self.session, self.pipe) = (session, pipe) }

        func read(into buffer: UnsafeMutableRawBufferPointer) throws(OwnDecodingError) {
            guard !pipe.fill(buffer) else { return }
            try report().check("ffmpeg")
            throw .broken("ffmpeg decodes fewer frames of it than ffprobe")
        }

        func finish() throws(OwnDecodingError) {
            var rest: [UInt8] = [0]
            let isAtEnd = pipe.read(into: &rest) <= 0
            guard isAtEnd else { throw .broken("ffmpeg decodes more frames of it than ffprobe") }
            try report().check("ffmpeg")
        }

        private func report() throws(OwnDecodingError) -> VideoReport {
            do throws(EndedError) {
                return try session.report()
            } catch {
                throw .interrupted
            }
        }
    }
}

/// What ffprobe has said of the clips of one task, which opens a clip several times.
final class ClipAnswers: Sendable {
    private struct Answer {
        let stamp: FileStamp
        let question: ClipQuestion
        let bytes: [UInt8]
    }

    private let known = Mutex<[Answer]>([])

    fileprivate func answer(
        to question: ClipQuestion, of stamp: FileStamp, from program: some ClipProgram, _ file: Int32, limit: Int
    ) throws(OwnDecodingError) -> [UInt8] {
        let answer = known.withLock { $0.first { $0.stamp == stamp && $0.question == question } }
        if let answer { return answer.bytes }
        let bytes = try program.answer(to: question, file, limit: limit)
        known.withLock { $0 = $0.suffix(3) + [Answer(stamp: stamp, question: question, bytes: bytes)] }
        return bytes
    }
}

/// ffmpeg and ffprobe for the clips of one task.
struct TaskClips: ClipProgram {
    /// Nil if this machine has none.
    let program: VideoProgram?
    let answers: ClipAnswers

    /// The task fails if the file changes meanwhile.
    func answer(to question: ClipQuestion, _ file: Int32, limit: Int) throws(OwnDecodingError) -> [UInt8] {
        var found = stat()
        guard fstat(file, &found) == 0 else { throw .interrupted }
        return try answers.answer(
            to: question, of: FileStamp(found), from: try available(), file, limit: limit)
    }

    func pictures(_ question: ClipQuestion, _ file: Int32) throws(OwnDecodingError) -> any ClipPicturesReader {
        try available().pictures(question, file)
    }

    private func available() throws(OwnDecodingError) -> VideoProgram {
        guard let program else { throw .noProgram(VideoProgram.remedy) }
        return program
    }
}

extension VideoReport {
    /// - Parameter program: what it is the report of.
    fileprivate func check(_ program: String) throws(OwnDecodingError) {
        // A machine without memory ends it in this way.
        if code == -SIGKILL { throw .interrupted }
        if code == Self.notStarted {
            throw .noProgram("\(VisibleText.line(errors.filter { !$0.isNewline })); \(VideoProgram.remedy)")
        }
        if let failure = failure(of: program) { throw .broken(failure) }
    }
}

/// What a session does.
///
/// A file is the number of its descriptor in the worker. It is only read.
private enum VideoOrder: Codable {
    case encode(VideoStream, sound: Int32?)
    case decode(file: Int32)
    case ask(ClipQuestion, file: Int32)
}

/// An order with what the session needs for it.
private struct VideoCall: Codable {
    let order: VideoOrder
    /// The limits of the worker. Nil for none.
    let fileSize: UInt64?
    let memory: UInt64?
}

/// The answers of a session. With the first one come the end of a pipe for frames, and the file that is written.
private enum VideoAnswer: Codable {
    case began
    case ended(VideoReport)
}

/// How ffmpeg ended.
struct VideoReport: Hashable, Codable {
    /// The exit code of a process that could not become ffmpeg.
    static let notStarted: Int32 = 126

    /// The exit code. Negative for a signal.
    let code: Int32
    /// `ffmpeg 5.1.9-0+deb12u1, libx264 164`.
    let versions: String
    /// The end of what it wrote to its standard error.
    let errors: String

    /// Why it failed, for a message. Nil if it did not.
    var failure: String? { failure(of: "ffmpeg") }

    /// `[h264 @ 0x55d7f8] no frame` becomes `[h264] no frame`. The file's name says nothing, either.
    private static func withoutAddresses(_ line: Substring) -> String {
        var line = line.replacing("file:/proc/self/fd/3: ", with: "")
        while let start = line.firstRange(of: " @ 0x") {
            let end = line[start.upperBound...].firstIndex { !$0.isHexDigit } ?? line.endIndex
            line.removeSubrange(start.lowerBound..<end)
        }
        return String(line)
    }

    fileprivate func failure(of program: String) -> String? {
        guard code != 0 else { return nil }
        let end =
            code < 0
            ? "\(program) was ended by signal \(-code) (\(String(cString: strsignal(-code))))"
            : "\(program) ended with exit code \(code)"
        let lines = errors.split(whereSeparator: \.isNewline).filter { !$0.allSatisfy(\.isWhitespace) }.suffix(3)
            .map(Self.withoutAddresses)
        return lines.isEmpty ? end : "\(end): \(VisibleText.line(lines.joined(separator: " / ")).suffix(600))"
    }
}

/// One end of a socket between a worker and the processes that start ffmpeg.
private final class VideoConnection {
    private let socket: Int32
    private let isOwn: Bool
    private var buffer = FrameBuffer()
    private var files: [Int32] = []

    /// - Parameter isOwn: whether it is closed with this object.
    init(_ socket: Int32, isOwn: Bool = false) { (self.socket, self.isOwn) = (socket, isOwn) }

    deinit {
        for file in files { close(file) }
        if isOwn { close(socket) }
    }

    /// Receives bytes, and files that come with them. False at the end.
    private func receive() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4096)
        var received = [Int32](repeating: -1, count: Int(CHANNEL_MOST_FILES))
        var (count, areMissing): (Int32, Int32) = (0, 0)
        let got = bytes.withUnsafeMutableBytes { bytes in
            channel_receive(socket, bytes.baseAddress, bytes.count, &received, &count, &areMissing)
        }
        files += received.prefix(Int(count))
        guard got > 0 else { return false }
        buffer.append(bytes.prefix(Int(got)))
        return true
    }

    /// Waits for a file. Nil at the end.
    func receiveFile() -> Int32? { receive() ? takeFile() : nil }

    /// A file that has come, which the caller closes.
    func takeFile() -> Int32? { files.isEmpty ? nil : files.removeFirst() }

    func next<Message: Decodable>(_ type: Message.Type) throws(VideoProgram.EndedError) -> Message {
        while true {
            do {
                if let body = try buffer.next() { return try FrameCodec.decode(type, from: body) }
            } catch {
                throw VideoProgram.EndedError()
            }
            guard receive() else { throw VideoProgram.EndedError() }
        }
    }

    /// - Parameter files: are sent, too. A worker in its sandbox may not send files.
    func send(_ message: some Encodable, with files: [Int32] = []) throws(VideoProgram.EndedError) {
        guard let bytes = try? FrameCodec.encode(message) else { throw VideoProgram.EndedError() }
        var rest = bytes[...]
        if !files.isEmpty {
            let count = rest.withUnsafeBytes { channel_send(socket, $0.baseAddress, $0.count, files, files.count) }
            guard count > 0 else { throw VideoProgram.EndedError() }
            rest = rest.dropFirst(Int(count))
        }
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(socket, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw VideoProgram.EndedError() }
            rest = rest.dropFirst(count)
        }
    }

    /// Has a session begin. If ffmpeg cannot be started, the report says why.
    func begin(_ order: VideoOrder) throws(VideoProgram.EndedError) -> VideoPipe {
        try send(VideoCall(order: order, fileSize: Self.limit(RLIMIT_FSIZE), memory: Self.limit(RLIMIT_DATA)))
        guard case .began = try next(VideoAnswer.self), let pipe = takeFile() else { throw VideoProgram.EndedError() }
        return VideoPipe(pipe)
    }

    private static func limit(_ resource: __rlimit_resource) -> UInt64? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0, limit.rlim_cur < rlim_t(Int.max) else {
            return nil
        }
        return UInt64(limit.rlim_cur)
    }

    func report() throws(VideoProgram.EndedError) -> VideoReport {
        guard case .ended(let report) = try next(VideoAnswer.self) else { throw VideoProgram.EndedError() }
        return report
    }
}

/// The worker's end of a pipe for frames.
private final class VideoPipe {
    private var descriptor: Int32

    /// ffmpeg reads no more.
    struct ClosedError: Error {}

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close() }

    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    func write(_ bytes: [UInt8]) throws(ClosedError) {
        var start = 0
        while start < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                Glibc.write(descriptor, bytes.baseAddress.map { $0 + start }, bytes.count - start)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw ClosedError() }
            start += count
        }
    }

    /// Reads until a buffer is full. False if the bytes end before.
    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Bool {
        var start = 0
        while start < buffer.count {
            let count = Glibc.read(descriptor, buffer.baseAddress.map { $0 + start }, buffer.count - start)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            start += count
        }
        return true
    }

    func read(into buffer: inout [UInt8]) -> Int {
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count >= 0 || errno != EINTR { return count }
        }
    }
}

/// The processes between a worker and ffmpeg: the launcher, and for each film a session. Each has one thread.
private struct VideoSession {
    let program: String
    /// `LD_LIBRARY_PATH` of the worker. The launcher has no environment.
    let libraries: String?
    let worker: pid_t
    let mode: SandboxMode

    /// The socket to the worker, after `video_serve`.
    private static let channel: Int32 = 3

    /// The launcher: starts a session for each byte that comes, and sends the worker its end of the session's socket.
    func serve() -> Never {
        var request: UInt8 = 0
        while read(Self.channel, &request, 1) == 1 {
            var ends: [Int32] = [-1, -1]
            guard channel_make_pair(&ends) == 0 else { _exit(1) }
            let launcher = getpid()
            let process = launchers_fork()
            guard process >= 0 else { _exit(1) }
            if process == 0 {
                guard video_serve(ends[1], launcher) >= 0 else { _exit(1) }
                run()
            }
            guard channel_send(Self.channel, &request, 1, &ends, 1) == 1 else { _exit(1) }
            for end in ends { close(end) }
        }
        _exit(0)
    }

    /// A session: carries out one order. If the worker closes the socket before the end, nobody needs the film any more.
    private func run() -> Never {
        let connection = VideoConnection(Self.channel)
        guard let call = try? connection.next(VideoCall.self), let frames = Self.pipe(), let errors = Self.pipe() else {
            _exit(1)
        }
        let (isEncoding, file, sound) = open(call.order)
        guard file >= 0 else { _exit(1) }
        let session = getpid()
        let process = launchers_fork()
        guard process >= 0 else { _exit(1) }
        if process == 0 {
            var start = video_start(
                input: isEncoding ? frames.reading : 0, output: isEncoding ? 1 : frames.writing, errors: errors.writing,
                file: file, sound: sound ?? -1, file_size: call.fileSize ?? .max, memory: call.memory ?? .max,
                parent: session)
            let code = video_prepare(&start)
            execute(call.order, code)
        }
        let (kept, given) = isEncoding ? (frames.reading, frames.writing) : (frames.writing, frames.reading)
        let sent = isEncoding ? [given, file] : [given]
        guard (try? connection.send(VideoAnswer.began, with: sent)) != nil else { _exit(1) }
        for end in [kept, given, errors.writing, file, sound].compactMap(\.self) { close(end) }
        let words = VideoWords(errors.reading, of: process, library: library(of: call.order)) {
            // The process ends with this one.
            _exit(1)
        }
        let report = VideoReport(code: video_wait(process), versions: words.versions, errors: words.tail)
        _exit((try? connection.send(VideoAnswer.ended(report))) == nil ? 1 : 0)
    }

    private func open(_ order: VideoOrder) -> (isWritten: Bool, file: Int32, sound: Int32?) {
        switch order {
        case .encode(_, nil): return (true, video_memory_file(), nil)
        case .encode(_, let clip?):
            let sound = open(clip)
            return (true, sound < 0 ? sound : video_memory_file(), sound)
        case .decode(let file), .ask(_, let file): return (false, open(file), nil)
        }
    }

    /// The worker may not send files. Of those that it has open, this process may read each.
    private func open(_ file: Int32) -> Int32 { Glibc.open("/proc/\(worker)/fd/\(file)", O_RDONLY | O_CLOEXEC) }

    private func library(of order: VideoOrder) -> String? {
        guard case .encode(let stream, _) = order else { return nil }
        return ImageFormats.named(stream.format)?.video?.library
    }

    private static func pipe() -> (reading: Int32, writing: Int32)? {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { return nil }
        return (ends[0], ends[1])
    }

    // MARK: Becoming ffmpeg

    /// The name of the film's file in ffmpeg's process.
    private static let file = "/proc/self/fd/3"
    /// The name of the clip whose sound is copied.
    private static let sound = "/proc/self/fd/4"

    /// - Parameter code: of `video_prepare`.
    private func execute(_ order: VideoOrder, _ code: Int32) -> Never {
        let arguments: [String]? =
            switch order {
            case .encode(let stream, _): stream.arguments(to: Self.file, sound: Self.sound)
            case .decode: VideoStream.arguments(decoding: Self.file)
            case .ask(let question, _): question.arguments(for: Self.file)
            }
        let program =
            if case .ask(let question, _) = order, question.isForProbe { prober } else { self.program }
        guard code == 0 else { fail("its process cannot be prepared (\(String(cString: strerror(-code))))") }
        guard let arguments else { fail("it has no such format") }
        if mode != .off {
            do throws(ConfinementError) {
                try confinement(order, libraries ?? "").restrictThread()
            } catch {
                // What is missing is reported by the worker's own sandbox.
                if mode == .require { fail("its sandbox is not complete: \(error.message.prefix { $0 != "\n" })") }
            }
        }
        // They are not freed, because the process is replaced or ends.
        let environment = ["PATH=/usr/bin:/bin", "HOME=/nonexistent", "LC_ALL=C"]
        let own = libraries.map { ["LD_LIBRARY_PATH=\($0)"] } ?? []
        var words = ([program] + arguments).map { word in strdup(word) } + [nil]
        var variables = (environment + own).map { variable in strdup(variable) } + [nil]
        execve(program, &words, &variables)
        fail("\(program) cannot be executed (\(String(cString: strerror(errno))))")
    }

    private func fail(_ reason: String) -> Never {
        var line = "\(reason)\n"
        line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
        _exit(VideoReport.notStarted)
    }

    /// ffprobe, which every package of ffmpeg has in the same folder.
    private var prober: String { PathNames.folder(of: program).map { "\($0)/ffprobe" } ?? "ffprobe" }

    /// ffmpeg sees its libraries and the film, and no network.
    private func confinement(_ order: VideoOrder, _ libraries: String) -> Confinement {
        let system = [
            "/usr", "/bin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf",
            "/etc/ld.so.conf.d", "/sys/devices/system/cpu", "/sys/devices/system/node", "/dev/urandom", program, prober,
        ]
        var confinement = Confinement(
            readable: (system + libraries.split(separator: ":").map(String.init)).filter(PathNames.isAbsolute).map {
                Confinement.Place($0, .system)
            }, writable: [Confinement.Place("/dev/null", .system)])
        let read: [String] =
            switch order {
            // A file in memory is no place.
            case .encode(_, let sound): sound == nil ? [] : [Self.sound]
            case .decode, .ask: [Self.file]
            }
        confinement.add(Confinement(readable: read.map { Confinement.Place($0, .system) }))
        return confinement
    }
}

/// What ffmpeg writes to its standard error, until it ends.
private struct VideoWords {
    private var head: [UInt8] = []
    private var end: [UInt8] = []
    private var libraries: [String] = []

    private static let kept = 4096

    /// Reads everything.
    ///
    /// - Parameters:
    ///   - library: the prefix of a library's file name. Nil for none.
    ///   - abandon: is called if the worker closes its socket meanwhile.
    init(_ errors: Int32, of process: pid_t, library: String?, abandon: () -> Never) {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            var events = [errors, 3].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&events, nfds_t(events.count), -1) > 0 else { continue }
            if events[1].revents != 0 { abandon() }
            let count = read(errors, &bytes, bytes.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            // It has loaded its libraries before it says anything.
            if head.isEmpty, let library { libraries = LoadedLibraries(ofProcess: process).described([library]) }
            if head.count < Self.kept { head += bytes.prefix(count) }
            end = (end + bytes.prefix(count)).suffix(Self.kept)
        }
    }

    var tail: String { String(decoding: end, as: UTF8.self) }

    /// `ffmpeg 5.1.9-0+deb12u1, libx264 164`
    var versions: String {
        let words = String(decoding: head, as: UTF8.self).prefix { !$0.isNewline }.split(separator: " ")
        let own = words.count > 2 && words[1] == "version" ? "ffmpeg \(words[2])" : "ffmpeg"
        return ([own] + libraries).joined(separator: ", ")
    }
}
