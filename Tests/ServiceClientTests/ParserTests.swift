import ServiceClient
import TestSupport
import Testing

/// Answers, cut at every byte.
@Suite struct AnswerParserTests {
    /// The head, the body and whether the answer is complete, if these pieces come and the connection ends then.
    private func outcome(
        _ pieces: [[UInt8]], largestBody: Int = 1000
    ) -> Result<(head: AnswerHead?, body: String, isComplete: Bool), ExchangeFault> {
        Result { () throws(ExchangeFault) in
            var parser = AnswerParser(largestBody: largestBody)
            var head: AnswerHead?
            var body: [UInt8] = []
            for bytes in pieces {
                parser.append(bytes)
                while let piece = try parser.next() {
                    switch piece {
                    case .head(let found): head = found
                    case .body(let bytes): body += bytes
                    }
                }
            }
            return (head, String(decoding: body, as: UTF8.self), parser.isCompleteAtClose)
        }
    }

    private static let answers: [(text: String, status: Int, body: String)] = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde", 200, "abcde"),
        ("HTTP/1.1 200\r\ncontent-length:0\r\n\r\n", 200, ""),
        ("HTTP/1.0 404 Not Found\r\nA: b\r\n\r\nto the end", 404, "to the end"),
        ("HTTP/1.1 204 No Content\r\n\r\n", 204, ""),
        ("HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", 304, ""),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0A; x=\"y\"\r\n0123456789\r\n0\r\nT: x\r\n\r\n",
            200, "abc0123456789"
        ),
        (
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}",
            201, "{}"
        ),
    ]

    @Test func `an answer is the same wherever its bytes are cut`() throws {
        for (text, status, body) in Self.answers {
            let bytes = Array(text.utf8)
            let cuts = (0...bytes.count).map { [Array(bytes[..<$0]), Array(bytes[$0...])] } + [bytes.map { [$0] }]
            for pieces in cuts {
                let found = try outcome(pieces).get()
                #expect(found.head?.status == status)
                #expect(found.body == body)
                #expect(found.isComplete)
            }
        }
    }

    @Test func `an answer that ends too early is not complete`() throws {
        for (text, _, _) in Self.answers where !text.hasPrefix("HTTP/1.0") {
            let bytes = Array(text.utf8)
            for end in 0..<bytes.count {
                #expect(try !outcome([Array(bytes[..<end])]).get().isComplete, "\(text) \(end)")
            }
        }
    }

    @Test func `names of headers have no case, and values lose blanks around them`() throws {
        let text = "HTTP/1.1 200 OK\r\nETag: \t\"a b\" \t\r\nX:\r\nContent-Length: 0\r\n\r\n"
        let head = try #require(try outcome([Array(text.utf8)]).get().head)
        #expect(head[name: "etag"] == "\"a b\"")
        #expect(head[name: "x"] == "")
        #expect(head[name: "y"] == nil)
    }

    @Test(arguments: [
        ("SSH-2.0-OpenSSH\r\n\r\n", "it does not begin with a status line of HTTP/1.1"),
        ("HTTP/2 200\r\n\r\n", "it does not begin with a status line of HTTP/1.1"),
        ("HTTP/1.1 20 OK\r\n\r\n", "it does not begin with a status line of HTTP/1.1"),
        ("HTTP/1.1 999 OK\r\n\r\n", "it does not begin with a status line of HTTP/1.1"),
        ("HTTP/1.1 2000\r\n\r\n", "it does not begin with a status line of HTTP/1.1"),
        ("\r\n\r\n", "it has no status line"),
        ("HTTP/1.1 101 Switching\r\n\r\n", "it has the status 101, which nobody asked for"),
        ("HTTP/1.1 200 OK\n\n", "a line of its head does not end with CR LF"),
        ("HTTP/1.1 200 OK\r\nA: \u{0}\r\n\r\n", "its head has a control character"),
        ("HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "a line of its head is no header"),
        ("HTTP/1.1 200 OK\r\nA : b\r\n\r\n", "a line of its head is no header"),
        ("HTTP/1.1 200 OK\r\n: b\r\n\r\n", "a line of its head is no header"),
        ("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "a line of its head is no header"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "its length is no number, or is given twice"
        ),
        ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "its length is no number, or is given twice"),
        ("HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n", "its length is no number, or is given twice"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\n", "its length is no number, or is given twice"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n",
            "its length is no number, or is given twice"
        ),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n", "its body has more than 1000 bytes"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "it has a length and chunks"
        ),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "its transfer coding is not known"),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\n",
            "the size of a chunk is no number, or too large"
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
            "the size of a chunk is no number, or too large"
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
            "the size of a chunk is no number, or too large"
        ),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n", "its body has more than 1000 bytes"),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n",
            "a chunk is longer than its size says"
        ),
    ])
    func `an answer that breaks a rule is refused, wherever it is cut`(text: String, words: String) {
        let bytes = Array(text.utf8)
        for pieces in [[bytes], bytes.map { [$0] }] {
            #expect {
                try outcome(pieces).get()
            } throws: {
                $0 as? ExchangeFault == .wrong(words)
            }
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nA: " + String(repeating: "a", count: 70_000), "its head is longer than 64 KiB"),
        (String(repeating: "a", count: 70_000), "its head is longer than 64 KiB"),
        (
            "HTTP/1.1 200 OK\r\n" + String(repeating: "A: aaaaaaaaaa\r\n", count: 300), "its head has too many lines"
        ),
        (String(repeating: "HTTP/1.1 100 C\r\n\r\n", count: 9), "it has the status 100, which nobody asked for"),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + String(repeating: "x", count: 2000),
            "the line of a chunk is too long"
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
                + String(repeating: "A: aaaaaa\r\n", count: 7000),
            "its trailer is longer than 64 KiB"
        ),
        ("HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 1001), "its body has more than 1000 bytes"),
    ])
    func `an answer without an end is refused`(text: String, words: String) {
        #expect {
            try outcome([Array(text.utf8)]).get()
        } throws: {
            $0 as? ExchangeFault == .wrong(words)
        }
    }

    /// Bytes are exchanged, removed and doubled. The parser has to end in the same way for whole answers and for single
    /// bytes, and it must not crash.
    @Test(arguments: 0..<20)
    func `damaged answers are read in one way only`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for (text, _, _) in Self.answers {
            for _ in 0..<50 {
                let bytes = damaged(Array(text.utf8), &random)
                let (whole, single) = (outcome([bytes]), outcome(bytes.map { [$0] }))
                switch (whole, single) {
                case (.success(let a), .success(let b)):

                    #expect(a.head == b.head)
                    #expect(a.body == b.body)
                    #expect(a.isComplete == b.isComplete)
                case (.failure(let a), .failure(let b)): #expect(a == b)
                default: Issue.record("\(bytes)")
                }
            }
        }
    }

    @Test func `a head that is not UTF-8 is refused`() {
        let bytes = Array("HTTP/1.1 200 OK\r\nA: ".utf8) + [0xe9, 13, 10, 13, 10]
        #expect {
            try outcome([bytes]).get()
        } throws: {
            $0 as? ExchangeFault == .wrong("its head is not UTF-8")
        }
    }
}

