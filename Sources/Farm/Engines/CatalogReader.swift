package import Catalogs
import FoundationEssentials
import Glibc
import Subprocess
import WorkerProtocol

/// Asks a worker program what it offers.
package enum CatalogReader {
    package struct Failure: Error, Hashable, Sendable {
        /// One sentence that names the program, and what it said.
        package let message: String
        /// False when the program ran, and said itself what is wrong.
        package let isMissing: Bool
    }

    /// Longer answers are refused; a real one has some ten kilobytes.
    private static let longestAnswer = 4 << 20

    /// A describing worker that is killed from outside is asked again, as a rendering one is.
    private static let mostTries = 20

    private typealias Answer = OneShotWorker.Answer

    /// Runs `penumbra-worker describe`. Libraries that it refused are not tried by the workers that `command` starts
    /// later.
    ///
    /// - Parameter patience: how long it may take.
    package static func read(
        _ command: WorkerCommand, patience: Duration = WorkerProcess.startLimit
    ) async throws(Failure) -> Catalog {
        let question = OneShotWorker(
            command: command, arguments: ["describe"], patience: patience, longestAnswer: longestAnswer)
        var answer = try await ask(question)
        var tries = 1
        while answer.interruption == nil, answer.status == .signaled(SIGKILL), tries < mostTries {
            answer = try await ask(question)
            tries += 1
        }
        return try catalog(from: answer, command)
    }

    private static func ask(_ question: OneShotWorker) async throws(Failure) -> Answer {
        do {
            return try await question.ask()
        } catch {
            let words = WorkerProcess.words(for: error)
            throw Failure(
                message: "\(question.command.executable): the worker program cannot be run: \(words)",
                isMissing: !(error is Shortage))
        }
    }

    private static func catalog(from answer: Answer, _ command: WorkerCommand) throws(Failure) -> Catalog {
        if let interruption = answer.interruption {
            throw Failure(message: "\(command.executable) describe: \(interruption)", isMissing: false)
        }
        guard answer.status.isSuccess else {
            let words = answer.lastWords
            // What the worker says of itself needs no frame around it.
            if case .exited(69) = answer.status, let words {
                throw Failure(message: words, isMissing: false)
            }
            throw Failure(
                message: "\(command.executable) describe: \(answer.status)\(words.map { ": \($0)" } ?? "")",
                isMissing: true)
        }
        do {
            let greeting = try JSONDecoder().decode(Greeting.self, from: Data(answer.output))
            if greeting.protocolVersion == Greeting.currentVersion, let catalog = greeting.catalog {
                command.refusals.note(greeting.refused)
                return catalog
            }
        } catch {
            // Said below: it is not as this version knows it.
        }
        throw Failure(
            message: "\(command.executable) describe: the answer is no catalog; reinstall both programs together",
            isMissing: true)
    }
}
