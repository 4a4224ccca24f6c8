import JobModel
import Testing
import WorkerProtocol

/// What a message may have in it, before it is decoded.
@Suite struct MessageLimitsTests {
    private func words(_ text: String, _ limits: MessageLimits = .reports) -> String {
        do {
            _ = try FrameCodec.decode(Report.self, from: Array(text.utf8), within: limits)
            return "a report"
        } catch {
            return "\(error)"
        }
    }

    private func list(_ levels: Int) -> String {
        String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }

    @Test func `a message is refused for its depth before it is decoded`() {
        #expect(words(list(65)) == "a message of more than 64 levels")
        #expect(words(list(100_000), .orders) == "a message of more than 64 levels")
        #expect(words(list(64)).hasPrefix("no message of this version: "))
        // Brackets in texts are no levels.
        let failure =
            "{\"failed\":{\"_0\":{\"number\":1},\"_1\":{\"kind\":{\"data\":{}},\"message\":\"\\\"\(list(70))\\\\\"}}}"
        #expect(words(failure) == "a report")
    }

    @Test func `a message is refused for its many values, its long text and its size`() {
        let many = "[" + String(repeating: "1,", count: 2_000_000) + "1]"
        #expect(words(many) == "a message of more than 2000000 values")
        #expect(words(many, .orders).hasPrefix("no message of this version: "))
        #expect(words("\"" + String(repeating: "x", count: 100_001) + "\"") == "a message with a text of 100001 bytes")
        #expect(words(String(repeating: " ", count: 16 << 20) + "1") == "a message of 16777217 bytes")
    }

    @Test(arguments: ["", "\"", "\"\\", "{\"a", "]", "}}", "[1,", "{\"alive\":1e999}", "{\"alive\":NaN}", "\u{FEFF}{}"])
    func `what ends early or is no JSON is no message`(text: String) {
        #expect(words(text).hasPrefix("no message of this version: "))
    }

    @Test func `bytes that are not UTF-8 are no message`() {
        let bytes =
            Array("{\"failed\":{\"_0\":{\"number\":1},\"_1\":{\"kind\":{\"data\":{}},\"message\":\"".utf8) + [
                0xff, 0xc3,
            ]
        #expect(throws: FrameCodecError.self) {
            try FrameCodec.decode(Report.self, from: bytes + Array("\"}}}".utf8), within: .reports)
        }
    }

    @Test func `the reason why something is no message is short, whatever it says`() throws {
        let name = String(repeating: "x", count: 50_000)
        let error = #expect(throws: FrameCodecError.self) {
            try FrameCodec.decode(Report.self, from: Array("{\"\(name)\":{}}".utf8), within: .reports)
        }
        #expect(try "\(#require(error))".utf8.count < 1500)
    }

    @Test func `a report that is longer than reports are is refused before it is waited for`() {
        var buffer = FrameBuffer(within: .reports)
        buffer.append([1, 0, 0, 1])
        #expect(throws: FrameCodecError.tooLong(bytes: 16_777_217)) { try buffer.next() }
    }

    @Test func `the message of a failure is cut where it is made, in whole characters`() {
        let failure = TaskFailure(.data, "é" + String(repeating: "x", count: 20_000))
        #expect(failure.message.utf8.count == TaskFailure.longestMessage)
        #expect(TaskFailure(.data, String(repeating: "é", count: 7999) + "x€").message.hasSuffix("éx"))
        #expect(TaskFailure(.data, "short").message == "short")
    }
}
