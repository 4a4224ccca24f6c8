/// Reads a mapping key by key, each with the type that it is asked for, and reports what is missing or unknown.
///
///     guard var engine = MappingReader(node, of: "engine", log: log) else { return nil }
///     let workers = engine.value("workers", .integer(in: 1...512), default: cores)
///     let memory = engine.required("memory", .bytes(in: 1...Int.max), example: "4G")
///     engine.finish()
///
/// A key is known once it was asked for, so ask for all of them before ``finish(aliases:explaining:)``. Whatever
/// goes wrong is in the log; the values given back then only let the reading go on to find more.
package struct MappingReader {
    package let mapping: SyntaxNode.Mapping
    package let span: SourceSpan
    private let owner: String
    private let noun: String
    private let log: DiagnosticLog
    /// The keys that were asked for, in that order.
    package private(set) var known: [String] = []
    private var missing: [(key: String, example: String)] = []

    /// Nil when the node is no mapping; that is reported, unless the node is a hole.
    ///
    /// - Parameters:
    ///   - owner: the subject of messages: "the job", "'save'".
    ///   - noun: what messages call a key.
    ///   - example: how the mapping is written.
    package init?(
        _ node: SyntaxNode, of owner: String, noun: String = "key", example: String = "'key: value' lines",
        log: DiagnosticLog
    ) {
        guard case .mapping(let mapping) = node.content else {
            if !node.isUnreadable {
                let problem = ValueProblem.notAMapping(owner: owner, found: node.kindName, example: example)
                log.error(.value(problem), at: node.span)
            }
            return nil
        }
        self.mapping = mapping
        self.span = node.span
        self.owner = owner
        self.noun = noun
        self.log = log
    }

    /// The entry of a key, for a reader of one's own.
    package mutating func entry(_ key: String) -> SyntaxNode.Entry? {
        if !known.contains(key) { known.append(key) }
        return mapping.entries.first { $0.key == key }
    }

    /// The value of a key; nil when it is absent or wrong.
    package mutating func optional<Value>(_ key: String, _ type: ValueReader<Value>) -> Value? {
        entry(key).flatMap { type.read($0.value, for: key, log: log) }
    }

    /// The value of a key; `fallback` when it is absent, and, after a report, when it is wrong.
    package mutating func value<Value>(
        _ key: String, _ type: ValueReader<Value>, default fallback: Value
    ) -> Value {
        optional(key, type) ?? fallback
    }

    /// The value of a key that must be there. `example` is a value that messages may propose.
    package mutating func required<Value>(_ key: String, _ type: ValueReader<Value>, example: String) -> Value? {
        if let entry = entry(key) { return type.read(entry.value, for: key, log: log) }
        missing.append((key, example))
        return nil
    }

    /// Reports the required keys that are missing, and the keys that were not asked for.
    ///
    /// - Parameters:
    ///   - aliases: other names, in lower case, that a person may give a key, and the key.
    ///   - explain: may know what else a key was meant for; nil leaves it to the spelling.
    package func finish(
        aliases: [String: String] = [:], explaining explain: (SyntaxNode.Entry) -> Problem? = { _ in nil }
    ) {
        var meant: Set<String> = []
        for entry in mapping.entries where !known.contains(entry.key) {
            let alias = aliases[entry.key.lowercased()].flatMap { known.contains($0) ? $0 : nil }
            let nearest = alias ?? Suggestion.nearest(to: entry.key, among: known)
            let problem = ValueProblem.unknownKey(
                entry.key, noun: noun, of: owner, nearest: nearest, known: known)
            log.error(explain(entry) ?? .value(problem), at: entry.keySpan)
            if let nearest { meant.insert(nearest) }
        }
        // A line that was refused, or a key that was misspelled, may have been the one.
        guard mapping.isComplete else { return }
        for (key, example) in missing where !meant.contains(key) {
            log.error(.value(.missingKey(key, of: owner, example: example)), at: span)
        }
    }
}
