import Catalogs
import Engines
import FarmTestSupport
import Foundation
import Glibc
import JobModel
import Scheduling
import TestSupport
import Testing
import WorkerProtocol

/// Programs that say what no worker says. Shell scripts print the messages.
@Suite struct LyingWorkerTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        // As programs that run the farm do: a worker that ends is an error of the call that writes to it.
        signal(SIGPIPE, SIG_IGN)
    }

    /// A program that sends the bytes, and then waits for the end of its orders.
    private func liar(_ bytes: [UInt8]) throws -> LocalEngine {
        let messages = folder.file("messages")
        try Data(bytes).write(to: URL(filePath: messages))
        return LocalEngine(
            command: WorkerCommand(
                executable: "/bin/sh", arguments: ["-c", "cat '\(messages)'; cat > /dev/null"]))
    }

    private func death(after bytes: [UInt8]) async throws -> Death.Manner {
        let talk = Conversation(with: try liar(bytes))
        let death = try await talk.loss(of: WorkerID(1))
        await talk.end()
        return death.manner
    }

    private static let greeting = Report.ready(Greeting(protocolVersion: Greeting.currentVersion))

    private static func bytes(_ reports: [Report]) throws -> [UInt8] {
        try reports.flatMap { try FrameCodec.encode($0) }
    }

    private static func frame(_ text: String) -> [UInt8] {
        let body = Array(text.utf8)
        let checksum = body.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
        let head = (0..<4).map { UInt8(truncatingIfNeeded: body.count >> (8 * $0)) }
        return head + (0..<8).map { UInt8(truncatingIfNeeded: checksum >> (8 * UInt64($0))) } + body
    }

    @Test func `a report before the greeting ends the worker`() async throws {
        let bytes = try Self.bytes([.alive, Self.greeting])
        #expect(try await death(after: bytes) == .brokeProtocol("a report before its greeting"))
    }

    @Test func `a greeting that no worker sends ends the worker`() async throws {
        let long = String(repeating: "x", count: 1001)
        let lie = Report.ready(Greeting(protocolVersion: Greeting.currentVersion, versions: [long: "1"]))
        #expect(try await death(after: Self.bytes([lie])) == .brokeProtocol("a name of 1001 bytes"))
    }

    @Test func `a second greeting changes nothing`() async throws {
        let second = Report.ready(
            Greeting(
                protocolVersion: Greeting.currentVersion, versions: ["penumbra": "another"],
                catalog: Catalog(versions: [:], filters: [], formats: [])))
        let talk = Conversation(with: try liar(Self.bytes([Self.greeting, second, .worn(LeaseID(1))])))
        // The report of an order that it was never given comes last.
        let death = try await talk.loss(of: WorkerID(1))
        #expect(death.manner == .brokeProtocol("a report of order 1, which it was never given"))
        #expect(talk.events.ready.filter { $0 == WorkerID(1) }.count == 1)
        await talk.end()
    }

    @Test func `signs of life without end end the worker`() async throws {
        let flood =
            try Self.bytes([Self.greeting]) + Array(repeating: FrameCodec.encode(Report.alive), count: 50_000).joined()
        #expect(
            try await death(after: flood) == .brokeProtocol("more than 10000 reports that answer nothing"))
    }

    private static let messages: [(text: String, words: String)] = [
        (String(repeating: "[", count: 5000), "a message of more than 64 levels"),
        ("\"" + String(repeating: "x", count: 100_001) + "\"", "a message with a text of 100001 bytes"),
        ("[" + String(repeating: "1,", count: 2_000_000) + "1]", "a message of more than 2000000 values"),
    ]

    /// The messages are too long for the name of a test.
    @Test(arguments: messages.indices) func `a message that no worker sends ends the worker`(index: Int) async throws {
        let bytes = try Self.bytes([Self.greeting]) + Self.frame(Self.messages[index].text)
        #expect(try await death(after: bytes) == .brokeProtocol(Self.messages[index].words))
    }

    @Test func `a message that is longer than any report ends the worker before it is read`() async throws {
        let bytes = try Self.bytes([Self.greeting]) + [1, 0, 0, 1]
        #expect(try await death(after: bytes) == .brokeProtocol("a message of 16777217 bytes"))
    }

    @Test func `a catalog that no program prints is refused by name`() async throws {
        let lie = Greeting(
            protocolVersion: Greeting.currentVersion,
            catalog: Catalog(
                versions: [:], filters: [],
                formats: [
                    FormatDescriptor(
                        name: "gif", extensions: ["gif"], canRead: true, canWrite: true, sampleFormats: [.u8],
                        holdsAlpha: true, frameTime: .max, isLossless: true, largestSide: 100, options: [])
                ]))
        try Data(FrameCodec.json(lie)).write(to: URL(filePath: folder.file("catalog")))
        let program = folder.file("worker")
        try "#!/bin/sh\ncat '\(folder.file("catalog"))'\n".write(toFile: program, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        let failure = await #expect(throws: WorkerQueryError.self) {
            try await WorkerCommand(executable: program).describe()
        }
        #expect(
            failure?.message
                == "\(program) describe: the answer has a format with times in steps of 9223372036854775807 ms, "
                + "which no catalog has; remove the plugin that came last")
    }
}
