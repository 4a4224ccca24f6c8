package import Catalogs
import FoundationEssentials
import Glibc
import Subprocess
import SystemPackage

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

    private typealias Answer = ExecutionResult<Void, BytesOutput, StringOutput<UTF8>>

    /// Runs `penumbra-worker describe`.
    package static func read(_ command: WorkerCommand) async throws(Failure) -> Catalog {
        var answer = try await ask(command)
        var tries = 1
        while answer.terminationStatus == .signaled(SIGKILL), tries < mostTries {
            answer = try await ask(command)
            tries += 1
        }
        return try catalog(from: answer, command)
    }

    private static func ask(_ command: WorkerCommand) async throws(Failure) -> Answer {
        do {
            return try await Subprocess.run(
                .path(FilePath(command.executable)), arguments: ["describe"],
                environment: WorkerProcess.environment(of: command), input: .none,
                output: .bytes(limit: longestAnswer), error: .string(limit: 65536))
        } catch {
            throw Failure(
                message: "\(command.executable): the worker program cannot be run: \(error)", isMissing: true)
        }
    }

    private static func catalog(from answer: Answer, _ command: WorkerCommand) throws(Failure) -> Catalog {
        guard answer.terminationStatus.isSuccess else {
            let words = answer.standardError.split(separator: "\n").last.map(String.init)
            // What the worker says of itself needs no frame around it.
            if case .exited(69) = answer.terminationStatus, let words {
                throw Failure(message: words, isMissing: false)
            }
            throw Failure(
                message: "\(command.executable) describe: \(answer.terminationStatus)\(words.map { ": \($0)" } ?? "")",
                isMissing: true)
        }
        do {
            return try JSONDecoder().decode(Catalog.self, from: Data(answer.standardOutput))
        } catch {
            throw Failure(
                message: "\(command.executable) describe: the answer is no catalog; reinstall both programs together",
                isMissing: true)
        }
    }
}
