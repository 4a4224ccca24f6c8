/// One node of a manifest's tree. Scalars have no type yet: the schema gives them one.
package struct SyntaxNode: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        case scalar(Scalar)
        case sequence([SyntaxNode])
        case mapping(Mapping)
        /// Stands where a value was refused. Its problem is already reported, so readers pass it in silence.
        case unreadable
    }

    package struct Scalar: Hashable, Sendable {
        package enum Quoting: Hashable, Sendable {
            case plain, single, double
        }

        /// The text without its quotes, escapes replaced.
        package let text: String
        package let quoting: Quoting

        package init(text: String, quoting: Quoting) {
            self.text = text
            self.quoting = quoting
        }
    }

    /// Entries in the order in which they are written; no key occurs twice.
    package struct Mapping: Hashable, Sendable {
        package var entries: [Entry]
        /// False when lines of it were refused, so that a key that seems missing may be in one of them.
        package var isComplete = true

        package subscript(key: String) -> SyntaxNode? {
            entries.first { $0.key == key }?.value
        }
    }

    package struct Entry: Hashable, Sendable {
        package let key: String
        package let keySpan: SourceSpan
        package var value: SyntaxNode

        package init(key: String, keySpan: SourceSpan, value: SyntaxNode) {
            self.key = key
            self.keySpan = keySpan
            self.value = value
        }
    }

    package var content: Content
    /// The node's text on its first line.
    package let span: SourceSpan

    package init(_ content: Content, span: SourceSpan) {
        self.content = content
        self.span = span
    }

    /// The text of a scalar; nil for every other node.
    package var text: String? {
        if case .scalar(let scalar) = content { scalar.text } else { nil }
    }

    package var isUnreadable: Bool { content == .unreadable }

    /// Where a part of a scalar's text stands, in Unicode scalars from the text's start. The whole scalar when
    /// doubled quotes or escapes moved the characters.
    package func span(ofText offset: Int, length: Int) -> SourceSpan {
        guard case .scalar(let scalar) = content else { return span }
        let quotes = scalar.quoting == .plain ? 0 : 1
        guard span.length == scalar.text.unicodeScalars.count + 2 * quotes else { return span }
        return span.part(at: offset + quotes, length: length)
    }
}
