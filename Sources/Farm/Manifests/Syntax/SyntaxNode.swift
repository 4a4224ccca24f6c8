/// One node of a manifest's tree. Scalars have no type yet: the schema gives them one.
package struct SyntaxNode: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        case scalar(Scalar)
        case sequence([SyntaxNode])
        case mapping(Mapping)
        /// Replaces a refused value. Its problem is reported, so readers ignore the node.
        case unreadable
    }

    package struct Scalar: Hashable, Sendable {
        package enum Quoting: Hashable, Sendable {
            case plain, single, double
        }

        /// The text without quotes, with its escapes replaced.
        package let text: String
        package let quoting: Quoting

        package init(text: String, quoting: Quoting) {
            self.text = text
            self.quoting = quoting
        }
    }

    /// Entries in their written order. No key occurs twice.
    package struct Mapping: Hashable, Sendable {
        package var entries: [Entry]
        /// False if lines of it were refused. Then a missing key may be in one of them.
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

    /// The text of a scalar. Nil for every other node.
    package var text: String? {
        if case .scalar(let scalar) = content { scalar.text } else { nil }
    }

    package var isUnreadable: Bool { content == .unreadable }

    /// The span of a part of a scalar's text, in Unicode scalars from the text's start. It is the whole scalar if
    /// doubled quotes or escapes moved the characters.
    package func span(ofText offset: Int, length: Int) -> SourceSpan {
        guard case .scalar(let scalar) = content else { return span }
        let quotes = scalar.quoting == .plain ? 0 : 1
        guard span.length == scalar.text.unicodeScalars.count + 2 * quotes else { return span }
        return span.part(at: offset + quotes, length: length)
    }
}