/// Server-sent events, cut at every byte.
@Suite struct EventParserTests {
    private func events(_ pieces: [[UInt8]], after id: String? = nil) throws -> (
        events: [ServerEvent], parser: EventParser
    ) {
        var parser = EventParser(after: id)
        var events: [ServerEvent] = []
        for piece in pieces { events += try parser.append(piece) }
        return (events, parser)
    }

    private static let stream = """
        \u{feff}retry: 2000
        : here

        event: job
        id: B-1
        data: {"id":1}

        data:a
        data
        data:  b é
        unknown: x
        event

        id: B-3

        event: reset
        data: x
        id


        """
    private static let expected = [
        ServerEvent(name: "job", data: #"{"id":1}"#, id: "B-1"),
        ServerEvent(name: "message", data: "a\n\n b é", id: "B-1"),
        ServerEvent(name: "reset", data: "x", id: nil),
    ]

    @Test(arguments: ["\n", "\r", "\r\n"])
    func `events are the same wherever their bytes are cut, with every line end`(end: String) throws {
        let bytes = Array(
            Self.stream.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: end).utf8)
        let cuts = (0...bytes.count).map { [Array(bytes[..<$0]), Array(bytes[$0...])] } + [bytes.map { [$0] }]
        for pieces in cuts {
            let (events, parser) = try events(pieces)
            #expect(events == Self.expected)
            #expect(parser.retry == .seconds(2))
        }
    }

