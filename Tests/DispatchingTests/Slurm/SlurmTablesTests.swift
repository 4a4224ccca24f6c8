import Dispatching
import Testing

@Suite struct SlurmTablesTests {
    @Test func `a row of squeue is an element, whatever its reason holds`() {
        let text = """
            2|3|RUNNING|0|0|n1|None
            2|4|PENDING|0|1||Nodes required for job are DOWN | and more
            2|5|FAILED|768|0|n2|NonZeroExitCode
            7|N/A|COMPLETED|0|0|n1|None
            slurm_load_jobs error: Unable to contact slurm controller

            """
        #expect(
            SlurmTables.elements(text) == [
                SlurmElement(job: "2", index: 3, state: "RUNNING", node: "n1"),
                SlurmElement(
                    job: "2", index: 4, state: "PENDING", reason: "Nodes required for job are DOWN | and more",
                    restarts: 1),
                SlurmElement(job: "2", index: 5, state: "FAILED", reason: "NonZeroExitCode", status: 768, node: "n2"),
            ])
    }

    @Test(arguments: [
        ("PENDING", "Priority", SlurmElement.Condition.waiting),
        ("PENDING", "BeginTime", .waiting),
        ("PENDING", "JobHeldUser", .waiting),
        ("PENDING", "launch failed requeued held", .stuck),
        ("RUNNING", "None", .running),
        ("COMPLETING", "None", .running),
        ("COMPLETED", "None", .ended),
        ("TIMEOUT", "TimeLimit", .ended),
        ("NODE_FAIL", "NodeDown", .ended),
    ]) func `a state tells whether a result may still come`(
        state: String, reason: String, condition: SlurmElement.Condition
    ) {
        #expect(SlurmElement(job: "1", index: 0, state: state, reason: reason).condition == condition)
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
        var options = SlurmOptions(cpusPerTask: 2, throttle: 3)
        let submission = SlurmSubmission(name: "penumbra-r-1-2", firstShard: 5, count: 4)
        #expect(
            submission.arguments(options, folder: "/s/50% off", logs: "/s/50% off/logs") == [
                "--parsable", "--job-name=penumbra-r-1-2", "--comment=penumbra-r-1-2",
                "--output=/s/50%% off/logs/%A_%a.out", "--open-mode=append", "--requeue", "--chdir=/s/50% off",
                "--nodes=1", "--ntasks=1", "--array=0-3%3", "--cpus-per-task=2",
            ])
        options.partition = "fast"
        options.time = 61
        options.memory = 3 << 30
        options.arguments = ["--exclude=n2"]
        #expect(
            submission.arguments(options, folder: "/s", logs: "/l").suffix(6) == [
                "--partition=fast", "--time=2", "--array=0-3%3", "--cpus-per-task=2", "--mem=3072M", "--exclude=n2",
            ])
        #expect(
            submission.script(program: "/opt/it's/penumbra", folder: "/s") == """
                #!/bin/sh
                exec '/opt/it'\\''s/penumbra' shard --run '/s' --index "$((SLURM_ARRAY_TASK_ID + 5))"

                """)
    }

    @Test func `a coordinator's job waits for the end of others, whatever it is, and needs one core`() {
        var options = SlurmOptions(cpusPerTask: 8)
        options.account = "art"
        options.memory = 64 << 30
        options.arguments = ["--constraint=fast"]
        let job = SlurmCoordinator(name: "penumbra-r-1-coordinator", after: ["12", "13"], runFolder: "/s/runs/it's")
        #expect(
            job.arguments(options, folder: "/s/penumbra-r", logs: "/s/logs") == [
                "--parsable", "--job-name=penumbra-r-1-coordinator", "--comment=penumbra-r-1-coordinator",
                "--output=/s/logs/coordinator-%j.out", "--open-mode=append", "--requeue", "--chdir=/s/penumbra-r",
                "--nodes=1", "--ntasks=1", "--account=art", "--cpus-per-task=1", "--dependency=afterany:12:13",
                "--constraint=fast",
            ])
        #expect(
            job.script(program: "/opt/penumbra", folder: "/s") == """
                #!/bin/sh
                exec '/opt/penumbra' resume --run-dir '/s/runs/it'\\''s' --engine slurm --as-job

                """)
    }
}
