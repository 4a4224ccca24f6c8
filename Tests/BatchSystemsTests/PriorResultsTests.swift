import Cluster
import Foundation
import Shards
import Testing

/// What the notes of earlier coordinators make Slurm cancel.
@Suite struct PriorResultsTests {
    private let slurm: FakeSlurm
    private let folder: ShardFolder

    init() throws {
        slurm = try FakeSlurm()
        try slurm.program("scancel", "echo scancel \"$@\" >> asked")
        try slurm.program("squeue", "echo squeue \"$@\" >> asked")
        folder = ShardFolder("\(slurm.folder.path)/penumbra-r")
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    }

    private func note(_ lines: [String], in list: String) throws {
        try Data(lines.map { "\($0)\n" }.joined().utf8).write(to: URL(filePath: "\(folder.path)/\(list)"))
    }

    private func end() async throws {
        try await ClusterEngine.endArrays(of: folder, before: 9, client: slurm.client)
        try await ClusterEngine.endCoordinators(of: folder, client: slurm.client)
    }

    @Test func `jobs of the run are cancelled by their names`() async throws {
        try note(
            [#"{"epoch":1,"name":"penumbra-r-1-1"}"#, #"{"epoch":1,"name":"penumbra-r-1-1","job":"4711"}"#],
            in: "submissions")
        try note([#"{"epoch":1,"name":"penumbra-r-1-coordinator","job":"4712","left":3}"#], in: "coordinators")
        try await end()
        let asked = try slurm.text("asked").split(separator: "\n")
        #expect(asked.first == "scancel --name=penumbra-r-1-1")
        #expect(asked.contains { $0.contains("--jobs=4711") })
        #expect(asked.last == "scancel --name=penumbra-r-1-coordinator")
    }

    @Test(arguments: [
        #"{"epoch":1,"name":"my-thesis-simulation","job":"4711"}"#,
        #"{"epoch":1,"name":"penumbra-other-1-1","job":"4711"}"#,
        #"{"epoch":1,"name":"penumbra-r","job":"4711"}"#,
        #"{"epoch":1,"name":"penumbra-r-1-1,my-thesis","job":"4711"}"#,
        #"{"epoch":1,"name":"penumbra-r-1-1 --user=x","job":"4711"}"#,
        #"{"epoch":1,"name":"penumbra-r-1-1","job":"--user=root"}"#,
        #"{"epoch":1,"name":"penumbra-r-1-1","job":"4711,4712"}"#,
        #"{"epoch":1,"name":"penumbra-r-1-1","job":""}"#,
        #"{"epoch":-9223372036854775808,"name":"penumbra-r-1-1","job":"4711"}"#,
        #"{"epoch":1,"name":"penumbra-r-1-1","job":"4711","left":-9223372036854775808}"#,
    ])
    func `no other job is`(line: String) async throws {
        for list in ["submissions", "coordinators"] { try note([line], in: list) }
        try await end()
        #expect(!slurm.has("asked"))
    }
}
