import Endpoints
import Scheduling
import Testing

@Suite struct FailureGroupTests {
    private func failed(
        _ number: Int, _ message: String, cause: String = "broken picture", run: String = "r1", input: String? = nil,
        isRepaired: Bool = false
    ) -> FailedFrame {
        FailedFrame(
            run: run, number: number, page: 0, input: input ?? "/photos/\(number).jpg", cause: cause, message: message,
            isRepaired: isRepaired)
    }

    @Test func `frames that failed in the same way are one group, the largest first`() throws {
        let groups = try FailureGroup.groups(of: [
            failed(1, "out of memory at 120 MB", cause: "out of memory"),
            failed(2, "/photos/2.jpg: premature end at byte 17"),
            failed(3, "/photos/3.jpg: premature end at byte 4096"),
            failed(5, "/photos/5.jpg: premature end at byte 1", run: "r2"),
        ])
        #expect(groups.map(\.count) == [3, 1])
        #expect(groups[0].message == "/photos/2.jpg: premature end at byte 17")
        #expect(groups[0].first.frame == 2 && groups[0].first.run == "r1")
        #expect(groups[0].last.frame == 5 && groups[0].last.run == "r2")
        #expect(groups[0].samples.map(\.input) == ["/photos/2.jpg", "/photos/3.jpg", "/photos/5.jpg"])
        #expect(groups[1].cause == "out of memory")
    }

    @Test func `another cause is another group`() throws {
        #expect(try FailureGroup.groups(of: [failed(1, "no"), failed(2, "no", cause: "not permitted")]).count == 2)
    }

    @Test func `a group counts its frames for each run, and those that were repaired since`() throws {
        let group = try #require(
            FailureGroup.groups(of: [
                failed(1, "no 1", run: "r1", isRepaired: true), failed(2, "no 2", run: "r1"),
                failed(1, "no 3", run: "r2"),
            ]).first)
        #expect(group.count == 3 && group.repaired == 1)
        #expect(group.runs.map(\.run) == ["r1", "r2"])
        #expect(group.runs.map(\.count) == [2, 1] && group.runs.map(\.repaired) == [1, 0])
    }

    @Test func `a group has the same identifier in every list, and gives the inputs that are still broken`() throws {
        let frames = [
            failed(1, "no 1"), failed(2, "no 2"), failed(2, "no 2"), failed(3, "no 3", isRepaired: true),
            failed(4, "other"),
        ]
        let group = try #require(FailureGroup.groups(of: frames).first)
        #expect(try FailureGroup.groups(of: [failed(9, "no 9", run: "r7")]).map(\.id) == [group.id])
        #expect(try FailureGroup.inputs(of: group.id, in: frames) == ["/photos/1.jpg", "/photos/2.jpg"])
        #expect(try FailureGroup.inputs(of: "none", in: frames) == [])
    }

    @Test func `each cause has an explanation of whole sentences`() throws {
        for cause in FrameFailure.Cause.allCases {
            #expect(cause.explanation.hasSuffix(".") && !cause.explanation.contains("  "), "\(cause)")
        }
        let other = try FailureGroup.groups(of: [failed(1, "no", cause: "a cause of another version")])
        #expect(other.map(\.explanation) == [nil])
    }

    @Test func `a limit of a format cannot be raised, so the explanation names the other ways`() {
        #expect(
            FrameFailure.Cause.limit.explanation
                == "The picture is larger than a limit allows. The message says which limit it is. If it is a key of the manifest "
                + "or the config, and you trust the picture, raise it. If it is the format of the output, choose another format, or "
                + "make the output smaller. If it cannot be changed, leave the picture out.")
    }

    @Test func `three different inputs are named`() throws {
        let inputs = ["/a", "/a", "/b", "/c", "/d"]
        let groups = try FailureGroup.groups(
            of: inputs.enumerated().map { failed($0.offset + 1, "no", input: $0.element) })
        #expect(groups.map { $0.samples.map(\.input) } == [["/a", "/b", "/c"]])
        #expect(groups.map(\.count) == [5])
    }

    @Test func `inputs that are still broken are named before repaired ones`() throws {
        let group = try #require(
            FailureGroup.groups(of: [
                failed(1, "no", isRepaired: true), failed(2, "no"), failed(3, "no", isRepaired: true),
                failed(4, "no"), failed(5, "no"), failed(6, "no"), failed(7, "no", isRepaired: true),
            ]).first)
        #expect(group.samples.map(\.frame) == [2, 4, 5])
        #expect(group.samples.map(\.repaired) == [false, false, false])
        #expect(group.first.repaired && group.last.repaired)
    }

    @Test func `an input that failed again after its repair is named as broken`() throws {
        let group = try #require(
            FailureGroup.groups(of: [
                failed(1, "no", run: "r1", input: "/a", isRepaired: true), failed(4, "no", run: "r2", input: "/a"),
            ]).first)
        #expect(group.samples.map(\.run) == ["r2"])
        #expect(group.samples.map(\.repaired) == [false])
    }

    @Test func `groups of one size are in the order of their first frames`() throws {
        let groups = try FailureGroup.groups(
            of: ["b", "a", "c"].enumerated().map { failed($0.offset + 1, $0.element) })
        #expect(groups.map(\.message) == ["b", "a", "c"])
    }

    @Test(arguments: [
        ("/p/7.jpg: not an image ('penumbra formats' lists them)", "/p/7.jpg", "…: not an image ('…' lists them)"),
        ("7.jpg is 300x20 pixels", "/p/7.jpg", "… is #x# pixels"),
        ("can't be read: error 5", "/p/1", "can't be read: error #"),
        (#"profile "sRGB 2" is damaged"#, "/p/1", #"profile "…" is damaged"#),
        ("one\ntwo", "/p/1", "one"), ("", "", ""), ("an open ' quote 1", "/p/x", "an open ' quote #"),
    ])
    func `a message loses its numbers and names`(message: String, input: String, shape: String) {
        #expect(MessageShape.text(message, of: input) == shape)
    }

    @Test func `a sample is taken from everywhere in the list`() {
        #expect(Service.spread([1, 2, 3], over: 5) == [1, 2, 3])
        #expect(Service.spread(Array(0..<100), over: 4) == [0, 25, 50, 75])
    }
}
