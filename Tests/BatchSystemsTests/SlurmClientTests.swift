import BatchSystems
import Cluster
import Foundation
import Shards
import Testing
import WorkerProtocol

/// With programs in the place of Slurm's, which answer as the real ones were seen to answer.
@Suite struct SlurmClientTests {
    private let slurm: FakeSlurm
    private var folder: URL { slurm.folder }

    init() throws { slurm = try FakeSlurm() }

    private func program(_ name: String, _ script: String) throws { try slurm.program(name, script) }

    private func client(patience: Duration = FakeSlurm.patience) -> SlurmClient {
        SlurmClient(programs: folder.path, patience: patience)
    }

    private func submitter() throws -> (ArraySubmitter, Told) {
        let told = Told()
        let shards = folder.appending(path: "shards")
        try FileManager.default.createDirectory(at: shards, withIntermediateDirectories: true)
        let setup = ClusterEngine.Setup(
            folder: ShardFolder(folder.path), logs: folder.path, run: "r", epoch: 1, program: "/bin/penumbra",
            versions: [:], workers: Shard.Workers(plugins: PluginConditions(), silence: .seconds(30)))
        let submitter = ArraySubmitter(
            client: client(), options: SlurmOptions(), setup: setup, pause: .milliseconds(10)
        ) { told.note($0) }
        return (submitter, told)
    }

    private let submission = ArrayJob(name: "penumbra-r-1-1", firstShard: 1, count: 2)