    @Test(arguments: 0..<20)
    func `damaged streams are read in one way only`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<50 {
            let bytes = damaged(Array(Self.stream.utf8), &random)
            let (whole, single) = (Result { try events([bytes]) }, Result { try events(bytes.map { [$0] }) })
            switch (whole, single) {
            case (.success(let a), .success(let b)):

                #expect(a.events == b.events)
                #expect(a.parser.lastEventID == b.parser.lastEventID)
            case (.failure(let a), .failure(let b)): #expect(a as? ExchangeFault == b as? ExchangeFault)
            default: Issue.record("\(bytes)")
            }
        }
    }

    @Test func `an event that is cut off does not count, so that it is sent again`() throws {
        let (events, parser) = try events([Array("id: 1\ndata: a\n\nid: 2\ndata: b\n".utf8)])
        #expect(events.map(\.data) == ["a"])
        #expect(parser.lastEventID == "1")
    }

    @Test func `an identifier counts without data, and survives events that have none`() throws {
        #expect(try events([Array("id: 7\n\n".utf8)]).parser.lastEventID == "7")
        #expect(try events([Array("data: x\n\n".utf8)], after: "6").events.map(\.id) == ["6"])
    }

    @Test(arguments: ["soon", "-1", "1e3", "", "99999999999999999999"])
    func `a pause that is no number is ignored`(text: String) throws {
        #expect(try events([Array("retry: \(text)\n\n".utf8)]).parser.retry == nil)
    }

    private static let odd: [(bytes: [UInt8], words: String)] = [
        ([UInt8]("data: ".utf8) + [0xff, 10], "an event is not UTF-8"),
        ([UInt8]("id: a\u{1}b\n".utf8), "the identifier of an event is too long, or has invisible characters"),
        (
            [UInt8]("id: \(String(repeating: "1", count: 257))\n".utf8),
            "the identifier of an event is too long, or has invisible characters"
        ),
        ([UInt8](repeating: 97, count: (1 << 20) + 1), "a line of an event is longer than 1 MiB"),
        (
            [UInt8](String(repeating: "data: \(String(repeating: "a", count: 1 << 19))\n", count: 9).utf8),
            "an event is larger than 4 MiB"
        ),
    ]

    @Test(arguments: odd.indices)
    func `a stream that breaks a limit is refused`(index: Int) {
        let (bytes, words) = Self.odd[index]
        #expect {
            try events([bytes])
        } throws: {
            $0 as? ExchangeFault == .wrong(words)
        }
    }
}

/// Bytes of which some are exchanged, removed or doubled.
private func damaged(_ bytes: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
    var result = bytes
    for _ in 0..<Int.random(in: 1...4, using: &random) where !result.isEmpty {
        let place = Int.random(in: result.indices, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: result[place] = UInt8.random(in: .min ... .max, using: &random)
        case 1: result.remove(at: place)
        case 2: result.insert(result[place], at: place)
        default: result.insert(Array("\r\n:0;".utf8).randomElement(using: &random) ?? 0, at: place)
        }
    }
    return result
}
