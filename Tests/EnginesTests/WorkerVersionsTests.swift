import Engines
import FarmTestSupport
import Foundation
import Scheduling
import TestSupport
import Testing

@Suite struct WorkerVersionsTests {
    @Test func `workers of one engine have the same versions`() {
        var versions = WorkerVersions()
        #expect(versions.difference(of: ["penumbra": "0.1.0", "rendering": "5"]) == nil)
        #expect(versions.difference(of: ["penumbra": "0.1.0", "rendering": "5"]) == nil)
        let difference = versions.difference(of: ["penumbra": "0.2.0", "rendering": "6"])
        #expect(
            difference?.description == """
                the programs were replaced meanwhile: a new worker has penumbra 0.2.0 instead of 0.1.0, rendering 6 instead of 5
                   = run the job again, which does the rest
                """)
        // The first worker decides, and a refused one changes nothing.
        #expect(versions.difference(of: ["penumbra": "0.1.0", "rendering": "5"]) == nil)
    }

    @Test func `a plugin that was added or removed meanwhile is no difference`() {
        var versions = WorkerVersions()
        #expect(versions.difference(of: ["penumbra": "0.1.0", "sepia": "1.0.0"]) == nil)
        #expect(versions.difference(of: ["penumbra": "0.1.0", "emboss": "1.0.0"]) == nil)
        #expect(versions.difference(of: ["penumbra": "0.1.0", "sepia": "1.1.0"]) != nil)
    }

    /// Levels of x86-64 stand for versions: a worker reports its level as one.
    private static let hasTwoLevels =
        (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?.contains(" avx2 ") == true

    @Test(.enabled(if: hasTwoLevels)) func `a worker of replaced programs takes no part in the run`() async throws {
        let folder = try TemporaryFolder()
        let program = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            .deletingLastPathComponent().appending(path: "penumbra-worker").path
        // The first worker that starts is of the best level, and all others are of the lowest one.
        let script = """
            #!/bin/sh
            if ! mkdir '\(folder.file("begun"))' 2>/dev/null; then PENUMBRA_CPU=v2; export PENUMBRA_CPU; fi
            exec '\(program)' "$@"

            """
        try script.write(toFile: folder.file("worker"), atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.file("worker"))
        let talk = Conversation(with: LocalEngine(command: WorkerCommand(executable: folder.file("worker"))))
        _ = try await talk.readyWorker()
        talk.say(.widen(to: 2))
        let death = try await talk.loss(of: WorkerID(2, slot: SlotID(2)))
        await talk.end()
        guard case .brokeProtocol(let words) = death.manner else {
            Issue.record("it was told as \(death.manner)")
            return
        }
        #expect(words.hasPrefix("the programs were replaced meanwhile: a new worker has cpu v2 instead of v"))
    }
}
