/// Reads a mapping key by key, each with its type, and reports missing and unknown keys.
///
///     guard var engine = MappingReader(node, of: "engine", log: log) else { return nil }
///     let workers = engine.value("workers", .integer(in: 1...512), default: cores)
///     let memory = engine.required("memory", .bytes(in: 1...Int.max), example: "4G")
///     engine.finish()
///
/// A key is known once it was asked for, so ask for all of them before ``finish(aliases:explaining:)``. All problems
/// are in the log. The values that are returned for wrong ones only let the reading continue.
package struct MappingReader {
    package let mapping: SyntaxNode.Mapping
    package let span: SourceSpan
    private let owner: String
    private let noun: String
    private let log: DiagnosticLog
    /// The keys that were asked for, in order.
    package private(set) var known: [String] = []
    private var missing: [(key: String, example: String, alternative: String?)] = []

    /// Nil if the node is no mapping. This is reported, unless the node is a hole.
    ///
    /// - Parameters:
    ///   - owner: The subject of messages: "the job", "'save'".
    ///   - noun: The word for a key in messages.
    ///   - example: An example of the mapping.
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

    /// The entry of a key, for other readers.
    package mutating func entry(_ key: String) -> SyntaxNode.Entry? {
        if !known.contains(key) { known.append(key) }
        return mapping.entries.first { $0.key == key }
    }

    /// The value of a key. Nil if it is absent or wrong.
    package mutating func optional<Value>(_ key: String, _ type: ValueReader<Value>) -> Value? {
        entry(key).flatMap { type.read($0.value, for: key, log: log) }
    }

    /// The value of a key. `fallback` if it is absent or, after a report, if it is wrong.
    package mutating func value<Value>(
        _ key: String, _ type: ValueReader<Value>, default fallback: Value
    ) -> Value {
        optional(key, type) ?? fallback
    }

    /// The value of a required key. `example` is a value that messages may propose.
    package mutating func required<Value>(
        _ key: String, _ type: ValueReader<Value>, example: String, or alternative: String? = nil
    ) -> Value? {
        if let entry = entry(key) { return type.read(entry.value, for: key, log: log) }
        missing.append((key, example, alternative))
        return nil
    }

    /// Reports missing required keys, and keys that were not asked for.
    ///
    /// - Parameters:
    ///   - aliases: Other names for keys, in lower case, each with its key.
    ///   - explain: Finds the purpose of an unknown key. Nil if only its spelling helps.
    package func finish(
        aliases: [String: String] = [:], explaining explain: (SyntaxNode.Entry) -> Problem? = { _ in nil }
    ) {
        var meant: Set<String> = []
        for entry in mapping.entries where !known.contains(entry.key) {
            let alias = aliases[entry.key.lowercased()].flatMap { known.contains($0) ? $0 : nil }
            let nearest = alias ?? Suggestion.nearest(to: entry.key, among: known)
            let problem = ValueProblem.unknownKey(
                entry.key, noun: noun, of: owner, nearest: nearest, known: known)
            // A key that is missing, and almost spelt, was meant.
            let isMissing = missing.contains { $0.key == nearest }
            log.error((isMissing ? nil : explain(entry)) ?? .value(problem), at: entry.keySpan)
            if let nearest { meant.insert(nearest) }
        }
        // A refused line, or a misspelt key, may have been the missing key.
        guard mapping.isComplete else { return }
        for (key, example, alternative) in missing where !meant.contains(key) {
            log.error(.value(.missingKey(key, of: owner, example: example, or: alternative)), at: span)
        }
    }
}
