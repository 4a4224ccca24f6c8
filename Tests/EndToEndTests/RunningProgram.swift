import Foundation
import Glibc
import TestSupport

/// A `penumbra` that goes on while a test does things to it.
final class RunningProgram {
    private let process = Process()
    private let output = Pipe()
    private let errors = Pipe()

    init(
        _ arguments: [String], in workspace: Workspace, environment: [String: String] = [:],
        program: String = Program.penumbra
    ) throws {
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.currentDirectoryURL = URL(filePath: workspace.path)
        process.environment = Dictionary(
            uniqueKeysWithValues: workspace.environment(adding: environment).map { ("\($0.key)", $0.value) })
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        try process.run()
    }

    var processID: pid_t { process.processIdentifier }
    var isRunning: Bool { process.isRunning }

    /// The worker processes that live now.
    var workers: [pid_t] { children(of: processID) }

    var openFiles: [String] { EndToEndTests.openFiles(of: processID) }

    /// Looks again until the condition holds or the program has ended.
    func wait(until condition: () -> Bool) {
        while isRunning, !condition() { usleep(500) }
    }

    /// What it complains of next; waits for that.
    func nextErrors() -> String { String(decoding: errors.fileHandleForReading.availableData, as: UTF8.self) }

    func finish() -> Program.Result {
        let text = output.fileHandleForReading.readDataToEndOfFile()
        let complaints = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let code = process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
        return Program.Result(
            code: code, output: String(decoding: text, as: UTF8.self),
            errors: String(decoding: complaints, as: UTF8.self))
    }
}

/// The files that a process has open.
func openFiles(of process: pid_t) -> [String] {
    let folder = "/proc/\(process)/fd"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)") }
}
