import BatchSystems
import Cluster
import JobModel
import Testing

@Suite struct SlurmTablesTests {
    @Test func `a row of squeue is an element, whatever its reason holds`() {
        let text = """
            2|3|RUNNING|0|0|n1|a|None
            2|4|PENDING|0|1||a|Nodes required for job are DOWN | and more
            2|5|FAILED|768|0|n2|b|NonZeroExitCode
            7|N/A|COMPLETED|0|0|n1|a|None
            slurm_load_jobs error: Unable to contact slurm controller

            """
        #expect(
            SlurmTables.elements(text) == [
                ArrayElement(job: "2", index: 3, of: "a", state: "RUNNING", node: "n1"),
                ArrayElement(
                    job: "2", index: 4, of: "a", state: "PENDING", reason: "Nodes required for job are DOWN | and more",
                    restarts: 1),
                ArrayElement(
                    job: "2", index: 5, of: "b", state: "FAILED", reason: "NonZeroExitCode", status: 768, node: "n2"),
                ArrayElement(job: "7", index: 0, of: "a", state: "COMPLETED", node: "n1"),
            ])
    }

    @Test(arguments: [
        "-2|3|RUNNING|0|0|n1|a|None", "2;x|3|RUNNING|0|0|n1|a|None", "2|-3|RUNNING|0|0|n1|a|None",
        "2|3|RUNNING|0|0|n1|a|\(String(repeating: "x", count: 4001))",
    ]) func `a row that squeue does not print is left out`(row: String) {
        #expect(SlurmTables.elements(row) == [])
    }

    @Test(arguments: [
        ("PENDING", "Priority", ArrayElement.Condition.waiting),
        ("PENDING", "BeginTime", .waiting),
        ("PENDING", "JobHeldUser", .waiting),
        ("PENDING", "launch failed requeued held", .stuck),
        ("RUNNING", "None", .running),
        ("COMPLETING", "None", .running),
        ("SUSPENDED", "None", .suspended),
        ("COMPLETED", "None", .ended(.done)),
        ("TIMEOUT", "TimeLimit", .ended(.outOfTime)),
        ("NODE_FAIL", "NodeDown", .ended(.nodeLost)),
    ]) func `a state tells whether a result may still come`(
        state: String, reason: String, condition: ArrayElement.Condition
    ) {
        #expect(ArrayElement(job: "1", index: 0, of: "a", state: state, reason: reason).condition == condition)
    }

    @Test func `sbatch prints a number, with a cluster's name behind it or not`() {
        #expect(SlurmTables.job("12\n") == "12")
        #expect(SlurmTables.job("12;north\n") == "12")
        #expect(SlurmTables.job("") == nil)
        #expect(SlurmTables.job("sbatch: error: no\n") == nil)
    }

    @Test func `the site's largest array is found in its configuration`() {
        let text = "MaxArraySize            = 101\nMaxArraySizeOther = 7\n"
        #expect(SlurmTables.setting("MaxArraySize", in: text) == 101)
        #expect(SlurmTables.setting("MaxJobCount", in: text) == nil)
    }

    @Test func `a submission says what is wanted and nothing else`() {
        var options = ClusterOptions(cpusPerTask: 2, throttle: 3)
        func submission(folder: String, logs: String, program: String = "") -> Submission {
            Submission(
                .array(ArrayJob(name: "penumbra-r-1-2", firstShard: 5, count: 4)), options: options, program: program,
                folder: folder, logs: logs)
        }
        #expect(
            submission(folder: "/s/50% off", logs: "/s/50% off/logs").slurmArguments == [
                "--parsable", "--job-name=penumbra-r-1-2", "--comment=penumbra-r-1-2",
                "--output=/s/50%% off/logs/%A_%a.out", "--open-mode=append", "--requeue", "--chdir=/s/50% off",
                "--nodes=1", "--ntasks=1", "--array=0-3%3", "--cpus-per-task=2",
            ])
        options.partition = "fast"
        options.time = 61
        options.memory = 3 << 30
        options.arguments = ["--exclude=n2"]
        #expect(
            submission(folder: "/s", logs: "/l").slurmArguments.suffix(6) == [
                "--partition=fast", "--time=2", "--array=0-3%3", "--cpus-per-task=2", "--mem=3072M", "--exclude=n2",
            ])
        #expect(
            submission(folder: "/s", logs: "/l", program: "/opt/it's/penumbra").slurmScript == """
                #!/bin/sh
                exec '/opt/it'\\''s/penumbra' shard --run '/s' --index "$((SLURM_ARRAY_TASK_ID + 5))"

                """)
    }

    @Test func `a coordinator's job waits for the end of others, whatever it is, and needs one core`() {
        var options = ClusterOptions(cpusPerTask: 8)
        options.account = "art"
        options.memory = 64 << 30
        options.arguments = ["--constraint=fast"]
        let job = CoordinatorJob(name: "penumbra-r-1-coordinator", after: ["12", "13"], runFolder: "/s/runs/it's")
        func submission() -> Submission {
            Submission(
                .coordinator(job), options: options, program: "/opt/penumbra", folder: "/s/penumbra-r", logs: "/s/logs")
        }
        #expect(
            submission().slurmArguments == [
                "--constraint=fast", "--parsable", "--job-name=penumbra-r-1-coordinator",
                "--comment=penumbra-r-1-coordinator",
                "--output=/s/logs/coordinator-%j.out", "--open-mode=append", "--requeue", "--chdir=/s/penumbra-r",
                "--nodes=1", "--ntasks=1", "--account=art", "--cpus-per-task=1", "--dependency=afterany:12:13",
            ])
        // An element's needs for a minute's work do not apply to a coordinator.
        options.time = 600
        options.coordinatorTime = 2 * 86400
        options.coordinatorMemory = 2 << 30
        let own = Set(
            submission().slurmArguments.filter { $0.contains("time") || $0.contains("mem") })
        #expect(own == ["--time=2880", "--mem=2048M"])
        #expect(
            submission().slurmScript == """
                #!/bin/sh
                exec '/opt/penumbra' resume --run-dir '/s/runs/it'\\''s' --engine slurm --as-job

                """)
    }

    @Test(arguments: [
        ("PartitionTimeLimit", "it requests more time than its partition allows; set a shorter 'time' under 'slurm'"),
        ("PartitionDown", "its partition starts no jobs now; name another one by 'partition', or wait"),
        (
            "BadConstraints",
            "no node has the requested resources; request less with 'cpus_per_task', 'memory' or 'arguments' under 'slurm'"
        ),
        ("JobHeldUser", "it is held; 'scontrol release 12' lets it go"),
        ("InvalidAccount", "its account may not use the partition; name another one with 'account'"),
        ("InvalidQOS", "its quality of service is not allowed; name another one with 'qos'"),
        ("ReqNodeNotAvail, UnavailableNodes:n1", "the nodes that it could have are down, drained or reserved"),
        (
            "QOSMaxWallDurationPerJobLimit",
            "it requests more than the site allows one job; request less under 'slurm'"
        ),
    ]) func `a reason that does not pass by itself is reported with a remedy`(reason: String, words: String) {
        let element = ArrayElement(job: "12", index: 3, of: "a", state: "PENDING", reason: reason)
        #expect(element.pendingWords == "element 12_3 is not started (\(reason)): \(words)")
    }

    @Test(arguments: ["None", "Priority", "Resources", "Dependency", "JobArrayTaskLimit", "QOSMaxJobsPerUserLimit"])
    func `a job that waits for its turn is not reported`(reason: String) {
        #expect(
            ArrayElement(job: "1", index: 0, of: "a", state: "PENDING", reason: reason).pendingWords == nil)
    }

    @Test(arguments: [
        ("OUT_OF_MEMORY", 0, ArrayElement.Ending.outOfMemory),
        ("PREEMPTED", 9, .preempted),
        ("CANCELLED", 15, .cancelled),
        ("BOOT_FAIL", 0, .nodeLost),
        ("FAILED", 768, .failed("left with exit code 3")),
        ("FAILED", 11, .failed("crashed with signal 11")),
        ("FAILED", 9, .failed("was killed, perhaps for want of memory")),
        ("FAILED", 4021, .stopped("could not be started: its log folder does not show on the node")),
        ("FAILED", 143 << 8, .stopped("was told to end")),
    ]) func `a state and a status determine how an element ended`(
        state: String, status: Int, ending: ArrayElement.Ending
    ) {
        #expect(
            ArrayElement(job: "1", index: 0, of: "a", state: state, status: status).condition == .ended(ending))
    }
}
