import JobModel

/// Chooses jobs, for a list or for an action on many of them.
///
/// Its text is a query string: `state=waiting,held&label=show=night*&owner=uid:1000&name=night*`. A job has to match
/// every key. Of several states, owners or names one is enough; of several labels it needs all. An empty filter matches
/// every job.
package struct JobFilter: Hashable, Sendable {
    package struct Label: Hashable, Sendable {
        package let name: String
        /// A pattern, in which `*` stands for any text. Nil for any value.
        package let value: String?

        package init(name: String, value: String?) {
            self.name = name
            self.value = value
        }
    }

    /// Empty for all.
    package var states: Set<JobState.Name> = []
    package var labels: Set<Label> = []
    /// Empty for all.
    package var owners: Set<Owner> = []
    /// Names of tokens. A service puts their owners in the place of them. Until then the filter matches no job.
    package var ownerNames: Set<String> = []
    /// Patterns, in which `*` stands for any text. Empty for all names.
    package var names: Set<String> = []

    package init() {}

    package func matches(_ job: Submission) -> Bool {
        ownerNames.isEmpty && (states.isEmpty || states.contains(job.state.name))
            && (owners.isEmpty || owners.contains(job.owner))
            && labels.allSatisfy { label in
                job.labels[name: label.name].map { value in
                    label.value.map { Self.matches(value, pattern: $0) } ?? true
                } ?? false
            }
            && (names.isEmpty || names.contains { Self.matches(job.name, pattern: $0) })
    }

    /// Whether a text matches a pattern, byte for byte. Takes O(n·m).
    static func matches(_ text: String, pattern: String) -> Bool {
        let (text, pattern) = (Array(text.utf8), Array(pattern.utf8))
        let star = UInt8(ascii: "*")
        var (place, wanted) = (0, 0)
        /// The last `*`, and where the text behind it was tried last.
        var lastStar: (wanted: Int, place: Int)?
        while place < text.count {
            if wanted < pattern.count, pattern[wanted] == star {
                lastStar = (wanted, place)
                wanted += 1
            } else if wanted < pattern.count, pattern[wanted] == text[place] {
                place += 1
                wanted += 1
            } else if let last = lastStar {
                lastStar = (last.wanted, last.place + 1)
                (place, wanted) = (last.place + 1, last.wanted + 1)
            } else {
                return false
            }
        }
        return pattern[wanted...].allSatisfy { $0 == star }
    }
}

extension JobFilter {
    /// Words for several states.
    private static let groups: [String: [JobState.Name]] = ["open": JobState.Name.open, "ended": JobState.Name.ended]

    package init(text: String) throws(InputError) {
        guard !text.isEmpty else {
            self.init()
            return
        }
        var conditions: [(key: String, value: String)] = []
        for part in text.split(separator: "&", omittingEmptySubsequences: false) {
            let pieces = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let key = try Self.decoded(String(pieces[0]))
            guard pieces.count == 2, !pieces[1].isEmpty else {
                throw .filter(key.isEmpty ? .emptyPart : .noValue(key))
            }
            conditions.append((key, try Self.decoded(String(pieces[1]))))
        }
        try self.init(conditions)
    }

    /// The parameters of a query string, decoded.
    package init(_ conditions: [(key: String, value: String)]) throws(InputError) {
        for (key, value) in conditions {
            guard !value.isEmpty else { throw .filter(.noValue(key)) }
            switch key {
            case "state": try add(states: value)
            case "label": try add(label: value)
            case "owner":
                if let owner = Owner(text: value) {
                    owners.insert(owner)
                } else if !value.contains(":") {
                    ownerNames.insert(value)
                } else {
                    throw .filter(.owner(value))
                }
            case "name": names.insert(value)
            default: throw .filter(.unknownKey(key))
            }
        }
    }

    private mutating func add(states text: String) throws(InputError) {
        for word in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
            if let name = JobState.Name(rawValue: word) {
                states.insert(name)
            } else if let group = Self.groups[word] {
                states.formUnion(group)
            } else {
                throw .filter(.state(word))
            }
        }
    }

    private mutating func add(label text: String) throws(InputError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard Labels.isName(parts[0]) else { throw .filter(.label(parts[0])) }
        labels.insert(Label(name: parts[0], value: parts.count == 2 ? parts[1] : nil))
    }

    /// The same filter always has the same text.
    package var text: String {
        var parts: [String] = []
        func add(_ key: String, _ values: [String]) {
            parts += values.sorted().map { "\(key)=\(Self.encoded($0))" }
        }
        if !states.isEmpty {
            add("state", [JobState.Name.allCases.filter(states.contains).map(\.rawValue).joined(separator: ",")])
        }
        add("label", labels.map { label in label.value.map { "\(label.name)=\($0)" } ?? label.name })
        add("owner", owners.map(\.text) + ownerNames)
        add("name", Array(names))
        return parts.joined(separator: "&")
    }

    private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~*:/=@,".utf8)

    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            if plain.contains(byte) { return String(UnicodeScalar(byte)) }
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.count == 1 ? "%0\(digits)" : "%\(digits)"
        }.joined()
    }

    private static func decoded(_ text: String) throws(InputError) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, let high = hexadecimal(digits[digits.startIndex]),
                let low = hexadecimal(digits[digits.startIndex + 1])
            else { throw .filter(.escape(text)) }
            bytes.append(high << 4 | low)
            rest = rest.dropFirst(2)
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else { throw .filter(.escape(text)) }
        return decoded
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 48...57: byte - 48
        case 65...70: byte - 55
        case 97...102: byte - 87
        default: nil
        }
    }
}

/// What is wrong with a filter's text.
package enum FilterProblem: Hashable, Sendable {
    case emptyPart
    case unknownKey(String)
    case noValue(String)
    case state(String)
    case owner(String)
    /// No token has the name.
    case ownerName(String)
    case label(String)
    case escape(String)

    var message: String {
        switch self {
        case .emptyPart: "filter: a condition is empty\n   = write KEY=VALUE, and '&' between conditions"
        case .unknownKey(let key):
            "filter: there is no key '\(shown(key))'\n   = the keys are state, label, owner and name"
        case .noValue(let key): "filter: '\(shown(key))' has no value\n   = write \(shown(key))=VALUE"
        case .state(let word):
            "filter: there is no state '\(shown(word))'\n   = the states are "
                + "\(JobState.Name.allCases.map(\.rawValue).joined(separator: ", ")), open and ended"
        case .owner(let text):
            "filter: '\(shown(text))' is no owner\n   = owners are uid:NUMBER, token:ID, schedule:NAME, watch:NAME and names of tokens"
        case .ownerName(let name):
            "filter: no token is called '\(shown(name))'\n   = owners are uid:NUMBER, token:ID, schedule:NAME, watch:NAME and "
                + "names of tokens"
        case .label(let name):
            "filter: '\(shown(name))' is no name of a label\n   = write label=NAME, or label=NAME=VALUE"
        case .escape(let text):
            "filter: '\(shown(text))' cannot be decoded\n   = write '%' and two digits for a byte of UTF-8; '%25' is '%'"
        }
    }

    private func shown(_ text: String) -> String { VisibleText.line(String(text.prefix(200))) }
}
