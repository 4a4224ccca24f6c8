import Foundation
import Glibc
import TestSupport
import Testing

/// `penumbra run --run NAME`, by which another program knows a run before it begins.
@Suite(.serialized) struct NamedRunTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        for name in ["a", "b", "c"] { try workspace.draw("photos/\(name).png", width: 60, height: 40) }
        try workspace.writeManifest(filters: "[{gaussian: {radius: 3}}]")
    }

    private func run(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(Program.penumbra, ["run"] + arguments, in: workspace)
    }

    private func runs() async throws -> [[String: Any]] {
        try await Program.run("status", "--all", "--json", in: workspace).output.split(separator: "\n").compactMap {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }.filter { $0["event"] as? String == "run" }
    }

    @Test func `a run has the name that it was given, once`() async throws {
        #expect(try await run("job.yaml", "--run", "night-7").code == 0)
        #expect(try await runs().map { $0["run"] as? String } == ["night-7"])
        let again = try await run("job.yaml", "--run", "night-7")
        #expect(again.code == 64)
        #expect(again.errors == "night-7: a run of this name has ended\n   = give another name\n")
        try workspace.write(
            "job: other\ninputs: photos/*\nfilters: [{gaussian: {radius: 3}}]\noutput: other/{stem}.png\n",
            to: "other.yaml")
        let other = try await run("other.yaml", "--run", "night-7")
        #expect(other.code == 64)
        #expect(
            other.errors == """
                night-7: the run of this name belongs to another job: 'test' of \(workspace.path)/job.yaml
                   = give another name

                """)
        #expect(!workspace.exists("other"))
        #expect(try await run("other.yaml", "--run", "night-8").code == 0)
        #expect(workspace.leftovers() == [])
    }

    @Test(arguments: [".", "..", "a/b", "-x", ".hidden", "tag e", "nächte", String(repeating: "x", count: 65)])
    func `a name that could be a path, or is too long, is refused`(name: String) async throws {
        let result = try await run("job.yaml", "--run=\(name)")
        #expect(result.code == 64)
        #expect(
            result.errors.contains(
                "a run's name begins with a letter or a digit, and has letters (a-z, A-Z), digits, '-', '_' and '.', at most 64: night-7."
            ))
        #expect(!workspace.exists("out") && !workspace.exists("state"))
    }

    @Test func `a name is for one run, so several jobs, a watch and a detached run are refused`() async throws {
        try workspace.write(
            "job: other\ninputs: photos/*\nfilters: [{gaussian: {radius: 3}}]\noutput: other/{stem}.png\n",
            to: "other.yaml")
        let two = try await run("job.yaml", "other.yaml", "--run", "night-7")
        #expect(two.code == 64)
        #expect(
            two.errors == "--run names one run, and there are 2 jobs\n   = give one manifest with one job\n")
        let watch = try await run("job.yaml", "--watch", "--run", "night-7")
        #expect(watch.code == 64)
        #expect(watch.errors.contains("--watch begins a run at each change; --run names one run."))
        let detached = try await run("job.yaml", "--detach", "--run", "night-7")
        #expect(detached.code == 64)
        #expect(
            detached.errors.contains(
                "--detach leaves the run to jobs of the cluster; --run names a run of this machine."))
        #expect(!workspace.exists("out") && !workspace.exists("state"))
    }

    /// Kills a run while it renders its first picture.
    private func kill(_ arguments: String...) async throws {
        let program = try RunningProgram(["run", "job.yaml", "--workers", "1"] + arguments, in: workspace)
        program.wait { workspace.exists("out/a.png") }
        let workers = program.workers
        Glibc.kill(program.processID, SIGKILL)
        _ = program.finish()
        while workers.contains(where: isAlive) { usleep(1000) }
    }

    @Test func `a run that was killed goes on under its name, and a new name gives it up`() async throws {
        let gate = try await Gate(in: workspace)
        try workspace.writeManifest(
            filters: "[\(Gate.filter)]", more: "existing: update\nshard: frame\n\(Gate.patience)")
        try gate.open(for: 1)
        try await kill("--run", "night-1")
        #expect(try await runs().map { $0["state"] as? String } == ["interrupted"])
        let shown = try await Program.run("show", "night-1", in: workspace).output
        #expect(!shown.contains(" running"), "\(shown)")
        // The same name again: the same run, with its second coordinator.
        try gate.open(for: 1)
        let second = try RunningProgram(["run", "job.yaml", "--workers", "1", "--run", "night-1"], in: workspace)
        second.wait { workspace.exists("out/b.png") }
        let busy = try await run("job.yaml", "--run", "night-1")
        #expect(busy.code == 75)
        #expect(
            busy.errors == "test: the run night-1 has a coordinator that lives; 'penumbra status' tells of it\n")
        let workers = second.workers
        Glibc.kill(second.processID, SIGKILL)
        _ = second.finish()
        while workers.contains(where: isAlive) { usleep(1000) }
        #expect(try await runs().map { $0["epoch"] as? Int } == [2])
        // Another name: another run, and the first one is over.
        try gate.open(for: 1)
        #expect(try await run("job.yaml", "--run", "night-2").code == 0)
        let runs = try await runs()
        #expect(Set(runs.map { "\($0["run"] ?? "") \($0["state"] ?? "")" }) == ["night-1 stopped", "night-2 done"])
        #expect(["a", "b", "c"].allSatisfy { workspace.exists("out/\($0).png") })
        #expect(workspace.leftovers() == [])
    }
}
