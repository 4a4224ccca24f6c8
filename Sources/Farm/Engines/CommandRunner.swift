import FoundationEssentials
import Glibc
import Subprocess
import SystemPackage

/// Runs a command that answers one question. Each command has a deadline and a limit to its output.
package struct CommandRunner: Sendable {
    package struct Answer: Sendable {
        /// Nil if a signal ended the command.
        package let exitCode: Int32?
        /// How it ended, for a message.
        package let status: String
        package let output: String
        package let errors: String

        package var isSuccess: Bool { exitCode == 0 }
    }

    private let limit: Duration
    private let longestOutput: Int
    private let endsWithCaller: Bool

    /// - Parameters:
    ///   - limit: how long a command may take.
    ///   - longestOutput: in bytes.
    ///   - endsWithCaller: whether the command is killed if the caller is cancelled. Only for commands that change nothing.
    package init(limit: Duration, longestOutput: Int, endsWithCaller: Bool = false) {
        self.limit = limit
        self.longestOutput = longestOutput
        self.endsWithCaller = endsWithCaller
    }

    /// - Parameters:
    ///   - program: a path, or a name that `PATH` leads to.
    ///   - environment: changes to this process's environment; nil removes a variable.
    ///   - input: the command's standard input. Other users cannot read it, unlike arguments.
    package func run(
        _ program: String, _ arguments: [String], environment: [String: String?] = [:], input: [UInt8] = []
    ) async throws(CommandError) -> Answer {
        do {
            if endsWithCaller { return try await limited(program, arguments, environment, input) }
            // The command continues if the caller is cancelled. It may have had its effect, and the caller must know that.
            return try await Task { try await limited(program, arguments, environment, input) }.value
        } catch let error as CommandError {
            throw error
        } catch let error as SubprocessError where error.code == .executableNotFound {
            throw .missing
        } catch {
            throw .notRun("\(error)")
        }
    }

    /// An error of any task ends the command, too.
    private func limited(
        _ program: String, _ arguments: [String], _ environment: [String: String?], _ input: [UInt8]
    ) async throws -> Answer {
        try ProcessStart.refuseWithoutDescriptors()
        let (output, errors) = (try UnlinkedTempFile(), try UnlinkedTempFile())
        return try await withThrowingTaskGroup(of: Answer?.self) { group in
            group.addTask { try await answer(of: program, arguments, environment, input, output, errors) }
            group.addTask {
                try await watch([output, errors])
                return nil
            }
            defer { group.cancelAll() }
            guard let answer = try await group.next() ?? nil else { throw CommandError.tooLate }
            return answer
        }
    }

    /// Returns at the deadline.
    private func watch(_ files: [UnlinkedTempFile]) async throws {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            try await Task.sleep(until: min(end, .now + .milliseconds(200)))
            if try files.contains(where: { try $0.size() > longestOutput }) { throw CommandError.tooLong }
        }
    }

    /// The command writes to files and not to pipes of Subprocess. Subprocess ends this process if it finds a pipe that it
    /// has not closed. It also reads a pipe for as long as children of the command hold it.
    private func answer(
        of program: String, _ arguments: [String], _ environment: [String: String?], _ text: [UInt8],
        _ output: UnlinkedTempFile, _ errors: UnlinkedTempFile
    ) async throws -> Answer {
        let executable: Executable =
            program.utf8.contains(UInt8(ascii: "/")) ? .path(FilePath(program)) : .name(program)
        let input = try UnlinkedTempFile()
        try input.fill(text)
        defer { withExtendedLifetime((input, output, errors)) {} }
        let values = Dictionary(
            uniqueKeysWithValues: environment.map { (Environment.Key(stringLiteral: $0), $1) })
        let done = try await Subprocess.run(
            executable, arguments: Arguments(arguments), environment: .inherit.updating(values),
            platformOptions: Self.platform,
            input: .fileDescriptor(input.descriptor, closeAfterSpawningProcess: false),
            output: .fileDescriptor(output.descriptor, closeAfterSpawningProcess: false),
            error: .fileDescriptor(errors.descriptor, closeAfterSpawningProcess: false))
        guard try output.size() <= longestOutput, try errors.size() <= longestOutput else { throw CommandError.tooLong }
        let (code, status): (Int32?, String) =
            switch done.terminationStatus {
            case .exited(let code): (code, "exit code \(code)")
            case .signaled(let signal): (nil, "signal \(signal)")
            }
        return Answer(exitCode: code, status: status, output: try output.text(), errors: try errors.text())
    }

    /// If the command is a site's script around other commands, all of them are killed.
    private static var platform: PlatformOptions {
        var options = WorkerProcess.platform
        options.teardownSequence = [.send(signal: .kill, toProcessGroup: true, allowedDurationToNextStep: .seconds(1))]
        return options
    }
}

/// Why a command gave no answer.
package enum CommandError: Error, Hashable, Sendable {
    /// There is no such program.
    case missing
    /// It was killed at its deadline.
    case tooLate
    /// It printed too much, and was killed.
    case tooLong
    case notRun(String)
}

/// A file without a name, for the output of a command. It disappears with its last descriptor.
private final class UnlinkedTempFile: Sendable {
    let descriptor: FileDescriptor

    init() throws(Errno) {
        let folder = FilePath(FileManager.default.temporaryDirectory.path)
        let path = folder.appending(".penumbra-\(UInt64.random(in: .min ... .max))")
        do {
            descriptor = try FileDescriptor.open(
                path, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec, .noFollow],
                permissions: .ownerReadWrite)
        } catch {
            throw error as? Errno ?? .ioError
        }
        unlink(path.string)
    }

    deinit { close(descriptor.rawValue) }

    /// Writes bytes to an empty file. Its reader begins with the first of them.
    func fill(_ bytes: [UInt8]) throws {
        try descriptor.writeAll(bytes)
        try descriptor.seek(offset: 0, from: .start)
    }

    func size() throws -> Int {
        var found = stat()
        guard fstat(descriptor.rawValue, &found) == 0 else { throw Errno(rawValue: errno) }
        return Int(found.st_size)
    }

    /// Everything that was written, by any process.
    func text() throws -> String {
        var bytes = [UInt8](repeating: 0, count: try size())
        var count = 0
        while count < bytes.count {
            let read = try bytes.withUnsafeMutableBytes { buffer in
                try descriptor.read(
                    fromAbsoluteOffset: Int64(count), into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
            }
            if read == 0 { break }
            count += read
        }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
