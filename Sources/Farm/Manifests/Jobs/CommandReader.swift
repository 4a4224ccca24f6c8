import Catalogs

extension ValueReader where Value == ProgramCommand {
    /// A program of the settings, alone or with its arguments: `denoise`, `[denoise, -s, "3"]`.
    static func command(of programs: [AllowedProgram]) -> ValueReader {
        ValueReader { node, name, log in
            let items: [SyntaxNode]
            switch node.content {
            case .scalar: items = [node]
            case .sequence(let nodes): items = nodes
            case .mapping, .unreadable:
                if !node.isUnreadable {
                    let wanted = "a program and its arguments"
                    log.error(.value(.wrongKind(name: name, wanted: wanted, found: node.kindName)), at: node.span)
                }
                return nil
            }
            guard let first = items.first else {
                log.error(.value(.emptyList(name: name)), at: node.span)
                return nil
            }
            let words = items.enumerated().map { index, item in
                text.read(item, for: "\(name)[\(index)]", log: log)
            }
            guard !words.contains(nil), let program = words[0] else { return nil }
            let arguments = words.dropFirst().compactMap(\.self)
            if let problem = problem(program, arguments, programs) {
                log.error(.filter(problem), at: problem.isOfProgram ? first.span : node.span)
                return nil
            }
            guard case .usable(let sha256) = programs.first(where: { $0.name == program })?.file else { return nil }
            return ProgramCommand(program: program, arguments: arguments, sha256: sha256)
        }
    }

    private static var text: ValueReader<String> { .text }

    private static func problem(
        _ name: String, _ arguments: [String], _ programs: [AllowedProgram]
    ) -> FilterProblem? {
        guard let program = programs.first(where: { $0.name == name }) else {
            return .programNotAllowed(
                name, sameFile: programs.first { $0.path == name }?.name,
                nearest: Suggestion.nearest(to: name, among: programs.map(\.name)), allowed: programs.map(\.name))
        }
        if case .unusable(let reason) = program.file {
            return .programUnusable(name, path: program.path, reason: reason)
        }
        let bytes = arguments.reduce(name.utf8.count) { $0 + $1.utf8.count + 1 }
        guard arguments.count <= ProgramCommand.mostArguments, bytes <= ProgramCommand.mostBytes else {
            return .longCommand(arguments: arguments.count, bytes: bytes)
        }
        // The system ends an argument there.
        return arguments.contains { $0.utf8.contains(0) } ? .zeroInArgument : nil
    }
}

extension FilterProblem {
    /// Whether the program's name is to blame, and not the whole command.
    fileprivate var isOfProgram: Bool {
        switch self {
        case .programNotAllowed, .programUnusable: true
        default: false
        }
    }
}

extension SyntaxNode {
    /// A mapping with this value of `key`, for a filter whose parameters may be left out: `run: [denoise, -s, "3"]`. The node itself
    /// if it is a mapping already.
    func shortFor(_ key: String) -> SyntaxNode {
        switch content {
        case .scalar, .sequence:
            SyntaxNode(.mapping(.init(entries: [.init(key: key, keySpan: span, value: self)])), span: span)
        case .mapping, .unreadable: self
        }
    }
}
