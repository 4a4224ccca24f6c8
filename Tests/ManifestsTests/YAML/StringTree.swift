import Manifests
import Yams

/// A document as nothing but strings, to compare what two parsers read. Bytes, because Swift takes texts for equal that
/// differ in how accents are encoded.
indirect enum StringTree: Equatable {
    struct Entry: Equatable {
        let key: [UInt8]
        let value: StringTree
    }

    case text([UInt8])
    case list([StringTree])
    case mapping([Entry])
    case other(String)

    init(_ node: SyntaxNode) {
        switch node.content {
        case .scalar(let scalar): self = .text(Array(scalar.text.utf8))
        case .sequence(let items): self = .list(items.map { StringTree($0) })
        case .mapping(let mapping):
            self = .mapping(mapping.entries.map { Entry(key: Array($0.key.utf8), value: StringTree($0.value)) })
        case .unreadable: self = .other("unreadable")
        }
    }

    init(_ node: Yams.Node) {
        switch node {
        case .scalar(let scalar): self = .text(Array(scalar.string.utf8))
        case .sequence(let sequence): self = .list(sequence.map { StringTree($0) })
        case .mapping(let mapping):
            self = .mapping(mapping.map { Entry(key: Array(($0.key.string ?? "").utf8), value: StringTree($0.value)) })
        case .alias: self = .other("alias")
        }
    }
}

/// How our reading of a text compares with a YAML parser's.
enum Agreement: Equatable {
    case refused
    case same
    case different(ours: StringTree, yaml: String)

    init(on text: String) {
        let parsed = ParsedText(text)
        guard parsed.diagnostics.isEmpty, let root = parsed.root else {
            self = .refused
            return
        }
        let ours = StringTree(root)
        do {
            let yaml = try Yams.compose(yaml: text).map { StringTree($0) }
            self = yaml == ours ? .same : .different(ours: ours, yaml: "\(String(describing: yaml))")
        } catch {
            self = .different(ours: ours, yaml: "\(error)")
        }
    }
}
