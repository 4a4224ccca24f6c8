/// The problems of an output's template.
package enum TemplateProblem: Hashable, Sendable {
    // Fields.
    case unclosedField
    case strayBrace
    case doubledBrace
    case emptyField
    case unknownField(String, nearest: String?, known: [String])
    case badDigits(String, field: String)

    // The path.
    case folder
    case noExtension(example: String)
    case extensionWithoutDot
    case unknownExtension(String, nearest: String?, known: [String])
}

extension TemplateProblem {
    var words: Words {
        switch self {
        case .unclosedField:
            Words("no '}' closes this '{'", remedy: "write a field like {stem}; a path cannot have braces of its own")
        case .strayBrace:
            Words("no '{' opens this '}'", remedy: "write a field like {stem}; a path cannot have braces of its own")
        case .doubledBrace:
            Words(
                "doubled braces have no meaning here",
                remedy: "write a field in single braces, {stem}; a path cannot have braces of its own")
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
        }
    }
}
