import Foundation
import Glibc
import Testing

/// Pictures that change in the middle of being read: the worker is held while it has the file open.
@Suite struct ChangingSourceTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.draw("photos/a.png", width: 1200, height: 900)
        try workspace.draw("other.png", width: 400, height: 300)
        try workspace.age("photos/a.png")
        try workspace.writeManifest(
            filters: "[{motion: {radius: 250, samples: continuous}}]", more: "existing: update\nshard: frame")
    }

    /// Runs the job, and does something while a worker stands still in the middle of the picture.
    private func run(while change: () throws -> Void) throws -> Program.Result {
        let program = try RunningProgram(["run", "job.yaml", "--workers", "1", "--quiet"], in: workspace)
        var held: pid_t?
        program.wait {
            held = program.workers.first { openFiles(of: $0).contains("\(workspace.path)/photos/a.png") }
            guard let worker = held else { return false }
            kill(worker, SIGSTOP)
            if openFiles(of: worker).contains("\(workspace.path)/photos/a.png"), !workspace.exists("out/a.png") {
                return true
            }
            kill(worker, SIGCONT)
            return false
        }
        let worker = try #require(held)
        try change()
        kill(worker, SIGCONT)
        return program.finish()
    }

    /// What the job makes of a picture that nobody touches.
    private func expected(_ name: String) async throws -> Data {
        let still = try Workspace()
        try still.write(try workspace.read(name), to: "photos/a.png")
        try still.write(try workspace.read("job.yaml"), to: "job.yaml")
        #expect(try await Program.run("run", "job.yaml", in: still).code == 0)
        return try still.read("out/a.png")
    }

    @Test func `a picture that is overwritten while it is read is read again`() async throws {
        let other = try workspace.read("other.png")
        let result = try run {
            let file = try #require(FileHandle(forWritingAtPath: "\(workspace.path)/photos/a.png"))
            try file.write(contentsOf: other)
            try file.truncate(atOffset: UInt64(other.count))
            try file.close()
        }
        #expect(result.code == 0)
        #expect(result.errors == "")
        #expect(try await workspace.read("out/a.png") == expected("other.png"))
        #expect(workspace.leftovers() == [])
        #expect(try await Program.night(workspace) == NightSummary(skipped: 1))
    }

    @Test func `a picture in whose place another one is put is read again`() async throws {
        let result = try run {
            let (from, to) = ("\(workspace.path)/other.png", "\(workspace.path)/photos/a.png")
            try #require(link(from, to + "-new") == 0 && rename(to + "-new", to) == 0)
        }
        #expect(result.code == 0)
        #expect(try await workspace.read("out/a.png") == expected("other.png"))
        #expect(try await Program.night(workspace) == NightSummary(skipped: 1))
    }

    @Test func `a picture that disappears while it is read fails, and leaves nothing`() throws {
        let result = try run { try workspace.remove("photos/a.png") }
        #expect(result.code == 1)
        #expect(result.errors == "test: 1 frame failed: input missing or not readable\n  photos/a.png: no such file\n")
        #expect(workspace.files(below: "out") == [])
        #expect(workspace.leftovers() == [])
    }

    @Test func `a picture that changes after it got its name is not published under that name`() async throws {
        try workspace.writeManifest(
            filters: "[{motion: {radius: 250, samples: continuous}}]", output: "out/{stem}-{hash8}.png",
            more: "existing: update\nshard: frame")
        let result = try run {
            let (from, to) = ("\(workspace.path)/other.png", "\(workspace.path)/photos/a.png")
            try #require(link(from, to + "-new") == 0 && rename(to + "-new", to) == 0)
        }
        // Held while it is read for the name, or while it is rendered: the next run knows it in any case.
        #expect([0, 1].contains(result.code))
        #expect((result.code == 1) == workspace.files(below: "out").isEmpty)
        #expect(result.code == 0 || result.errors.contains("changed after its outputs got their names"))
        _ = try await Program.run("run", "job.yaml", "--quiet", in: workspace)
        let name = try #require(workspace.files(below: "out").first)
        let still = try Workspace()
        try still.write(try workspace.read("other.png"), to: "photos/a.png")
        try still.write(try workspace.read("job.yaml"), to: "job.yaml")
        #expect(try await Program.run("run", "job.yaml", in: still).code == 0)
        #expect(still.files(below: "out") == [name])
        #expect(workspace.files(below: "out") == [name])
    }
}
