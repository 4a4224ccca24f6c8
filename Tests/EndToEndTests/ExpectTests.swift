import Testing

/// `expect`: a job that finds other numbers of pictures than usual does not start.
@Suite(.serialized) struct ExpectTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
    }

    private func run(_ expect: String, _ arguments: String...) async throws -> Program.Result {
        try workspace.writeManifest(more: "existing: update\nexpect: \(expect)")
        return try await Program.run(Program.penumbra, ["run", "job.yaml"] + arguments, in: workspace)
    }

    @Test(arguments: [
        ("4", "3 pictures are there, and 'expect' wants at least 4"),
        ("2", "3 pictures are there, and 'expect' wants at most 2"),
        ("{at_least: 10}", "3 pictures are there, and 'expect' wants at least 10"),
        ("{at_most: 1, at_least: 1}", "3 pictures are there, and 'expect' wants at most 1"),
    ])
    func `another number of pictures starts nothing`(expect: String, words: String) async throws {
        let result = try await run(expect)
        #expect(result.code == 66)
        #expect(result.errors.contains("job.yaml: error: \(words)\n   = "), "\(result.errors)")
        #expect(workspace.files(below: "out").isEmpty)
        let plan = try await Program.run(Program.penumbra, ["plan", "job.yaml"], in: workspace)
        #expect(plan.code == 66 && plan.errors.contains(words))
    }

    @Test(arguments: ["run", "plan"])
    func `as JSON, the message has its manifest, its line and its remedy`(command: String) async throws {
        try workspace.write(
            "job: job\ninputs: photos/*.png\nexpect: 4\nfilters: [{gaussian: {radius: 2}}]\noutput: out/{stem}.png\n",
            to: "job.yaml")
        let result = try await Program.run(Program.penumbra, [command, "--json", "job.yaml"], in: workspace)
        let remedy = "is a disk not mounted, or a copy not complete? If the number is right, change 'expect'"
        #expect(
            result.output.contains(
                #"{"event":"problem","line":3,"manifest":"job.yaml","message":"2 pictures are there, and 'expect' wants at "#
                    + #"least 4","remedy":"\#(remedy)","severity":"error"}"#), "\(result.output)")
    }

    @Test(arguments: ["3", "{at_least: 3, at_most: 3}", "{at_least: 1}", "{at_most: 5}", "{loss: 0%}"])
    func `the expected number runs`(expect: String) async throws {
        let result = try await run(expect)
        #expect(result.code == 0, "\(result.errors)")
        #expect(workspace.files(below: "out").count { $0.hasSuffix(".png") } == 3)
    }

    @Test func `a part of the pictures is what somebody chose`() async throws {
        #expect(try await run("3", "--only", "photos/a.png").code == 0)
        #expect(try await run("3", "--limit", "1").code == 0)
    }

    @Test func `more lost pictures than allowed start nothing, and outputs stay`() async throws {
        #expect(try await run("{loss: 40%}").code == 0)
        try workspace.remove("photos/a.png")
        let result = try await run("{loss: 33%}")
        #expect(result.code == 66)
        #expect(
            result.errors.contains(
                "job.yaml: error: 1 of the 3 pictures of the last whole run is gone, and 'expect' allows a loss of 33 %\n"
                    + "   = is a disk not mounted? If the pictures were removed on purpose, --allow-gone continues without them"
            ), "\(result.errors)")
        #expect(workspace.exists("out/a.png"))
        // A refused run is not the last one.
        #expect(try await run("{loss: 33%}").code == 66)
        #expect(try await run("{loss: 34%}").code == 0)
    }

    @Test func `a run of a part of the pictures is no measure of later runs`() async throws {
        #expect(try await run("{loss: 0%}").code == 0)
        try workspace.remove("photos/a.png")
        #expect(try await run("{loss: 0%}").code == 66)
        #expect(try await run("{loss: 0%}", "--only", "photos/b.png").code == 0)
        #expect(try await run("{loss: 0%}", "--limit", "1").code == 0)
        #expect(try await run("{loss: 0%}").code == 66)
    }

    @Test func `a loss that somebody allowed once is none for later runs`() async throws {
        #expect(try await run("{loss: 0%}").code == 0)
        try workspace.remove("photos/a.png")
        #expect(try await run("{loss: 0%}").code == 66)
        #expect(try await run("{loss: 0%}", "--allow-gone").code == 0)
        #expect(try await run("{loss: 0%}").code == 0)
        #expect(try await run("3", "--allow-gone").code == 66)
    }

    @Test func `a number that no job can have is an error of the manifest`() async throws {
        for (expect, message) in [
            ("0", "'expect' cannot be 0"), ("many", "expect"),
            ("{at_least: 5, at_most: 4}", "'at_most: 4' is below 'at_least: 5'"),
            ("{loss: 10}", "loss"), ("{loss: 101%}", "'loss' cannot be 101%"), ("{min: 3}", "at_least"),
            ("{}", "'expect' has no 'at_least'"),
        ] {
            let result = try await run(expect)
            #expect(result.code == 65)
            #expect(result.errors.contains(message), "\(result.errors)")
        }
    }
}
