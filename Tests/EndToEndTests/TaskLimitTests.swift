import Foundation
import Glibc
import Testing

/// The limits of workers in a run: they have them, and what happens where they cannot have them.
@Suite(.serialized) struct TaskLimitTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.draw("photos/a.png", width: 160, height: 120)
    }

    /// The soft and the hard limit of a process. Nil if it has ended.
    private func limit(_ name: String, of process: pid_t) -> [String]? {
        // A process that has ended has no such file.
        guard let text = try? String(contentsOfFile: "/proc/\(process)/limits", encoding: .utf8) else { return nil }
        return text.split(separator: "\n").first { $0.hasPrefix(name) }
            .map { $0.dropFirst(name.count).split(separator: " ").prefix(2).map(String.init) }
    }

    private func isLimited(_ process: pid_t) -> Bool {
        guard
            let (memory, file) = limit("Max data size", of: process).flatMap({ memory in
                limit("Max file size", of: process).map { (memory, $0) }
            })
        else { return false }
        // At least 4 GB, and 64 MB.
        return Int(memory[0]) ?? 0 >= 4 << 30 && Int(file[0]) ?? 0 >= 64 << 20 && memory[0] != memory[1]
            && file[0] != file[1]
    }

    @Test func `a worker that renders is limited, and its next task may get other limits`() async throws {
        let gate = try await Gate(in: workspace)
        try workspace.writeManifest(filters: "[\(Gate.filter)]", more: "shard: frame\n\(Gate.patience)")
        let program = try RunningProgram(["run", "job.yaml", "--workers", "1"], in: workspace)
        var wasLimited = false
        program.wait {
            wasLimited = program.workers.contains(where: isLimited)
            return wasLimited
        }
        #expect(wasLimited)
        try gate.open(for: 1)
        let result = program.finish()
        #expect(result.code == 0, "\(result.errors)")
    }

    @Test func `without a sandbox, workers have the limits of the coordinator`() async throws {
        let gate = try await Gate(in: workspace)
        try workspace.writeManifest(filters: "[\(Gate.filter)]", more: "shard: frame\n\(Gate.patience)")
        let program = try RunningProgram(
            ["run", "job.yaml", "--workers", "1"], in: workspace, environment: ["PENUMBRA_SANDBOX": "off"])
        // The worker is at the gate: it has opened it.
        program.wait { program.workers.contains { openFiles(of: $0).contains { $0.hasSuffix("/gate") } } }
        for worker in program.workers {
            for name in ["Max data size", "Max file size"] {
                #expect(limit(name, of: worker) == limit(name, of: program.processID))
            }
        }
        try gate.open(for: 1)
        #expect(program.finish().code == 0)
    }

    private func run(sandbox: String) async throws -> Program.Result {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        return try await Program.run(
            "/usr/bin/python3",
            [folder.appending(path: "Support/refuse-filters").path, "limits", Program.penumbra, "run", "job.yaml"],
            in: workspace, environment: ["PENUMBRA_SANDBOX": sandbox])
    }

    private static let reason =
        "this process may not limit the memory and the files of workers (prlimit: Operation not permitted)"

    @Test func `where workers cannot be limited, this is told once, and the run goes on`() async throws {
        try workspace.writeManifest()
        let result = try await run(sandbox: "auto")
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.errors == "workers are only partly confined: \(Self.reason); see 'penumbra doctor'\n")
        #expect(workspace.exists("out/a.png"))
    }

    @Test func `where limits are required and refused, nothing is rendered, and doctor says so`() async throws {
        try workspace.writeManifest()
        let result = try await run(sandbox: "require")
        #expect(result.code == 69)
        let words = "'sandbox: require' cannot be kept, because \(Self.reason); correct that, or set 'sandbox: auto'\n"
        #expect(result.errors == words)
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        for (sandbox, words) in [
            ("require", "FAIL  \(words)"), ("auto", "note  sandbox: a part of it is missing: \(Self.reason);"),
        ] {
            let doctor = try await Program.run(
                "/usr/bin/python3",
                [folder.appending(path: "Support/refuse-filters").path, "limits", Program.penumbra, "doctor"],
                in: workspace, environment: ["PENUMBRA_SANDBOX": sandbox])
            #expect(doctor.output.contains(words), "\(doctor.output)")
        }
        #expect(!workspace.exists("out/a.png"))
    }
}
