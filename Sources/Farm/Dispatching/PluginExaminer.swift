import FoundationEssentials
import Glibc
import Subprocess
import SystemPackage
package import WorkerProtocol

/// Has plugins looked at by worker programs: only those open them.
package enum PluginExaminer {
    package struct Failure: Error, Hashable, Sendable {
        /// One sentence that names the program, and what it said.
        package let message: String
    }

    /// What plugins say goes into findings; a real one has some kilobytes.
    private static let longestAnswer = 1 << 20

    private typealias Answer = ExecutionResult<Void, BytesOutput, StringOutput<UTF8>>

    /// Tries a library with the contract of filters, in a process of its own.
    ///
    /// - Returns: a finding for each check that was ended, in order; of one that took the process down, how.
    package static func check(_ library: String, _ command: WorkerCommand) async throws(Failure) -> [PluginFinding] {
        let answer = try await ask(["check-plugin", library], command)
        let findings = lines(of: answer)
        let ended = findings.filter { if case .begins = $0 { false } else { true } }
        guard case .begins(let name) = findings.last else {
            if answer.terminationStatus.isSuccess { return ended }
            throw Failure(message: "\(command.executable) check-plugin: \(answer.terminationStatus)")
        }
        return ended + [.broken(name, how: words(for: answer.terminationStatus))]
    }

    /// The plugins that workers use, and what they could not use.
    package static func list(_ command: WorkerCommand) async throws(Failure) -> PluginList {
        let answer = try await ask(["list-plugins"], command)
        guard let list = try? JSONDecoder().decode(PluginList.self, from: Data(answer.standardOutput)) else {
            let words = answer.standardError.split(separator: "\n").last.map { ": \($0)" } ?? ""
            throw Failure(message: "\(command.executable) list-plugins: \(answer.terminationStatus)\(words)")
        }
        return list
    }

    private static func ask(_ arguments: [String], _ command: WorkerCommand) async throws(Failure) -> Answer {
        do {
            return try await Subprocess.run(
                .path(FilePath(command.executable)), arguments: Arguments(arguments),
                environment: WorkerProcess.environment(of: command), input: .none,
                output: .bytes(limit: longestAnswer), error: .string(limit: 65536))
        } catch {
            throw Failure(message: "\(command.executable): the worker program cannot be run: \(error)")
        }
    }

    private static func lines(of answer: Answer) -> [PluginFinding] {
        answer.standardOutput.split(separator: UInt8(ascii: "\n")).compactMap {
            try? JSONDecoder().decode(PluginFinding.self, from: Data($0))
        }
    }

    private static func words(for status: TerminationStatus) -> String {
        switch status {
        case .signaled(SIGALRM): "it hangs"
        case .signaled(let signal): "it crashes with signal \(signal)"
        case .exited(let code): "it ends the process with exit code \(code)"
        }
    }
}
