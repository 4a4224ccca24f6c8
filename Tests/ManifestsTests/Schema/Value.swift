import Manifests

/// What a reader makes of a text.
enum Value<Typed: Equatable>: Equatable {
    case value(Typed)
    /// With the advice that is given.
    case refused(String?)

    var value: Typed? {
        if case .value(let value) = self { value } else { nil }
    }

    /// Reads `text` as it would stand behind a key.
    static func read(_ text: String, as type: ValueReader<Typed>) -> Value {
        let log = DiagnosticLog()
        let source = SourceText(bytes: Array("key: \(text)".utf8), name: "text.yaml", log: log)
        guard let root = BlockParser.parse(source, log: log), var reader = MappingReader(root, of: "it", log: log),
            let value = reader.optional("key", type)
        else { return .refused(log.sorted().first?.problem.words.remedy) }
        return .value(value)
    }
}
