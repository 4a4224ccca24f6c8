import Subprocess
import SystemPackage
package import WorkerProtocol

/// Has chains looked at by a worker program before anything starts.
package enum ChainExamination {
    /// A sentence for each of the filters that a manifest can hold.
    private static let longestAnswer = 32 << 20

    /// Runs `penumbra-worker examine`.
    ///
    /// - Returns: nil when there is no answer: a plugin took the process down, which a run tells of by the picture.
    package static func ask(_ chains: ExaminedChains, _ command: WorkerCommand) async -> Examination? {
        guard let question = try? FrameCodec.json(chains),
            let answer = try? await Subprocess.run(
                .path(FilePath(command.executable)), arguments: ["examine"],
                environment: WorkerProcess.environment(of: command), input: .array(question),
                output: .bytes(limit: longestAnswer), error: .string(limit: 65536)),
            let examination = try? FrameCodec.decode(Examination.self, from: answer.standardOutput),
            examination.filters.count == chains.filters.count, examination.pictures.count == chains.pictures.count
        else { return nil }
        return examination
    }
}
