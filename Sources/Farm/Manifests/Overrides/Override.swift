/// A command line argument that replaces one value of a file: `filters[0].gaussian.radius=14`.
///
///     path  = key { '.' key | '[' index ']' }        indexes count from 0
///     value = as it would stand behind 'key: '
package struct Override: Hashable, Sendable {
    /// More than the depth of every schema; bounds the recursion into the tree.
    package static let pathLength = 12

    package let argument: String
    /// The flag that the argument was given to, for messages.
    package let flag: String

    package init(_ argument: String, flag: String = "--set") {
        self.argument = argument
        self.flag = flag
    }

    /// How messages name the override.
    var name: String { "\(flag) \(argument)" }
}

/// An override that was parsed.
struct Assignment {
    enum Step {
        case key(String)
        /// As written: it may be larger than every integer.
        case index(String)
    }

    let path: [(step: Step, span: SourceSpan)]
    let value: SyntaxNode
}
