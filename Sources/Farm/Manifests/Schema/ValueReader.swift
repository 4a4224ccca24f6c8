/// Gives a node the type that its place in the schema has, or reports why it cannot.
///
/// A scalar's type comes from the reader alone: `no`, `1e3` and `007` are texts to ``text`` and only ``number(in:unit:)``
/// asks whether they are numbers; quotes make no difference. Readers are built from others with ``map(_:)``,
/// ``list(of:)`` and ``or(_:_:else:)``, and a reader for a type of one's own is a closure.
package struct ValueReader<Value> {
    /// The node, the name of what it is given for (as messages print it), and the log.
    package typealias Body = (SyntaxNode, String, DiagnosticLog) -> Value?

    private let body: Body

    package init(_ body: @escaping Body) {
        self.body = body
    }

    /// The typed value. Nil when there is none; then the log has the problem.
    package func read(_ node: SyntaxNode, for name: String, log: DiagnosticLog) -> Value? {
        // A hole in the tree is reported already.
        node.isUnreadable ? nil : body(node, name, log)
    }

    package func map<Result>(_ transform: @escaping (Value) -> Result) -> ValueReader<Result> {
        ValueReader<Result> { node, name, log in read(node, for: name, log: log).map(transform) }
    }

    /// A reader of scalars: `parse` types the text, or says what is wrong with it.
    ///
    /// - Parameter wanted: what the place takes, with an article, for messages about lists and mappings.
    package static func scalar(
        _ wanted: String, _ parse: @escaping (_ text: String, _ name: String) -> Result<Value, ValueFault>
    ) -> ValueReader {
        ValueReader { node, name, log in
            guard let text = node.text else {
                log.error(.value(.wrongKind(name: name, wanted: wanted, found: node.kindName)), at: node.span)
                return nil
            }
            switch parse(text, name) {
            case .success(let value):
                return value
            case .failure(let fault):
                log.error(.value(fault.problem), at: node.span)
                return nil
            }
        }
    }

    /// `value` for the text `word`; any other node is read by `other`.
    package static func or(_ word: String, _ value: Value, else other: ValueReader) -> ValueReader {
        ValueReader { node, name, log in
            node.text == word ? value : other.read(node, for: name, log: log)
        }
    }
}

/// Carries a problem through a `Result`.
package struct ValueFault: Error {
    package let problem: ValueProblem

    package init(_ problem: ValueProblem) {
        self.problem = problem
    }
}

extension SyntaxNode {
    /// For messages, with an article.
    package var kindName: String {
        switch content {
        case .scalar: "a text"
        case .sequence: "a list"
        case .mapping: "a mapping"
        case .unreadable: "nothing"
        }
    }
}
