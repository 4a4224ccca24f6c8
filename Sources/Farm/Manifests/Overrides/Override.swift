/// A command line argument that replaces one value of a file: `filters[0].gaussian.radius=14`.
///
///     path  = key { '.' key | '[' index ']' }        indexes count from 0
///     value = as it would stand behind 'key: '
package struct Override: Hashable, Sendable {
    /// More than the depth of every schema. It limits the recursion into the tree.
    package static let pathLength = 12

    package let argument: String
    /// The override's name in messages.
    package let name: String

    /// An argument of the flag `--set`.
    package init(_ argument: String) {
        self.init(argument, name: "--set \(argument)")
    }

    /// An assignment from elsewhere, such as an environment variable or a flag of its own.
    package init(_ argument: String, name: String) {
        self.argument = argument
        self.name = name
    }
}

/// A parsed override.
struct Assignment {
    enum Step {
        case key(String)
        /// As it was written. It may be too large for an integer.
        case index(String)
    }

    /// A step, and its position in the argument.
    struct Component {
        let step: Step
        let span: SourceSpan
    }

    let path: [Component]
    let value: SyntaxNode
}

/// Parses the argument of an override.
struct AssignmentParser {
    private var cursor: LineCursor

    static func parse(_ text: SourceText) throws(Diagnostic) -> Assignment {
        var parser = AssignmentParser(cursor: LineCursor(text, line: 1, range: text.lines[0]))
        let path = try parser.parsePath()
        return Assignment(path: path, value: try parser.parseValue())
    }

    private mutating func parsePath() throws(Diagnostic) -> [Assignment.Component] {
        var path = [try parseKey()]
        while !cursor.take("=") {
            if cursor.isAtEnd { throw cursor.error(.override(.noEqualsSign)) }
            if path.count == Override.pathLength { throw cursor.error(.override(.pathTooLong)) }
            if cursor.take(".") {
                path.append(try parseKey())
            } else if cursor.take("[") {
                path.append(try parseIndex())
            } else {
                throw cursor.error(.override(.noKey))
            }
        }
        return path
    }

    private mutating func parseKey() throws(Diagnostic) -> Assignment.Component {
        let start = cursor.index
        while cursor.peek()?.isWordPart == true { cursor.advance() }
        let key = cursor.text.string(start..<cursor.index)
        guard key.isWord else { throw cursor.error(.override(.noKey), at: start..<max(cursor.index, start)) }
        guard key.utf8.count <= SyntaxLimits.keyLength else {
            throw cursor.error(.block(.keyTooLong), at: start..<cursor.index)
        }
        return Assignment.Component(step: .key(key), span: cursor.span(start..<cursor.index))
    }

    private mutating func parseIndex() throws(Diagnostic) -> Assignment.Component {
        let start = cursor.index
        while cursor.peek()?.isDigit == true { cursor.advance() }
        let digits = start..<cursor.index
        guard !digits.isEmpty, cursor.take("]") else { throw cursor.error(.override(.badIndex)) }
        return Assignment.Component(step: .index(cursor.text.string(digits)), span: cursor.span(digits))
    }

    private mutating func parseValue() throws(Diagnostic) -> SyntaxNode {
        cursor.skipSpaces()
        if cursor.isAtEnd { throw cursor.error(.override(.noValue)) }
        var scanner = InlineScanner(cursor, depth: Override.pathLength)
        return try scanner.readLine(behind: .key)
    }
}
