import BatchSystems
import Cluster
import Foundation
import JobModel
import Testing

/// With scripts in place of a site's commands, good and bad.
@Suite struct CommandSystemTests {
    private let programs: FakePrograms

    init() throws { programs = try FakePrograms() }

    private func submission(_ options: ClusterOptions = ClusterOptions()) -> Submission {
        Submission(
            .array(ArrayJob(name: "penumbra-r-1-1", firstShard: 5, count: 2)), options: options,
            program: "/opt/it's/penumbra",
            folder: "/s", logs: "/l", variables: ["LANG", "PATH"])
    }

    @Test func `submit gets the script, a name and a count, and what is wanted by its environment`() async throws {
        try programs.program("submit", "echo \"$@\" > arguments; env | grep ^PENUMBRA_JOB | sort > wanted; echo 12.pbs")
        var options = ClusterOptions(cpusPerTask: 2)
        (options.time, options.memory, options.partition) = (90, 3_000_000_000, "fast")
        #expect(try await programs.commands.submit(submission(options), script: "/s/a b.sh") == "12.pbs")
        #expect(try programs.text("arguments") == "/s/a b.sh penumbra-r-1-1 2\n")
        #expect(
            try programs.text("wanted") == """
                PENUMBRA_JOB_AT_ONCE=16
                PENUMBRA_JOB_CORES=2
                PENUMBRA_JOB_FOLDER=/s
                PENUMBRA_JOB_LOGS=/l
                PENUMBRA_JOB_MEMORY=3000000000
                PENUMBRA_JOB_QUEUE=fast
                PENUMBRA_JOB_SECONDS=90
                PENUMBRA_JOB_VARIABLES=LANG,PATH

                """)
    }

    @Test func `the script does the shard of its index, and says where it prints and who it is`() {
        #expect(
            programs.commands.script(of: submission(ClusterOptions(cpusPerTask: 2))) == """
                #!/bin/sh
                index="${1:-0}"
                exec >> '/l/penumbra-r-1-1_'"$index.out" 2>&1 < /dev/null
                export PENUMBRA_JOB_ELEMENT=penumbra-r-1-1_"$index"
                export PENUMBRA_JOB_NODE="$(uname -n)"
                export PENUMBRA_JOB_CORES=2
                exec '/opt/it'\\''s/penumbra' shard --run '/s' --index "$((index + 5))"

                """)
    }

    @Test(arguments: [
        ("", ": ''"), ("12 13\n", ": '12 13?'"), ("-12\n", ": '-12?'"), ("submitted job 12\n", ": 'submitted job 12?'"),
        ("12 \u{9b}2J\u{202e}\n", ": '12 ?2J??'"),
    ]) func `an answer that is no job's id is an error that names the command`(printed: String, shown: String)
        async throws
    {
        try programs.put("answer", printed)
        try programs.program("submit", "cat answer")
        await #expect(
            throws: BatchError.refused(
                "the submit command \(programs.path("submit")) printed no job's id\(shown); the page 'Commands of a cluster' of the documentation has the contract"
            )
        ) { try await programs.commands.submit(submission(), script: "/s") }
    }

    @Test func `a line of another form is an error that shows it`() async throws {
        try programs.program("status", "echo '12_0 penumbra-r-1-1 R'")
        await #expect(
            throws: BatchError.refused(
                "the status command \(programs.path("status")) printed a line that is not ID NAME STATE [REASON]: "
                    + "'12_0 penumbra-r-1-1 R'; the page 'Commands of a cluster' of the documentation has the contract")
        ) { try await programs.commands.query(.ids(["12"])) }
    }

    @Test func `jobs that nobody asked for are left out`() async throws {
        try programs.program("status", "echo '12_0 a running'; echo '13_0 b running'; echo '120_0 c running'")
        #expect(try await programs.commands.query(.ids(["12"])).map(\.id) == ["12_0"])
        #expect(try await programs.commands.query(.named("b")).map(\.id) == ["13_0"])
    }

    @Test(arguments: [
        (1, BatchError.refused("ended with exit code 1: no such queue")),
        (73, .full("ended with exit code 73: no such queue")),
        (75, .unanswered("ended with exit code 75: no such queue")),
    ]) func `an exit code tells whether it was refused, cannot be had now, or is not known`(
        code: Int, wanted: BatchError
    ) async throws {
        try programs.program("cancel", "echo 'trying' >&2; echo 'no such queue' >&2; exit \(code)")
        let error = await #expect(throws: BatchError.self) { try await programs.commands.cancel(.named("a")) }
        let name = "the cancel command \(programs.path("cancel")) "
        #expect(error?.message == name + wanted.message)
        switch (error, wanted) {
        case (.refused, .refused), (.full, .full), (.unanswered, .unanswered): break
        default: Issue.record("\(String(describing: error))")
        }
    }

    @Test func `a command that hangs is ended, and nobody knows what it did`() async throws {
        try programs.program("describe", "exec sleep 600")
        var system = programs.commands
        system.timeout = .seconds(1)
        await #expect(
            throws: BatchError.unanswered("the describe command \(programs.path("describe")) did not end within 1 s")
        ) { try await system.describe(withQueues: true) }
    }

    @Test func `a command that prints without end is ended`() async throws {
        try programs.program("describe", "head -c 17000000 /dev/zero; exec sleep 600")
        await #expect(
            throws: BatchError.refused("the describe command \(programs.path("describe")) printed more than 16 MB")
        ) { try await programs.commands.describe(withQueues: true) }
    }

    @Test func `a command that may not be executed is reported with the remedy`() async throws {
        try programs.put("status", "#!/bin/sh\n")
        let path = programs.path("status")
        await #expect(
            throws: BatchError.missing("the status command \(path): may not be executed; 'chmod +x \(path)' allows it")
        ) { try await programs.commands.query(.ids(["1"])) }
    }

    @Test func `a missing command is reported with the setting that names it`() async throws {
        await #expect(
            throws: BatchError.missing(
                "the status command \(programs.path("status")): no such program; 'status' under 'commands' names it")
        ) { try await programs.commands.query(.ids(["1"])) }
    }
}

