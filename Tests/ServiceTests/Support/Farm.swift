import ExamplePictures
import Foundation
import Glibc
import Queueing
import ServiceAPI
import ServiceClient
import Subprocess
import SystemPackage
import TestSupport
import Testing

/// A folder with pictures and manifests, and a service of its own that runs there as a real process.
final class Farm {
    struct Result: Sendable {
        let code: Int32
        let output: String
        let errors: String

        var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    let folder: TemporaryFolder
    private var process: Process?

    init() throws { folder = try TemporaryFolder() }

    deinit {
        guard let process, process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        // Runs outlive their service. Those of a test that has failed end here.
        for run in openRuns() { kill(run, SIGKILL) }
    }

    // MARK: Files

    var path: String { folder.path }
    var stateFolder: String { folder.file("state") }
    var serviceFolder: ServiceFolder { ServiceFolder(folder.file("service")) }

    func write(_ text: String, to name: String) throws {
        let url = URL(filePath: folder.file(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    func read(_ name: String) throws -> String { try String(contentsOfFile: folder.file(name), encoding: .utf8) }

    func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: folder.file(name)) }

    /// The names of published outputs in a folder, sorted.
    func outputs(in name: String = "out") -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.file(name))) ?? []
        return names.filter { !$0.hasPrefix(".") }.sorted()
    }

    func draw(_ count: Int, in name: String = "photos", width: Int = 60) throws {
        try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: true)
        for number in 0..<count {
            try PictureFiles.write(
                Scene.eclipse(width: width + number % 7, height: 40), to: folder.file("\(name)/\(number).png"))
        }
    }

    /// A manifest with one Gaussian over a folder of pictures.
    ///
    /// - Returns: its path.
    @discardableResult
    func writeManifest(
        _ job: String = "night", inputs: String = "photos/*", filters: String = "[{gaussian: {radius: 3}}]",
        output: String = "out/{stem}.png", more: String = ""
    ) throws -> String {
        try write("job: \(job)\ninputs: \(inputs)\nfilters: \(filters)\noutput: \(output)\n\(more)", to: "\(job).yaml")
        return folder.file("\(job).yaml")
    }

    // MARK: Programs

    static let programs: String = {
        let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(filePath: path).deletingLastPathComponent().path
    }()

    private var variables: [String: String] {
        [
            "PATH": "/usr/bin:/bin", "XDG_STATE_HOME": folder.file("home"), "XDG_CONFIG_HOME": folder.file("config"),
            "HOME": folder.file("home"),
        ]
    }

    /// Runs `penumbra` with the folders of this farm.
    @discardableResult
    func penumbra(_ arguments: String..., environment: [String: String] = [:]) async throws -> Result {
        try await run(
            "\(Self.programs)/penumbra", arguments,
            environment: environment.merging(["PENUMBRA_SERVER": serviceFolder.controlSocket]) { own, _ in own })
    }

    func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> Result {
        let values = variables.merging(environment) { $1 }
        let result = try await Subprocess.run(
            .path(FilePath(program)), arguments: Arguments(arguments),
            environment: .custom(
                Dictionary(uniqueKeysWithValues: values.map { (Environment.Key(stringLiteral: $0), $1) })),
            workingDirectory: FilePath(folder.path), input: .none, output: .string(limit: 4 << 20),
            error: .string(limit: 4 << 20))
        let code: Int32 =
            switch result.terminationStatus {
            case .exited(let code): code
            case .signaled(let signal): 128 + signal
            }
        return Result(code: code, output: result.standardOutput, errors: result.standardError)
    }

    // MARK: The service

    /// Starts the service, and returns when it answers, or when it has ended.
    ///
    /// - Parameter launcher: a program and its first arguments, which becomes the service's program.
    func start(
        _ arguments: String..., environment: [String: String] = [:], launcher: [String] = []
    ) async throws {
        let process = Process()
        let words =
            launcher
            + ["\(Self.programs)/penumbra-service", "--service-dir", serviceFolder.path, "--state-dir", stateFolder]
            + ["--workers", "2"] + arguments
        process.executableURL = URL(filePath: words[0])
        process.arguments = Array(words.dropFirst())
        process.currentDirectoryURL = URL(filePath: folder.path)
        process.environment = variables.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        let log = folder.file("service.log")
        try Data().write(to: URL(filePath: log))
        process.standardOutput = FileHandle(forWritingAtPath: log)
        process.standardError = FileHandle(forWritingAtPath: log)
        try process.run()
        self.process = process
        try await wait { !process.isRunning || (try? self.client.send(ClientRequest(.get, "/status"))) != nil }
    }

    var isRunning: Bool { process?.isRunning ?? false }
    var processID: pid_t { process?.processIdentifier ?? 0 }

    /// What the service has written.
    var log: String { (try? read("service.log")) ?? "" }

    /// Sends a signal, and waits for the end.
    ///
    /// - Returns: the exit code; 128 and the signal's number if a signal ended it.
    @discardableResult
    func end(_ signal: Int32 = SIGTERM) async throws -> Int32 {
        guard let process else { return 0 }
        kill(process.processIdentifier, signal)
        return try await exitCode()
    }

    /// Waits for the end of the service.
    func exitCode() async throws -> Int32 {
        guard let process else { return 0 }
        try await wait { !process.isRunning }
        return process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
    }

    var client: APIClient {
        get throws {
            var options = APIClient.Options()
            options.attempts = 1
            return APIClient(try ServiceAddress(socket: serviceFolder.controlSocket), options: options)
        }
    }

    func job(_ number: Int) throws -> QueueEntry {
        try client.call(ClientRequest(.get, "/jobs/\(number)"), as: QueueEntry.self)
    }

    /// Waits until a job has a state.
    ///
    /// - Returns: the job.
    @discardableResult
    func wait(for number: Int, _ condition: (QueueEntry) -> Bool) async throws -> QueueEntry {
        var last: QueueEntry?
        try await wait {
            last = try? job(number)
            return last.map(condition) ?? false
        }
        return try #require(last)
    }

    @discardableResult
    func waitForEnd(of number: Int) async throws -> QueueEntry { try await wait(for: number) { $0.state.isEnd } }

    /// Looks again until the condition holds.
    func wait(until condition: () throws -> Bool) async throws {
        while try !condition() { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// The processes of runs of this farm: those whose standard input is a lock in the service's folder.
    func openRuns() -> [pid_t] {
        let runs = serviceFolder.path + "/runs/"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { process in
            let input = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/0")
            return input?.hasPrefix(runs) ?? false
        }
    }
}
