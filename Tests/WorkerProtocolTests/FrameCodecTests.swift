import JobModel
import Testing
import WorkerProtocol

@Suite struct FrameCodecTests {
    private let reports: [Report] = [
        .ready(Greeting(protocolVersion: 1)), .inPlugins(LeaseID(7), ["invert"]), .inPlugins(LeaseID(7), []),
        .worn(LeaseID(7)),
        .failed(LeaseID(8), TaskFailure(.damagedTile(index: 3), "tile 3 differs — näh")),
        .finished(LeaseID(9), .audit(AuditReceipt(pixels: 12))),
    ]

    @Test func `messages come back as they were sent, however the pipe cuts them`() throws {
        let bytes = try reports.flatMap { try FrameCodec.encode($0) }
        for size in [1, 2, 3, 7, 64, 10_000] {
            var buffer = FrameBuffer()
            var received: [Report] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                buffer.append(bytes[start..<min(start + size, bytes.count)])
                while let body = try buffer.next() { received.append(try FrameCodec.decode(Report.self, from: body)) }
            }
            #expect(received == reports)
        }
    }

    @Test func `kinds of failures keep the names that journals have stored`() throws {
        let kinds: [TaskFailure.Kind: String] = [
            .storage: "place", .resourceLimit: "machine", .damagedTile(index: 3): "damagedTile",
        ]
        for (kind, name) in kinds {
            let body = try FrameCodec.encode(.failed(LeaseID(8), TaskFailure(kind, "no")) as Report)
            #expect(String(decoding: body, as: UTF8.self).contains("\"\(name)\""))
        }
    }

    @Test func `a length beyond the limit is refused before it is waited for`() {
        var buffer = FrameBuffer()
        buffer.append([255, 255, 255, 127])
        #expect(throws: FrameCodecError.tooLong(bytes: 0x7fff_ffff)) { try buffer.next() }
    }

    @Test func `a message of which one bit was changed on its way is refused, whichever it is`() throws {
        let bytes = try FrameCodec.encode(reports[0])
        for place in 4..<bytes.count {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[place] ^= 1 << bit
                var buffer = FrameBuffer()
                buffer.append(damaged)
                #expect(throws: FrameCodecError.damaged) { try buffer.next() }
            }
        }
    }

    @Test func `what is no message is an error`() {
        #expect(throws: FrameCodecError.self) { try FrameCodec.decode(Report.self, from: Array("{}".utf8)) }
    }
}
