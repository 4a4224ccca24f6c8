import FoundationEssentials
import Glibc
import Subprocess
package import WorkerProtocol

/// Has plugins looked at by worker programs: only those open them.
package enum PluginExaminer {
    package struct Failure: Error, Hashable, Sendable {
        /// One sentence that names the program, and what it said.
        package let message: String
    }

    /// What plugins say goes into findings; a real one has some kilobytes.
    private static let longestAnswer = 1 << 20

    /// Tries a library with the contract of filters, in a process of its own.
    ///
    /// - Parameter patience: how long one check may take.
    /// - Returns: a finding for each check that was ended, in order; of one that took the process down, how.
    package static func check(
        _ library: String, _ command: WorkerCommand, patience: Duration = .seconds(120)
    ) async throws(Failure) -> [PluginFinding] {
        let answer = try await ask(["check-plugin", library], command, patience)
        let findings = try lines(of: answer, command)
        let ended = findings.filter { if case .begins = $0 { false } else { true } }
        if case .begins(let name) = findings.last { return ended + [.broken(name, how: words(for: answer))] }
        guard answer.interruption == nil else { return ended + [.broken("the end", how: words(for: answer))] }
        guard answer.status.isSuccess else {
            throw Failure(message: "\(command.executable) check-plugin: \(answer.status)")
        }
        return ended
    }

    /// The plugins that workers use, and what they could not use.
    package static func list(
        _ command: WorkerCommand, patience: Duration = WorkerProcess.startLimit
    ) async throws(Failure) -> PluginList {
        let answer = try await ask(["list-plugins"], command, patience)
        let name = "\(command.executable) list-plugins"
        if let interruption = answer.interruption { throw Failure(message: "\(name): \(interruption)") }
        do {
            return try JSONDecoder().decode(PluginList.self, from: Data(answer.output))
        } catch {
            let words = answer.lastWords.map { ": \($0)" } ?? ""
            throw Failure(message: "\(name): \(answer.status)\(words)")
        }
    }

    private static func ask(
        _ arguments: [String], _ command: WorkerCommand, _ patience: Duration
    ) async throws(Failure) -> OneShotWorker.Answer {
        do {
            return try await OneShotWorker(
                command: command, arguments: arguments, patience: patience, longestAnswer: longestAnswer
            ).ask()
        } catch {
            let words = WorkerProcess.words(for: error)
            throw Failure(message: "\(command.executable): the worker program cannot be run: \(words)")
        }
    }

    /// A line that was cut off when the process ended is left out.
    private static func lines(
        of answer: OneShotWorker.Answer, _ command: WorkerCommand
    ) throws(Failure) -> [PluginFinding] {
        guard let end = answer.output.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        do {
            return try answer.output[..<end].split(separator: UInt8(ascii: "\n")).map {
                try JSONDecoder().decode(PluginFinding.self, from: Data($0))
            }
        } catch {
            throw Failure(
                message:
                    "\(command.executable) check-plugin: the answer is no list of findings; reinstall both programs "
                    + "together")
        }
    }

    private static func words(for answer: OneShotWorker.Answer) -> String {
        switch (answer.interruption, answer.status) {
        case (.silence(let patience), _): "it hangs: it was not done within \(patience)"
        case (.tooLong, _): "it says more than a megabyte"
        case (nil, .signaled(let signal)): "it crashes with signal \(signal)"
        case (nil, .exited(let code)): "it ends the process with exit code \(code)"
        }
    }
}

extension OneShotWorker.Interruption: CustomStringConvertible {
    var description: String {
        switch self {
        case .silence(let patience):
            "no answer within \(patience); a plugin may hang when it is opened: look at those that came last"
        case .tooLong: "the answer is too long; reinstall both programs together"
        }
    }
}
