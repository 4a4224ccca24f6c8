package import JobModel

/// One key of a manifest: its schema for editors, and its words for readers.
struct JobKey: Sendable {
    let name: String
    /// What a value looks like, in words: `a time: 90s, 5m`.
    let takes: String
    /// A whole sentence.
    let sentence: String
    /// Without default and description.
    let schema: SchemaNode
    let fallback: SchemaNode?
    let isRequired: Bool
    let choices: [DescribedWord]
    /// The keys of a key that is a mapping.
    let inner: [JobKey]

    init(
        _ name: String, _ takes: String, _ sentence: String, _ schema: SchemaNode, fallback: SchemaNode? = nil,
        isRequired: Bool = false, choices: [DescribedWord] = [], inner: [JobKey] = []
    ) {
        self.name = name
        self.takes = takes
        self.sentence = sentence
        self.schema = schema
        self.fallback = fallback
        self.isRequired = isRequired
        self.choices = choices
        self.inner = inner
    }

    /// A key that takes one word of a choice.
    init<Choice: DescribedChoice>(_ name: String, _ fallback: Choice, _ sentence: String) {
        self.init(
            name, "a word", sentence, .words(Choice.allCases.map(\.rawValue)), fallback: .text(fallback.rawValue),
            choices: Choice.words)
    }

    /// The key in a schema.
    var property: (String, SchemaNode) {
        (name, schema.adding(["default": fallback, "description": .text(sentence)]))
    }

    /// This key and its inner keys, as the reference lists them.
    ///
    /// - Parameter prefix: The path of the mapping, with the dot at its end.
    func documented(below prefix: String = "") -> [ManifestKey] {
        let path = prefix + name
        let isList = inner.isEmpty ? false : schema.isArray
        return [
            ManifestKey(
                path: path, takes: takes, fallback: fallback.map(\.plain), isRequired: isRequired, sentence: sentence,
                choices: choices)
        ] + inner.flatMap { $0.documented(below: path + (isList ? "[]." : ".")) }
    }
}

/// A key of a manifest as the reference describes it.
package struct ManifestKey: Hashable, Sendable, Codable {
    /// `retries`, `slurm.time`, `outputs[].path`
    package let path: String
    /// What a value looks like, in words.
    package let takes: String
    /// As a manifest writes it. Nil if the key has no default.
    package let fallback: String?
    /// Whether every manifest, or every mapping that contains the key, must have it.
    package let isRequired: Bool
    /// A whole sentence.
    package let sentence: String
    /// The words that it takes. Empty if it takes other values, too, without names.
    package let choices: [DescribedWord]

    enum CodingKeys: String, CodingKey {
        case path, takes, sentence, choices
        case fallback = "default"
        case isRequired = "required"
    }

    package init(
        path: String, takes: String, fallback: String?, isRequired: Bool, sentence: String, choices: [DescribedWord]
    ) {
        self.path = path
        self.takes = takes
        self.fallback = fallback
        self.isRequired = isRequired
        self.sentence = sentence
        self.choices = choices
    }
}

/// A field of an output's path as the reference describes it.
package struct OutputField: Hashable, Sendable, Codable {
    /// `{stem}`
    package let field: String
    /// What it stands for, for one picture.
    package let example: String
    /// A whole sentence.
    package let sentence: String

    package init(field: String, example: String, sentence: String) {
        self.field = field
        self.example = example
        self.sentence = sentence
    }
}

extension SchemaNode {
    fileprivate var isArray: Bool {
        guard case .object(let members) = self else { return false }
        return members.contains { $0.key == "type" && $0.value == "array" }
    }

    /// A scalar as a manifest writes it.
    fileprivate var plain: String {
        switch self {
        case .text(let text): text
        case .truth(let truth): truth ? "true" : "false"
        case .number, .list, .object: json
        }
    }
}
