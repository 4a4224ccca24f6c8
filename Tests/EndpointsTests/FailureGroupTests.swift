import Endpoints
import Testing

@Suite struct FailureGroupTests {
    private func failed(
        _ number: Int, _ message: String, cause: String = "broken picture", run: String = "r1", input: String? = nil
    ) -> FailedFrame {
        FailedFrame(
            run: run, number: number, page: 0, input: input ?? "/photos/\(number).jpg", cause: cause, message: message)
    }

    @Test func `frames that failed in the same way are one group, the largest first`() {
        let groups = FailureGroup.groups(of: [
            failed(1, "out of memory at 120 MB", cause: "out of memory"),
            failed(2, "/photos/2.jpg: premature end at byte 17"),
            failed(3, "/photos/3.jpg: premature end at byte 4096"),
            failed(5, "/photos/5.jpg: premature end at byte 1", run: "r2"),
        ])
        #expect(groups.map(\.count) == [3, 1])
        #expect(groups[0].message == "/photos/2.jpg: premature end at byte 17")
        #expect(groups[0].first.frame == 2 && groups[0].first.run == "r1")
        #expect(groups[0].last.frame == 5 && groups[0].last.run == "r2")
        #expect(groups[0].inputs == ["/photos/2.jpg", "/photos/3.jpg", "/photos/5.jpg"])
        #expect(groups[1].cause == "out of memory")
    }

    @Test func `another cause is another group`() {
        #expect(FailureGroup.groups(of: [failed(1, "no"), failed(2, "no", cause: "not permitted")]).count == 2)
    }

    @Test func `three different inputs are named`() {
        let inputs = ["/a", "/a", "/b", "/c", "/d"]
        let groups = FailureGroup.groups(of: inputs.enumerated().map { failed($0.offset + 1, "no", input: $0.element) })
        #expect(groups.map(\.inputs) == [["/a", "/b", "/c"]])
        #expect(groups.map(\.count) == [5])
    }

    @Test func `groups of one size are in the order of their first frames`() {
        let groups = FailureGroup.groups(of: ["b", "a", "c"].enumerated().map { failed($0.offset + 1, $0.element) })
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
