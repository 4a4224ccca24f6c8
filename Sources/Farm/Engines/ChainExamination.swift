import Subprocess
package import WorkerProtocol

/// Has chains looked at by a worker program before anything starts.
package enum ChainExamination {
    package struct Failure: Error, Hashable, Sendable {
        /// Why there is no answer, and what to do.
        package let message: String
    }

    /// A sentence for each of the filters that a manifest can hold.
    private static let longestAnswer = 32 << 20

    /// Runs `penumbra-worker examine`.
    ///
    /// - Parameter patience: how long it may take.
    package static func ask(
        _ chains: ExaminedChains, _ command: WorkerCommand, patience: Duration = WorkerProcess.startLimit
    ) async throws(Failure) -> Examination {
        let answer: OneShotWorker.Answer
        do {
            answer = try await OneShotWorker(
                command: command, arguments: ["examine"], patience: patience, longestAnswer: longestAnswer,
                input: FrameCodec.json(chains)
            ).ask()
        } catch {
            let words = WorkerProcess.words(for: error)
            throw Failure(message: "\(command.executable): the worker program cannot be run: \(words)")
        }
        if let trouble = trouble(in: answer) { throw Failure(message: trouble) }
        guard let examination = try? FrameCodec.decode(Examination.self, from: answer.output),
            examination.filters.count == chains.filters.count, examination.pictures.count == chains.pictures.count
        else { throw Failure(message: "the worker's answer is no examination; reinstall both programs together") }
        return examination
    }

    private static func trouble(in answer: OneShotWorker.Answer) -> String? {
        switch (answer.interruption, answer.status) {
        case (.silence(let patience), _):
            "no answer within \(patience); if they have a plugin, try it with 'penumbra plugin check'"
        case (.tooLong, _): "the worker's answer is too long; reinstall both programs together"
        case (nil, .signaled(let signal)):
            "the worker died of signal \(signal); if they have a plugin, try it with 'penumbra plugin check'"
        case (nil, .exited(0)): nil
        case (nil, .exited(let code)):
            answer.lastWords
                ?? "the worker left with exit code \(code); if they have a plugin, try it with 'penumbra plugin check'"
        }
    }
}
