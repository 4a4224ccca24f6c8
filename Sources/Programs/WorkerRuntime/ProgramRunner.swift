import Catalogs
import Digests
import FileAccess
import Filters
import Geometry
import Glibc
import ImageFiles
import JobModel
import Raster
import Synchronization
import WorkerProtocol

/// The launcher of this worker. It runs one program at a time.
final class ProgramConnection: Sendable {
    private struct State {
        let connection: ProgramLauncher.Connection
        var isLost = false
    }

    private let state: Mutex<State>

    init(_ connection: ProgramLauncher.Connection) { state = Mutex(State(connection: connection)) }

    /// Whether the launcher has ended. Then a fresh worker should replace this one.
    var isLost: Bool { state.withLock { $0.isLost } }

    /// - Parameters:
    ///   - write: Writes a program's standard input to an empty file.
    ///   - read: Reads a program's standard output, unless the report tells of a failure.
    ///   - isCancelled: Is asked while the program runs.
    func run<Result>(
        _ call: ProgramCall, isCancelled: () -> Bool, writing write: (_ input: Int32) throws -> Void,
        reading read: (_ output: Int32, ProgramReport) throws -> Result
    ) throws -> Result {
        try state.withLock { state in
            let files = state.connection
            defer {
                // Frees the memory.
                ftruncate(files.input, 0)
                ftruncate(files.output, 0)
            }
            try write(files.input)
            let report: ProgramReport
            do {
                report = try Self.report(on: call, files.socket, isCancelled)
            } catch {
                state.isLost = true
                throw TaskFailure(
                    .transient, "the program '\(call.command.program)': the process that starts programs has ended")
            }
            return try read(files.output, report)
        }
    }

    private static func report(
        on call: ProgramCall, _ socket: Int32, _ isCancelled: () -> Bool
    ) throws -> ProgramReport {
        try ProgramLauncher.write(FrameCodec.encode(ProgramOrder.run(call)), to: socket)
        var buffer = FrameBuffer()
        var bytes = [UInt8](repeating: 0, count: 65536)
        var isWanted = true
        while true {
            var event = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            let count = poll(&event, 1, isWanted ? glance : -1)
            if count == 0, isWanted, isCancelled() {
                try ProgramLauncher.write(FrameCodec.encode(ProgramOrder.cancel), to: socket)
                isWanted = false
            }
            guard count > 0 else { continue }
            let received = read(socket, &bytes, bytes.count)
            if received < 0, errno == EINTR { continue }
            guard received > 0 else { throw ProgramLauncher.ClosedError() }
            buffer.append(bytes.prefix(received))
            if let body = try buffer.next() { return try FrameCodec.decode(ProgramReport.self, from: body) }
        }
    }

    /// How often the worker asks whether the program is still needed, in milliseconds.
    private static let glance: Int32 = 50
}

/// Runs the programs of one task's filters. A filter that asks for the same picture again gets the same answer.
final class ProgramRunner: Sendable {
    private struct Key: Hashable {
        let command: ProgramCommand
        let format: ProgramFormat
    }

    private let connection: ProgramConnection?
    private let cancellation: TaskCancellation
    private let timeLimit: Duration
    private let deadline: ContinuousClock.Instant
    private let answers = Mutex<[Key: (input: Digest, output: AnyRaster)]>([:])

    /// A task without a time limit is ended by somebody else.
    private static let usualLimit = Duration.seconds(3600)

    /// - Parameters:
    ///   - connection: Nil if the settings of this machine allow no program.
    ///   - timeLimit: The task's. The program is ended a little earlier than the worker would be, so that the task can tell of it.
    init(_ connection: ProgramConnection?, _ cancellation: TaskCancellation, timeLimit: Duration?) {
        self.connection = connection
        self.cancellation = cancellation
        self.timeLimit = timeLimit ?? Self.usualLimit
        deadline = .now + self.timeLimit - min(.seconds(5), self.timeLimit / 10)
    }

