/// A command line argument that replaces one value of a file: `filters[0].gaussian.radius=14`.
///
///     path  = key { '.' key | '[' index ']' }        indexes count from 0
///     value = as it would stand behind 'key: '
package struct Override: Hashable, Sendable {
    /// More than the depth of every schema; bounds the recursion into the tree.
    package static let pathLength = 12

    package let argument: String
    /// How messages name the override.
    package let name: String

    /// An argument of the flag `--set`.
    package init(_ argument: String) {
        self.init(argument, name: "--set \(argument)")
    }

    /// An assignment from another place: an environment variable, a flag of its own.
    package init(_ argument: String, name: String) {
        self.argument = argument
        self.name = name
    }
}

/// An override that was parsed.
struct Assignment {
    enum Step {
        case key(String)
        /// As written: it may be larger than every integer.
        case index(String)
    }

    /// A step with the part of the argument that it stands in.
    struct Place {
        let step: Step
        let span: SourceSpan
    }

    let path: [Place]
    let value: SyntaxNode
}
