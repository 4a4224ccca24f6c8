import BatchSystems
import Cluster
import Foundation
import JobModel
import Testing
import WorkerProtocol

/// With programs in place of Slurm's, which answer as the real ones do.
@Suite struct SlurmSystemTests {
    private let programs: FakePrograms
    private var folder: URL { programs.folder }

    init() throws { programs = try FakePrograms() }

    private func program(_ name: String, _ script: String) throws { try programs.program(name, script) }

    private func system(timeout: Duration = FakePrograms.timeout) -> SlurmSystem {
        SlurmSystem(programs: folder.path, timeout: timeout)
    }

    private func submission(program: String = "/bin/penumbra") -> Submission {
        Submission(
            .array(ArrayJob(name: "penumbra-r-1-1", firstShard: 1, count: 2)), options: ClusterOptions(),
            program: program,
            folder: "/s", logs: "/l")
    }

    @Test func `sbatch gets the script's path, and prints the job's number`() async throws {
        try program("sbatch", "echo \"$@\" > '\(folder.path)/arguments'; echo '12;north'")
        #expect(try await system().submit(submission(), script: "/s/a b.sh") == "12")
        let arguments = try programs.text("arguments")
        #expect(arguments.hasPrefix("--parsable --job-name=penumbra-r-1-1 "))
        #expect(arguments.hasSuffix(" /s/a b.sh\n"))
    }

    @Test(arguments: [
        (
            "sbatch: error: invalid partition specified: nosuch\nsbatch: error: Batch job submission failed: "
                + "Invalid partition name specified",
            "name another one with 'partition' under 'slurm'; 'sinfo' lists them"
        ),
        (
            "sbatch: error: Batch job submission failed: Requested time limit is invalid (missing or exceeds some limit)",
            "set a shorter 'time' or 'coordinator_time' under 'slurm'"
        ),
        (
            "sbatch: error: Memory specification can not be satisfied\nsbatch: error: Batch job submission failed: "
                + "Requested node configuration is not available",
            "request less with 'memory' or 'coordinator_memory' under 'slurm'"
        ),
        (
            "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified",
            "name another one with 'account' under 'slurm'"
        ),
    ]) func `what Slurm has decided is a refusal, with the setting that it is about`(errors: String, advice: String) {
        let last = errors.split(separator: "\n").last.map(String.init) ?? ""
        #expect(SlurmSystem.error("sbatch", errors) == .refused("\(last)\n   = \(advice)"))
    }

    @Test func `an unknown refusal is reported unchanged`() {
        let error = "sbatch: error: Invalid --time specification"
        #expect(SlurmSystem.error("sbatch", error) == .refused(error))
    }

    @Test func `a limit to what a user may have with Slurm passes`() {
        let errors = """
            sbatch: error: QOSMaxSubmitJobPerUserLimit
            sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's \
            size and/or time limits)
            """
        guard case .full(let words) = SlurmSystem.error("sbatch", errors) else {
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
        guard case .unanswered = SlurmSystem.error("sbatch", errors) else {
            Issue.record("taken for a refusal")
            return
        }
    }

    @Test func `a command that hangs is ended`() async throws {
        try program("squeue", "exec sleep 600")
        await #expect(throws: BatchError.unanswered("squeue had no answer from Slurm's controller within 1 s")) {
            try await system(timeout: .seconds(1)).query(.ids(["1"]))
        }
    }

    /// The signal comes while the process starts, is read from, or ends.
    @Test func `commands are given up at any moment, 200 times, and nothing of them is left`() async throws {
        try program("squeue", "echo $$ >> '\(folder.path)/begun'; echo 'slurm: busy' >&2; exec sleep 600")
        await withTaskGroup(of: Void.self) { group in
            for lane in 0..<4 {
                group.addTask {
                    for round in 0..<50 {
                        let system = system(timeout: .microseconds((round * 797 + lane * 211) % 30_000))
                        await #expect(throws: BatchError.self) { try await system.query(.ids(["1"])) }
                    }
                }
            }
        }
        let begun = try String(contentsOf: folder.appending(path: "begun"), encoding: .utf8)
        let left = begun.split(separator: "\n").filter { isCommand($0) }
        #expect(left.isEmpty)
    }

    /// Whether it lives, and its number was not reused since.
    private func isCommand(_ process: Substring) -> Bool {
        let line = (try? Data(contentsOf: URL(filePath: "/proc/\(process)/cmdline"))) ?? Data()
        let text = String(decoding: line, as: UTF8.self)
        return text == "sleep\0600\0" || text.contains(folder.path)
    }

    @Test func `what Slurm was asked for is known of, though nobody waits for it any more`() async throws {
        try program("sbatch", "echo 12")
        let asked = Task { try await system().submit(submission(), script: "/s") }
        asked.cancel()
        #expect(try await asked.value == "12")
    }

    @Test func `where there is no Slurm, that is said`() async throws {
        let error = await #expect(throws: BatchError.self) { try await system().describe(withQueues: false) }
        #expect(
            error?.message
                == "scontrol: no such command; '--engine slurm' works where Slurm's commands are, for example on a login node"
        )
    }

    @Test func `jobs that Slurm knows no more have no elements`() async throws {
        try program("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
        #expect(try await system().query(.ids(["1"])) == [])
    }

    @Test func `a partition's names are asked for only where somebody wants them`() async throws {
        try program("scontrol", "echo 'MaxArraySize = 7'")
        try program("sinfo", "echo x >> asked; echo 'fast slow'")
        #expect(try await system().describe(withQueues: false) == BatchDescription(largestArray: 7))
        #expect(!programs.has("asked"))
        #expect(
            try await system().describe(withQueues: true)
                == BatchDescription(largestArray: 7, queues: ["fast", "slow"]))
    }
}