    /// Whether no program can be run any more.
    var isLost: Bool { connection?.isLost ?? false }

    var source: ProgramSource {
        ProgramSource { command, format, picture in try self.answer(of: command, format, to: picture) }
    }

    private func answer(of command: ProgramCommand, _ format: ProgramFormat, to picture: AnyRaster) throws -> AnyRaster
    {
        let key = Key(command: command, format: format)
        let digest = picture.withBytes { Digest(of: $0) }
        if let known = answers.withLock({ $0[key] }), known.input == digest, known.output.rect == picture.rect {
            return known.output
        }
        guard let connection else { throw Self.failure(of: .unknown, command) }
        let most = Self.mostBytes(for: picture)
        let call = ProgramCall(
            command: command, mostBytes: most, memory: Self.memoryLimit, limit: max(.zero, deadline - .now))
        let answer = try connection.run(call, isCancelled: { cancellation.isCancelled }) { input in
            try ProgramPicture(command.program, format).write(picture, to: input)
        } reading: { output, report in
            try check(report, command, size: Self.size(of: output), most: most)
            return try ProgramPicture(command.program, format).read(from: output, like: picture)
        }
        answers.withLock { $0[key] = (digest, answer) }
        return answer
    }

    /// Some formats compress nothing, and some programs return 16 bits for 8.
    private static func mostBytes(for picture: AnyRaster) -> Int {
        2 * picture.rect.area * picture.layout.channels * max(2, picture.format.bytes) + 16 << 20
    }

    private static func size(of file: Int32) -> Int {
        var found = stat()
        return fstat(file, &found) == 0 ? Int(found.st_size) : 0
    }

    /// The limit of this process.
    private static var memoryLimit: Int? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit) == 0, limit.rlim_cur < rlim_t(Int.max) else {
            return nil
        }
        return Int(limit.rlim_cur)
    }
}

extension ProgramRunner {
    private func check(_ report: ProgramReport, _ command: ProgramCommand, size: Int, most: Int) throws {
        let name = "the program '\(command.program)'"
        if report.end == .signalled(SIGXFSZ), size < most {
            throw TaskFailure(.value, "\(name) wrote a file of more than \(most >> 20) MB in its folder")
        }
        if size >= most {
            throw TaskFailure(
                .value, "\(name) wrote more than \(most >> 20) MB, which no picture of this size takes")
        }
        switch report.end {
        case .exited(0): return
        case .exited(let code):
            throw TaskFailure(.value, "\(name) ended with exit code \(code)\(Self.lastWords(report.errors))")
        case .signalled(let signal):
            let title = strsignal(signal).map { " (\(String(cString: $0)))" } ?? ""
            throw TaskFailure(.value, "\(name) was ended by signal \(signal)\(title)\(Self.lastWords(report.errors))")
        case .tookTooLong:
            throw TaskFailure(
                .limit,
                "\(name) was not done within the \(Self.seconds(timeLimit)) s of this task\(Self.lastWords(report.errors)); raise "
                    + "'timeout' if it needs longer")
        case .cancelled: throw CancellationError()
        case .unknown, .unusable, .otherFile, .changed, .notStarted: throw Self.failure(of: report.end, command)
        }
    }

    private static func seconds(_ duration: Duration) -> String {
        let tenths = Int((duration / .milliseconds(100)).rounded())
        return tenths.isMultiple(of: 10) ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }

    /// Why a program was not run, or should not have been.
    private static func failure(of end: ProgramReport.End, _ command: ProgramCommand) -> TaskFailure {
        let name = "the program '\(command.program)'"
        return switch end {
        case .unusable(let path, let reason): TaskFailure(.input, "\(name), \(path): \(reason)")
        case .otherFile(let path):
            TaskFailure(
                .input,
                "\(name), \(path), is not the file with which the job was planned; run the job again, and give all machines the "
                    + "same file (this one is \(machine))")
        case .changed(let path):
            TaskFailure(.input, "\(name), \(path), changed while it ran; run the job again")
        case .notStarted(let reason): TaskFailure(.transient, "\(name) cannot be started: \(reason)")
        case .unknown, .exited, .signalled, .tookTooLong, .cancelled:
            TaskFailure(
                .input,
                "\(name) is not allowed on this machine, \(machine); add it to 'programs' in the config file there")
        }
    }

