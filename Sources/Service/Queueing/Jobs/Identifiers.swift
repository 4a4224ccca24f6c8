/// The number of a submitted job. People know a job by it: "job 17". A later job has a higher number.
package struct JobID: Hashable, Comparable, Sendable, Codable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    package let number: Int

    package init(_ number: Int) { self.number = number }
    package init(integerLiteral number: Int) { self.number = number }

    package static func < (a: JobID, b: JobID) -> Bool { a.number < b.number }

    package var description: String { "job \(number)" }

    package init(from decoder: any Decoder) throws {
        number = try decoder.singleValueContainer().decode(Int.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }
}

/// Who submitted a job, or who asks for something. Its text is stored: `uid:1000`, `token:7`, `schedule:nightly`.
package enum Owner: Hashable, Sendable, Codable, CustomStringConvertible {
    /// A user of this machine, as the kernel names him.
    case user(UInt32)
    /// The identifier of a token, which is not secret.
    case token(String)
    case schedule(String)
    /// A watched folder.
    case watch(String)

    package var text: String {
        switch self {
        case .user(let number): "uid:\(number)"
        case .token(let id): "token:\(id)"
        case .schedule(let name): "schedule:\(name)"
        case .watch(let name): "watch:\(name)"
        }
    }

    package var description: String { text }

    package init?(text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let kind = parts.first, let name = parts.last, !name.isEmpty else { return nil }
        switch kind {
        case "uid":
            guard let number = UInt32(name), String(number) == name else { return nil }
            self = .user(number)
        case "token": self = .token(name)
        case "schedule": self = .schedule(name)
        case "watch": self = .watch(name)
        default: return nil
        }
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let owner = Owner(text: text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: InputError.owner(text).message)
        }
        self = owner
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// How urgent a job is: 0–100, and 50 unless somebody says otherwise.
package struct Priority: Hashable, Comparable, Sendable, Codable {
    package let value: Int

    package static let lowest = Priority(clamping: 0)
    package static let normal = Priority(clamping: 50)
    package static let highest = Priority(clamping: 100)

    package init(_ value: Int) throws(InputError) {
        guard (0...100).contains(value) else { throw .priority(String(value)) }
        self.value = value
    }

    package init(text: String) throws(InputError) {
        guard let value = Int(text) else { throw .priority(text) }
        try self.init(value)
    }

    package init(clamping value: Int) { self.value = min(max(0, value), 100) }

    package static func < (a: Priority, b: Priority) -> Bool { a.value < b.value }

    package init(from decoder: any Decoder) throws {
        try self.init(try decoder.singleValueContainer().decode(Int.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}
