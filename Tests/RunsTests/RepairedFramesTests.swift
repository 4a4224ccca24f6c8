import JobModel
import JobStorage
import Runs
import Scheduling
import TestSupport
import Testing

/// Frames that failed in a run, and that a later run of the job has published.
@Suite struct RepairedFramesTests {
    private let state: TemporaryFolder
    private let store: JobStore

    init() throws {
        state = try TemporaryFolder()
        store = try JobStore(path: "\(state.path)/penumbra.sqlite")
    }

    /// Records an ended run with one frame.
    private func run(
        _ name: String, at time: Int64, job jobName: String = "night", number: Int = 1, input: String = "/in/a.png",
        outputs: [String] = ["/out/a.png"], isPublished: Bool
    ) throws {
        try store.write { writer in
            let job = try writer.job(manifest: "/jobs/night.yaml", name: jobName)
            var counts = RunCounts()
            counts.published = isPublished ? 1 : 0
            let run = try writer.begin(
                run: name, of: job, at: time, workers: 1, request: "{}", counts: counts.json)
            try writer.put(
                StoredFrame(
                    number: number, page: 0, input: input, recipe: "r", outputs: outputs,
                    state: isPublished ? .published : .failed(cause: "input", message: "m")), run: run)
            if isPublished {
                for path in outputs {
                    try writer.put(StoredPublication(path: path, number: number, page: 0, at: time), run: run)
                }
            }
            try writer.end(run, at: time + 1, exitCode: isPublished ? 0 : 1, reason: nil)
        }
    }

    private func repair() throws -> String? {
        let archive = try RunArchive(state: state.path)
        let run = try archive.run(exactly: "failed")
        let frames = try archive.frames(of: run, after: nil, state: .failed, limit: 10).frames
        return try archive.repairs(of: frames, in: run).values.first
    }

    @Test func `the first later run that published the output has repaired the frame`() throws {
        try run("earlier", at: 10, isPublished: true)
        try run("failed", at: 20, isPublished: false)
        #expect(try repair() == nil)
        try run("failed-too", at: 30, isPublished: false)
        // The picture may have another number in a later run.
        try run("repair", at: 40, number: 7, isPublished: true)
        try run("later", at: 50, isPublished: true)
        #expect(try repair() == "repair")
    }

    @Test func `another job and another picture repair nothing`() throws {
        try run("failed", at: 20, isPublished: false)
        try run("other-job", at: 30, job: "day", isPublished: true)
        try run("other-picture", at: 40, input: "/in/b.png", outputs: ["/out/b.png"], isPublished: true)
        #expect(try repair() == nil)
    }

    @Test func `a frame that failed before its output was known is found by its number and its input`() throws {
        try run("failed", at: 20, outputs: [], isPublished: false)
        try run("other-picture", at: 30, input: "/in/b.png", outputs: ["/out/b.png"], isPublished: true)
        #expect(try repair() == nil)
        try run("repair", at: 40, isPublished: true)
        #expect(try repair() == "repair")
    }
}