    private static var machine: String {
        var name = [CChar](repeating: 0, count: 256)
        // A name that is longer has no end.
        guard gethostname(&name, name.count - 1) == 0 else { return "a machine without a name" }
        return VisibleText.line(String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    /// The last lines of a program's standard error.
    private static func lastWords(_ text: String) -> String {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmed }.filter { !$0.isEmpty }.suffix(3)
        return lines.isEmpty ? "" : ": \(VisibleText.line(lines.joined(separator: " / ")).suffix(600))"
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        let end = lastIndex { !$0.isWhitespace }.map(index(after:)) ?? startIndex
        return self[..<end].drop(while: \.isWhitespace)
    }
}

/// A picture on its way to a program, and back.
private struct ProgramPicture {
    private let program: String
    private let format: ProgramFormat

    init(_ program: String, _ format: ProgramFormat) { (self.program, self.format) = (program, format) }

    /// - Parameter file: An empty file.
    func write(_ picture: AnyRaster, to file: Int32) throws {
        let name = "the picture for the program '\(program)'"
        let opener = try opener(of: file, name, isCreated: true)
        defer { opener.close() }
        let shape = ImageShape(
            width: picture.rect.width, height: picture.rect.height, layout: picture.layout,
            sampleFormat: picture.format)
        switch format {
        case .png, .tiff:
            // Nobody keeps it, so compressing it would only take time.
            let options: [String: ParameterValue] =
                format == .png
                ? ["compression": .integer(0), "filter": .word("none")] : ["compression": .word("none")]
            try ImageEncoder.write(
                to: name, openedBy: opener, format: try imageFormat, save: SaveOptions(values: options), shape: shape,
                metadata: ImageMetadata()
            ) { _ in picture }
        case .ppm:
            let kind = picture.layout == .gray ? "P5" : "P6"
            let head = Array("\(kind)\n\(shape.width) \(shape.height)\n\(picture.format == .u8 ? 255 : 65535)\n".utf8)
            do throws(FileOpener.Failure) {
                try FileOpener.write(head, to: file, at: 0)
                try writeRows(of: picture, stride: shape.stride, to: file, at: head.count)
            } catch {
                throw TaskFailure(.transient, "\(name) cannot be written: \(error)")
            }
        }
    }

    /// Samples of 16 bits have their upper byte first in a file.
    private func writeRows(
        of picture: AnyRaster, stride: Int, to file: Int32, at start: Int
    ) throws(FileOpener.Failure) {
        for row in 0..<picture.rect.height {
            let range = row * stride..<(row + 1) * stride
            let bytes = picture.withBytes { span in
                let bytes = span.extracting(range)
                return (0..<stride).map { index in
                    bytes.unsafeLoad(
                        fromByteOffset: picture.format == .u16 ? index ^ 1 : index, as: UInt8.self)
                }
            }
            try FileOpener.write(bytes, to: file, at: start + range.lowerBound)
        }
    }

    /// - Parameter picture: What the program got. The answer has its shape.
    func read(from file: Int32, like picture: AnyRaster) throws -> AnyRaster {
        let name = "the answer of the program '\(program)'"
        let opener = try opener(of: file, name, isCreated: false)
        defer { opener.close() }
        try checkBeginning(of: file)
        do {
            let decoder = try ImageDecoder(
                path: name, openedBy: opener, limits: DecodeLimits(maxPixels: .max), color: .keep)
            try check(decoder.header, against: picture)
            var answer = AnyRaster(zeroed: picture.rect, layout: picture.layout, format: picture.format)
            try decoder.readRows(bandHeight: 64) { band in
                answer.paste(band.converted(to: picture.format).widened(to: picture.layout))
            }
            return answer.clearingTransparent()
        } catch let error as ImageFileError where error.kind != .process {
            let words = "\(error)"
            throw failure("returned a \(title) that cannot be read: \(words.replacing("\(name): ", with: ""))")
        }
    }

