/// An event that a service has sent.
package struct ServerEvent: Hashable, Sendable {
    /// `message` unless the service says otherwise.
    package let name: String
    /// Lines are joined by newlines.
    package let data: String
    /// The identifier of the last event that had one. A follower that comes back names it.
    package let id: String?

    package init(name: String, data: String, id: String?) {
        self.name = name
        self.data = data
        self.id = id
    }
}

/// Takes server-sent events apart, as the HTML standard describes them (9.2.6). The events do not depend on how the bytes
/// were cut.
package struct EventParser {
    /// Longer lines and longer events are faults. An event of the API has at most some 100 KB.
    static let longestLine = 1 << 20
    static let largestEvent = 4 << 20
    /// An identifier becomes a header of the next request, so it is checked more strictly than the standard asks for.
    static let longestID = 256

    /// Of the last complete event. An event without an identifier has that of the one before.
    package private(set) var lastEventID: String?
    /// How long to wait before coming back, if the service has said so.
    package private(set) var retry: Duration?

    private var line: [UInt8] = []
    private var isAfterCR = false
    private var isFirstLine = true
    private var name = ""
    private var data: [String] = []
    private var dataSize = 0
    /// Becomes the last one only with the end of its event. Otherwise an event that is cut off would be skipped.
    private var nextID: String?

    package init(after lastEventID: String?) {
        self.lastEventID = lastEventID
        nextID = lastEventID
    }

    package mutating func append(_ bytes: some Sequence<UInt8>) throws(ExchangeFault) -> [ServerEvent] {
        var events: [ServerEvent] = []
        for byte in bytes {
            let isSecondHalf = isAfterCR && byte == 10
            isAfterCR = byte == 13
            if isSecondHalf { continue }
            guard byte == 10 || byte == 13 else {
                guard line.count < Self.longestLine else {
                    throw ExchangeFault.wrong("a line of an event is longer than 1 MiB")
                }
                line.append(byte)
                continue
            }
            if let event = try endLine() { events.append(event) }
        }
        return events
    }

    private mutating func endLine() throws(ExchangeFault) -> ServerEvent? {
        var bytes = line[...]
        line.removeAll(keepingCapacity: true)
        if isFirstLine, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        isFirstLine = false
        if bytes.isEmpty { return dispatch() }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ExchangeFault.wrong("an event is not UTF-8")
        }
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else {
            try take(field: text, "")
            return nil
        }
        // A line that begins with a colon is a comment, by which the service shows that it is there.
        if colon == text.startIndex { return nil }
        var value = text.utf8[text.utf8.index(after: colon)...]
        if value.first == 32 { value = value.dropFirst() }
        try take(field: String(text[..<colon]), String(Substring(value)))
        return nil
    }

    private mutating func take(field: String, _ value: String) throws(ExchangeFault) {
        switch field {
        case "event": name = value
        case "data":
            dataSize += value.utf8.count + 1
            guard dataSize <= Self.largestEvent else { throw ExchangeFault.wrong("an event is larger than 4 MiB") }
            data.append(value)
        case "id":
            guard value.utf8.count <= Self.longestID, value.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
                throw ExchangeFault.wrong("the identifier of an event is too long, or has invisible characters")
            }
            nextID = value.isEmpty ? nil : value
        case "retry":
            let isNumber = (1...9).contains(value.utf8.count) && value.utf8.allSatisfy { (48...57).contains($0) }
            if isNumber, let number = Int(value) { retry = .milliseconds(number) }
        default: break
        }
    }

    private mutating func dispatch() -> ServerEvent? {
        defer {
            name = ""
            data = []
            dataSize = 0
        }
        lastEventID = nextID
        // Without data it is no event, but its identifier counts.
        guard !data.isEmpty else { return nil }
        return ServerEvent(name: name.isEmpty ? "message" : name, data: data.joined(separator: "\n"), id: lastEventID)
    }
}