@Suite struct CommandAnswersTests {
    private func condition(_ line: String) throws -> ArrayElement? { try CommandAnswers.elements(line).get().first }

    @Test(arguments: [
        ("waiting", ArrayElement.Condition.waiting), ("running", .running), ("suspended", .suspended),
        ("stuck", .stuck),
        ("done", .ended(.done)), ("timeout", .ended(.outOfTime)), ("memory", .ended(.outOfMemory)),
        ("node", .ended(.nodeLost)), ("cancelled", .ended(.cancelled)), ("preempted", .ended(.preempted)),
        ("failed", .ended(.failed("failed"))), ("failed exit code 3", .ended(.failed("failed (exit code 3)"))),
        ("stopped", .ended(.stopped("was stopped from outside"))),
    ]) func `each state has a word`(state: String, condition: ArrayElement.Condition) throws {
        #expect(try self.condition("12_3 a \(state)")?.condition == condition)
    }

    @Test func `an id is a job's and an index, or a job's that is one element`() throws {
        let elements = try CommandAnswers.elements("12_3 a running\n12.pbs b running\nfoo_bar c running\n").get()
        #expect(elements.map(\.job) == ["12", "12.pbs", "foo_bar"])
        #expect(elements.map(\.index) == [3, 0, 0])
    }

    @Test func `a blocked job is reported in the command's words`() throws {
        let blocked = try condition("12_3 a blocked the queue is closed")
        #expect(blocked?.pendingWords == "element 12_3 is not started: the queue is closed")
        #expect(try condition("12_3 a waiting for its turn")?.pendingWords == nil)
    }

    @Test(arguments: [
        "12_3", "12_3 a", "12_3 a nowhere", "-12 a running", "12_3 a,b running", "12_3 a running \u{1b}[2J",
        "12_3 a running \u{9b}2J", "12_3 a running exe\u{202e}gpj",
        "12_3 a running " + String(repeating: "x", count: 501),
    ]) func `nothing else is taken`(line: String) {
        #expect(throws: CommandAnswerError.self) { try CommandAnswers.elements(line).get() }
    }

    @Test(arguments: ["", "max_array", "max_array 0", "max_array 1\nmax_array 2", "max_array 1\nqueues fast"])
    func `a description says how large arrays may be, once`(text: String) {
        #expect(throws: CommandAnswerError.self) { try CommandAnswers.description(text).get() }
    }
}