    private var imageFormat: any ImageFormat { get throws(TaskFailure) { try ImageFormats.inTask(format.rawValue) } }

    private var title: String { format.rawValue.uppercased() }

    private func failure(_ words: String) -> TaskFailure { TaskFailure(.value, "the program '\(program)' \(words)") }

    /// No other format is decoded, whatever the program returns.
    private func checkBeginning(of file: Int32) throws {
        var found = stat()
        guard fstat(file, &found) == 0, found.st_size > 0 else {
            throw failure("wrote nothing to its standard output; it has to write a \(title) there")
        }
        var head = [UInt8](repeating: 0, count: 64)
        let count = pread(file, &head, head.count, 0)
        guard try imageFormat.recognizes(Array(head.prefix(max(0, count)))) else {
            throw failure("wrote \(found.st_size) bytes that are no \(title)")
        }
    }

    private func check(_ header: ImageHeader, against picture: AnyRaster) throws(TaskFailure) {
        let rect = picture.rect
        guard header.width == rect.width, header.height == rect.height else {
            throw failure(
                "returned \(header.width) × \(header.height) pixels for \(rect.width) × \(rect.height); it has to keep the size"
            )
        }
        guard header.frames == 1, header.pages == 1 else {
            throw failure("returned \(max(header.frames, header.pages)) pictures; it has to return one")
        }
        let (got, wanted) = (header.layout, picture.layout)
        guard wanted.hasAlpha || !got.hasAlpha else {
            throw failure("returned transparency for a picture without; it has to leave that out")
        }
        guard wanted.removingAlpha == .rgb || got.removingAlpha == .gray else {
            throw failure("returned colours for a gray picture; it has to return gray")
        }
        guard header.sampleFormat.bytes <= picture.format.bytes else {
            throw failure(
                "returned samples of \(8 * header.sampleFormat.bytes) bits for \(8 * picture.format.bytes) bits; it has to keep them"
            )
        }
    }

    private func opener(of file: Int32, _ name: String, isCreated: Bool) throws(TaskFailure) -> FileOpener {
        // The opener closes its own.
        let copy = fcntl(file, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw TaskFailure(.transient, "\(name): \(String(cString: strerror(errno)))") }
        let handed = [Array(name.utf8): FileOpener.Handed.descriptor(copy)]
        return FileOpener(read: isCreated ? [:] : handed, created: isCreated ? handed : [:], scratch: nil)
    }
}

extension AnyRaster {
    /// The same picture with more channels: gray in all three colours, and opaque. Some programs leave out what they find needless.
    fileprivate func widened(to layout: PixelLayout) -> AnyRaster {
        guard layout != self.layout else { return self }
        return switch self {
        case .u8(let raster): .u8(raster.widened(to: layout))
        case .u16(let raster): .u16(raster.widened(to: layout))
        case .f32(let raster): .f32(raster.widened(to: layout))
        }
    }
}

extension Raster {
    fileprivate func widened(to other: PixelLayout) -> Raster {
        let (own, colors) = (layout.channels, layout.removingAlpha.channels)
        let wanted = other.removingAlpha.channels
        var result = Raster(rect: rect, layout: other, repeating: Sample(rounding: Sample.full))
        let from = samples.span
        var to = result.samples.mutableSpan
        for pixel in 0..<rect.area {
            for color in 0..<wanted { to[pixel * other.channels + color] = from[pixel * own + min(color, colors - 1)] }
            if layout.hasAlpha { to[pixel * other.channels + wanted] = from[pixel * own + colors] }
        }
        return result
    }
}
