import JobModel

/// A body that is not what the API expects. Nothing has happened.
package struct BodyError: Error, Hashable, Sendable {
    package enum Problem: Hashable, Sendable {
        case tooLarge(limit: Int)
        /// It is no JSON.
        case malformed(String, at: TextPosition)
        case unknownKey(String, known: [String])
        case missingKey(String)
        case wrongType(found: String, expected: String)
        /// Words of the value's own type, which name it.
        case refused(String)
        /// The same, but they do not name it.
        case invalid(String)
    }

    package let problem: Problem
    /// Where the value is in the body: `after[0].job`. Empty for the whole body.
    package let path: String

    package init(_ problem: Problem, path: String = "") {
        self.problem = problem
        self.path = path
    }

    /// Whether it could not be read at all. The API answers with 413 for a body that is too large, with 400 for one that
    /// is no JSON, and otherwise with 422.
    package var status: Int {
        switch problem {
        case .tooLarge: 413
        case .malformed: 400
        case .unknownKey, .missingKey, .wrongType, .refused, .invalid: 422
        }
    }

    /// Where the JSON is wrong. Nil if it is JSON.
    package var position: TextPosition? { if case .malformed(_, let position) = problem { position } else { nil } }

    /// One line that says where and what. Lines that begin with `   = ` may follow, and say what to do.
    package var message: String {
        switch problem {
        case .tooLarge(let limit): "the body has more than \(limit) bytes"
        case .malformed(let words, let position):
            "the body cannot be read as JSON: line \(position.line), column \(position.column): \(words)"
        case .unknownKey(let key, let known):
            "\(place)there is no key '\(Self.shown(key))'"
                + (known.isEmpty ? "" : "\n   = the keys are \(known.joined(separator: ", "))")
        case .missingKey(let key): "\(place)the key '\(key)' is missing"
        case .wrongType(let found, let expected): "\(place)\(expected) is expected, and this is \(found)"
        case .refused(let words): words
        case .invalid(let words): place + words
        }
    }

    private var place: String { path.isEmpty ? "" : "\(Self.shown(path)): " }

    static func shown(_ text: String) -> String { VisibleText.line(String(text.prefix(200))) }
}