    @Test func `sbatch gets the script's path, and prints the job's number`() async throws {
        try program("sbatch", "echo \"$@\" > '\(folder.path)/arguments'; echo '12;north'")
        #expect(try await client().submit(script: "/s/a b.sh", arguments: ["--parsable"]) == "12")
        #expect(
            try String(contentsOf: folder.appending(path: "arguments"), encoding: .utf8) == "--parsable /s/a b.sh\n")
    }

    @Test(arguments: [
        (
            "sbatch: error: invalid partition specified: nosuch\nsbatch: error: Batch job submission failed: "
                + "Invalid partition name specified",
            "say another one by 'partition' under 'slurm'; 'sinfo' lists them"
        ),
        (
            "sbatch: error: Batch job submission failed: Requested time limit is invalid (missing or exceeds some limit)",
            "say less by 'time' or 'coordinator_time' under 'slurm'"
        ),
        (
            "sbatch: error: Memory specification can not be satisfied\nsbatch: error: Batch job submission failed: "
                + "Requested node configuration is not available",
            "ask for less by 'memory' or 'coordinator_memory' under 'slurm'"
        ),
        (
            "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified",
            "say another one by 'account' under 'slurm'"
        ),
    ]) func `what Slurm has decided is a refusal, with the setting that it is about`(errors: String, advice: String) {
        let last = errors.split(separator: "\n").last.map(String.init) ?? ""
        #expect(SlurmClient.trouble("sbatch", errors) == .refused("\(last)\n   = \(advice)"))
    }

    @Test func `a refusal about which nothing is known is told as it is`() {
        let error = "sbatch: error: Invalid --time specification"
        #expect(SlurmClient.trouble("sbatch", error) == .refused(error))
    }

    @Test func `a limit to what a user may have with Slurm passes`() {
        let errors = """
            sbatch: error: QOSMaxSubmitJobPerUserLimit
            sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's \
            size and/or time limits)
            """
        guard case .full(let words) = SlurmClient.trouble("sbatch", errors) else {
            Issue.record("taken for a refusal")
            return
        }
        #expect(words.hasPrefix("sbatch: error: Batch job submission failed: Job violates accounting/QOS policy"))
    }

    @Test(arguments: [
        "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)",
        "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
        "slurm_load_jobs error: Socket timed out on send/recv operation",
        "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying",
    ]) func `what nobody has decided is no refusal`(errors: String) {
        guard case .unanswered = SlurmClient.trouble("sbatch", errors) else {
            Issue.record("taken for a refusal")
            return
        }
    }

    @Test func `a command that hangs is ended`() async throws {
        try program("squeue", "exec sleep 600")
        await #expect(throws: SlurmClient.Trouble.unanswered("squeue had no answer from Slurm's controller within 1 s"))
        {
            try await client(patience: .seconds(1)).elements(of: ["1"])
        }
    }

    /// A moment is one of starting the process, of reading from it, of ending it.
    @Test func `commands are given up at any moment, 200 times, and nothing of them is left`() async throws {
        try program("squeue", "echo $$ >> '\(folder.path)/begun'; echo 'slurm: busy' >&2; exec sleep 600")
        await withTaskGroup(of: Void.self) { group in
            for lane in 0..<4 {
                group.addTask {
                    for round in 0..<50 {
                        let client = client(patience: .microseconds((round * 797 + lane * 211) % 30_000))
                        await #expect(throws: SlurmClient.Trouble.self) { try await client.elements(of: ["1"]) }
                    }
                }
            }
        }
        let begun = try String(contentsOf: folder.appending(path: "begun"), encoding: .utf8)
        let left = begun.split(separator: "\n").filter { isCommand($0) }
        #expect(left.isEmpty)
    }

    /// It lives, and its number was not given to another process since.
    private func isCommand(_ process: Substring) -> Bool {
        let line = (try? Data(contentsOf: URL(filePath: "/proc/\(process)/cmdline"))) ?? Data()
        let text = String(decoding: line, as: UTF8.self)
        return text == "sleep\0600\0" || text.contains(folder.path)
    }

    @Test func `what Slurm was asked for is known of, though nobody waits for it any more`() async throws {
        try program("sbatch", "echo 12")
        let asked = Task { try await client().submit(script: "/s", arguments: []) }
        asked.cancel()
        #expect(try await asked.value == "12")
    }

    @Test func `where there is no Slurm, that is said`() async throws {
        let trouble = await #expect(throws: SlurmClient.Trouble.self) { try await client().largestArray() }
        #expect(
            trouble?.message
                == "scontrol: no such command; '--engine slurm' works where Slurm's commands are, a login node say")
    }

    @Test func `jobs that Slurm knows no more have no elements`() async throws {
        try program("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
        #expect(try await client().elements(of: ["1"]) == [])
    }

    @Test func `a submission that was accepted though nobody answered is found, and not made again`() async throws {
        try program(
            "sbatch",
            "echo x >> '\(folder.path)/tries'; "
                + "echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2; exit 1"
        )
        try program("squeue", "echo '7|penumbra-r-1-10'; echo '26|penumbra-r-1-1'; echo '26|penumbra-r-1-1'")
        let (submitter, told) = try submitter()
        #expect(await submitter.submit(submission) == .accepted(job: "26"))
        #expect(try String(contentsOf: folder.appending(path: "tries"), encoding: .utf8) == "x\n")
        #expect(
            told.all == [
                "Slurm does not answer, and is asked again: sbatch: error: Batch job submission failed: Socket timed out on "
                    + "send/recv operation"
            ])
        let lines = try String(contentsOf: folder.appending(path: "submissions"), encoding: .utf8)
        #expect(lines.split(separator: "\n").count == 2, "its name before, its number behind")
    }

    @Test func `one that was not accepted is made again`() async throws {
        try program(
            "sbatch",
            "echo x >> '\(folder.path)/tries'; [ $(wc -l < '\(folder.path)/tries') = 2 ] && { echo 8; exit 0; }; "
                + "echo 'sbatch: error: Unable to contact slurm controller (connect failure)' >&2; exit 1")
        try program("squeue", "exit 0")
        #expect(try await submitter().0.submit(submission) == .accepted(job: "8"))
    }

    @Test func `a refusal ends it at once, in Slurm's words`() async throws {
        try program("sbatch", "echo 'sbatch: error: Batch job submission failed: Job dependency problem' >&2; exit 1")
        #expect(
            try await submitter().0.submit(submission)
                == .failed("sbatch: error: Batch job submission failed: Job dependency problem"))
    }
}
