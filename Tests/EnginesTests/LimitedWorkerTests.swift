import Engines
import FarmTestSupport
import Foundation
import Glibc
import JobModel
import Scheduling
import TestSupport
import Testing
import WorkerProtocol

/// Real workers that are limited during their tasks. `Scripts/test-sanitized` sets the variable.
@Suite(
    .enabled(
        if: ProcessInfo.processInfo.environment["PENUMBRA_TEST_SANITIZER"] == nil,
        "the shadow memory of a sanitizer is larger than a worker may have"))
struct LimitedWorkerTests {
    private let folder: TemporaryFolder
    private let worker: WorkerCommand

    init() throws {
        folder = try TemporaryFolder()
        let program =
            URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            .deletingLastPathComponent().appending(path: "penumbra-worker").path
        var command = WorkerCommand(executable: program)
        command.limits = WorkerLimits(share: 1 << 30, isRequired: true)
        worker = command
        signal(SIGPIPE, SIG_IGN)
    }

    private static let side = 4800
    /// A little more than the 64 MB that each file may have.
    private static let bytes = side * side * 3

    private func converting(_ input: String, to output: String) -> TaskSpec {
        .frame(
            FrameTask(
                input: InputSpec(
                    path: folder.file(input), maxPixels: 100_000_000, color: .keep, scratchFolder: folder.path),
                chain: [],
                outputs: [
                    .init(
                        OutputSpec(format: String(output.split(separator: ".").last ?? ""), save: SaveOptions()),
                        temporaryPath: folder.file(output), name: output)
                ], tileMemory: 1 << 20, frameMemory: 1 << 28, syncs: false))
    }

    private func answer(
        _ talk: Conversation, _ spec: TaskSpec, by worker: WorkerID, pixelBytes: Int?
    ) async throws -> Report {
        let lease = talk.lease(spec, to: worker, pixelBytes: pixelBytes)
        return try await talk.until("the task was answered") { events in
            for case .report(worker, let report) in events {
                switch report {
                case .finished(lease.id, _), .failed(lease.id, _): return report
                default: continue
                }
            }
            return nil as Report?
        }
    }

    @Test func `an output that grows far beyond its pixels fails alone, and the worker goes on`() async throws {
        let picture = Data("P6 \(Self.side) \(Self.side) 255\n".utf8) + Data(count: Self.bytes)
        try picture.write(to: URL(filePath: folder.file("a.ppm")))
        let talk = Conversation(with: LocalEngine(command: worker))
        let ready = try await talk.readyWorker()
        // Before its probe, an output may have any size. This one is small, because all pixels are black.
        guard case .finished = try await answer(talk, converting("a.ppm", to: "a.png"), by: ready, pixelBytes: nil)
        else {
            Issue.record("the picture was not converted")
            return
        }
        let small = try await answer(talk, converting("a.png", to: "b.ppm"), by: ready, pixelBytes: 0)
        guard case .failed(_, let failure) = small else {
            Issue.record("it was answered by \(small)")
            return
        }
        #expect(
            failure
                == TaskFailure(
                    .limit,
                    "\(folder.file("b.ppm")): cannot be written: file too large; no file of this task may grow beyond 64 MB, "
                        + "which is more than four times its pixels; look at the picture; if it is sound, report this, and "
                        + "set 'sandbox: off' until it is corrected"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("b.ppm")))
        guard
            case .finished = try await answer(
                talk, converting("a.png", to: "b.ppm"), by: ready, pixelBytes: 2 * Self.bytes)
        else {
            Issue.record("the same worker did not write the output under a higher limit")
            return
        }
        await talk.end()
    }
}
