import HTTPService
import Logging
import Synchronization
import TestSupport
import Testing

/// Names and messages of others, in answers, events and the log of the service.
@Suite struct HostileTextTests {
    private func text(_ response: APIResponse) -> String {
        guard case .bytes(let bytes) = response.body else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: HostileText.all) func `answers have no character that a terminal obeys`(hostile: String) throws {
        #expect(HostileText.remains(in: text(try .json(encoding: [hostile: hostile]))) == [])
        let plain = text(.text("one\n\(hostile)"))
        #expect(HostileText.remains(in: plain.replacing("\t", with: ""), lines: true) == [])
        let problem = Problem(
            status: 422, kind: "manifest", title: hostile, detail: hostile,
            errors: [.init(message: hostile, remedy: hostile)])
        #expect(HostileText.remains(in: text(problem.response)) == [])
    }

    @Test(arguments: HostileText.all) func `nor have events`(hostile: String) throws {
        guard case .bytes(let data) = try APIResponse.json(encoding: [hostile]).body else { return }
        // An event's data may come from elsewhere.
        for data in [data, Array("[\"\(hostile.filter { !$0.isASCII })\"]".utf8)] {
            let event = FeedEvent(number: 7, name: "job", data: data).text(boot: "b")
            #expect(HostileText.remains(in: String(decoding: event, as: UTF8.self), lines: true) == [])
        }
    }

    /// Keeps the records.
    private final class Records: Sendable {
        let texts = Mutex<[String]>([])
    }

    private struct Recorder: LogHandler {
        let records: Records
        var logLevel = Logger.Level.trace
        var metadata = Logger.Metadata()
        var metadataProvider: Logger.MetadataProvider?

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let facts = metadata.merging(event.metadata ?? [:]) { $1 }
            records.texts.withLock { $0 += ["\(event.message)"] + facts.flatMap { [$0, "\($1)"] } }
        }
    }

    private struct Name: CustomStringConvertible {
        let description: String
    }

    @Test(arguments: HostileText.all) func `each record of the log stays one line`(hostile: String) {
        let records = Records()
        var logger = Logger(label: "test") { _ in VisibleLogHandler(Recorder(records: records)) }
        logger[metadataKey: "always"] = "\(hostile)"
        logger.error(
            "\(hostile)",
            metadata: [
                "a": "\(hostile)", "b": .array(["\(hostile)"]), "c": .dictionary(["\(hostile)": "\(hostile)"]),
                "d": .stringConvertible(Name(description: hostile)),
            ])
        let texts = records.texts.withLock { $0 }
        #expect(texts.count == 11)
        #expect(texts.flatMap { HostileText.remains(in: $0) } == [])
    }

    @Test func `a record keeps what to do on a line of its own`() {
        let records = Records()
        let logger = Logger(label: "test") { _ in VisibleLogHandler(Recorder(records: records)) }
        logger.error("the disk is full\n   = free some space")
        #expect(records.texts.withLock { $0 } == ["the disk is full\n   = free some space"])
    }

    /// A client chooses the path of its request.
    @Test func `no fact of a record looks like what to do`() {
        let records = Records()
        let logger = Logger(label: "test") { _ in VisibleLogHandler(Recorder(records: records)) }
        logger.error("not found", metadata: ["path": "/a\n   = remove all files"])
        #expect(records.texts.withLock { $0 } == ["not found", "path", #"/a\u{a}   = remove all files"#])
    }
}
