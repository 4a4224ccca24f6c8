/// The problems of an output's template, or of a text with fields.
package enum TemplateProblem: Hashable, Sendable {
    package enum Use: Hashable, Sendable {
        case path
        /// Words on pictures.
        case words
    }

    // Fields.
    case unclosedField(Use)
    case strayBrace(Use)
    case doubledBrace(Use)
    case emptyField
    /// A field of output names that is known only when the filters are.
    case laterField(String)
    case unknownField(String, nearest: String?, known: [String])
    case badDigits(String, field: String)

    // The path.
    case folder
    case noExtension(example: String)
    case extensionWithoutDot
    case unknownExtension(String, nearest: String?, known: [String])
    /// The format needs a program that this machine does not have.
    case missingFormat(String, reason: String, remedy: String)
}

extension TemplateProblem {
    var words: Words {
        switch self {
        case .unclosedField(let use):
            Words(
                "no '}' closes this '{'", remedy: "write a field like {stem}; \(use.noun) cannot have braces of its own"
            )
        case .strayBrace(let use):
            Words(
                "no '{' opens this '}'", remedy: "write a field like {stem}; \(use.noun) cannot have braces of its own")
        case .doubledBrace(let use):
            Words(
                "doubled braces have no meaning here",
                remedy: "write a field in single braces, {stem}; \(use.noun) cannot have braces of its own")
        case .laterField(let name):
            Words(
                "'{\(name)}' is known only when all filters are, and is no field of a text",
                remedy: "remove it; names of outputs can have it")
        case .emptyField:
            Words("a field without a name", remedy: "write a field like {stem}")
        case .unknownField(let name, let nearest, let known):
            Words(
                "unknown field '{\(name.cut(to: 40))}'",
                remedy: nearest.map { "did you mean {\($0)}?" }
                    ?? "the fields are \(known.map { "{\($0)}" }.enumeration)")
        case .badDigits(let text, let field):
            Words(
                "'{\(field):\(text.cut(to: 20))}' does not say how many digits",
                remedy: "write {\(field)}, or {\(field):04} for 0001, 0002, …")

        case .folder:
            Words("the output is a folder, not a file", remedy: "add a file's name, such as {stem}.png")
        case .noExtension(let example):
            Words("the name has no extension, which decides the format", remedy: "write it like \(example)")
        case .extensionWithoutDot:
            Words("no dot stands before the extension", remedy: "write .{ext}")
        case .unknownExtension(let text, let nearest, let known):
            Words(
                "no format is written to '.\(text.cut(to: 40))'",
                remedy: (nearest.map { "did you mean '.\($0)'? " } ?? "")
                    + "the extensions are \(known.map { ".\($0)" }.enumeration)")
        case .missingFormat(let text, let reason, let remedy):
            Words("'.\(text.cut(to: 40))' cannot be written here: \(reason)", remedy: remedy)
        }
    }
}

extension TemplateProblem.Use {
    fileprivate var noun: String {
        switch self {
        case .path: "a path"
        case .words: "a text"
        }
    }
}
