import Cluster
import Foundation
import JobModel
import Shards
import Testing

/// The jobs that are cancelled because of earlier coordinators' records.
@Suite struct SubmittedJobsTests {
    private let programs: FakePrograms
    private let folder: ShardFolder

    init() throws {
        programs = try FakePrograms()
        try programs.program("scancel", "echo scancel \"$@\" >> asked")
        try programs.program("squeue", "echo squeue \"$@\" >> asked")
        folder = ShardFolder("\(programs.folder.path)/penumbra-r")
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    }

    private func note(_ lines: [String], in list: String) throws {
        try Data(lines.map { "\($0)\n" }.joined().utf8).write(to: URL(filePath: "\(folder.path)/\(list)"))
    }

    private func end() async throws {
        let jobs = SubmittedJobs(of: folder)
        try await jobs.endArrays(before: 9, on: programs.slurm)
        try await jobs.endCoordinators(on: programs.slurm)
    }

    @Test func `jobs of the run are cancelled by their names`() async throws {
        try note(
            [#"{"epoch":1,"name":"penumbra-r-1-1"}"#, #"{"epoch":1,"name":"penumbra-r-1-1","job":"4711"}"#],
            in: "submissions")
        try note([#"{"epoch":1,"name":"penumbra-r-1-coordinator","job":"4712","left":3}"#], in: "coordinators")
        try await end()
        let asked = try programs.text("asked").split(separator: "\n")
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
        #"{"engine":"commands","epoch":1,"name":"penumbra-r-1-1","job":"-4711"}"#,
        #"{"engine":"commands","epoch":1,"name":"penumbra-r-1-1","job":"4711 4712"}"#,
        #"{"engine":"lsf","epoch":1,"name":"penumbra-r-1-1","job":"4711"}"#,
        #"{"epoch":-9223372036854775808,"name":"penumbra-r-1-1","job":"4711"}"#,
        #"{"epoch":1,"name":"penumbra-r-1-1","job":"4711","left":-9223372036854775808}"#,
    ])
    func `no other job is`(line: String) async throws {
        for list in ["submissions", "coordinators"] { try note([line], in: list) }
        try await end()
        #expect(!programs.has("asked"))
    }

    @Test func `the engines that have the jobs are known by their notes, and each ends its own`() async throws {
        #expect(SubmittedJobs(of: folder).engines == [])
        try note([#"{"epoch":1,"name":"penumbra-r-1-1","job":"4711"}"#], in: "submissions")
        #expect(SubmittedJobs(of: folder).engines == [.slurm])
        try note(
            [
                #"{"epoch":1,"name":"penumbra-r-1-1","job":"4711"}"#,
                #"{"engine":"commands","epoch":1,"name":"penumbra-r-1-1","job":"4711.pbs"}"#,
            ], in: "submissions")
        try note([#"{"epoch":2,"name":"penumbra-r-2-1","job":"4712"}"#], in: "coordinators")
        #expect(SubmittedJobs(of: folder).engines == [.slurm, .commands])
    }
}
