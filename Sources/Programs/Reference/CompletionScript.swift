/// A completion script of the argument parser, with three things that it lacks: names behind `help`, no blank behind a
/// proposal that ends with `=`, and quick conditions for fish.
package struct CompletionScript: Sendable {
    package enum Shell: String, CaseIterable, Sendable {
        case bash
        case zsh
        case fish
    }

    /// A command that `help` can explain, and its own commands.
    package struct Command: Sendable {
        package let name: String
        package let commands: [Command]

        package init(_ name: String, _ commands: [Command] = []) {
            self.name = name
            self.commands = commands
        }
    }

    package let text: String

    /// - Parameters:
    ///   - generated: The script as the argument parser generates it.
    ///   - program: The program's name.
    ///   - commands: All commands that help lists.
    package init(_ generated: String, for shell: Shell, program: String, commands: [Command]) {
        let lists = Self.lists(commands)
        switch shell {
        case .bash: text = Self.bash(generated, program, lists)
        case .zsh: text = Self.zsh(generated, program, lists)
        case .fish: text = Self.fish(generated, program, lists)
        }
    }

    /// The names behind `help`, by the names that are there already.
    private static func lists(_ commands: [Command], behind path: [String] = []) -> [(path: [String], names: [String])]
    {
        guard !commands.isEmpty else { return [] }
        return [(path, commands.map(\.name))] + commands.flatMap { lists($0.commands, behind: path + [$0.name]) }
    }

    /// The script belongs into a folder of completions, or is sourced, so it has no `#!` line.
    private static func bash(
        _ generated: String, _ program: String, _ lists: [(path: [String], names: [String])]
    ) -> String {
        var lines = generated.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.first?.hasPrefix("#!") == true { lines.removeFirst() }
        let registration = "complete -o filenames -F _\(program) \(program)"
        let cases = lists.map { list in
            "        '\(list.path.joined(separator: " "))') names='\(list.names.joined(separator: " "))' ;;"
        }
        let wrapper =
            """
            _\(program)_words() {
                _\(program) "${@}"
                if [[ "${COMP_WORDS[1]}" = help ]]; then
                    local names=''
                    case "${COMP_WORDS[*]:2:COMP_CWORD-2}" in
            \(cases.joined(separator: "\n"))
                    esac
                    COMPREPLY+=($(compgen -W "${names}" -- "${2}"))
                fi
                # A value follows: no blank.
                if [[ "${#COMPREPLY[@]}" -eq 1 && "${COMPREPLY[0]}" = *= ]]; then
                    compopt -o nospace
                fi
            }

            complete -o filenames -F _\(program)_words \(program)
            """
        return lines.map { $0 == registration ? wrapper : $0 }.joined(separator: "\n")
    }

    private static func zsh(
        _ generated: String, _ program: String, _ lists: [(path: [String], names: [String])]
    ) -> String {
        let cases = lists.map { list in
            "        '\(list.path.joined(separator: " "))') names=(\(list.names.joined(separator: " "))) ;;"
        }
        // `words` has the words behind 'help' only from its second on, because the commands were shifted away.
        let choice =
            """
            _\(program)_help_names() {
                local -a names
                case "${(j: :)words[2,CURRENT-1]}" in
            \(cases.joined(separator: "\n"))
                esac
                compadd -a names
            }

            _\(program)_help() {
            """
        return generated.replacing("_\(program)_help() {", with: choice)
            .replacing("'*:subcommands:'", with: "'*:command:_\(program)_help_names'")
    }

    private static func fish(
        _ generated: String, _ program: String, _ lists: [(path: [String], names: [String])]
    ) -> String {
        let lines = lists.map { list in
            let words = ([program, "help"] + list.path).joined(separator: " ")
            // The tokens before the cursor have to be exactly these.
            return "complete -c '\(program)' -n 'test (string join -- \" \" (commandline -opc)) = \"\(words)\"' "
                + "-fa '\(list.names.joined(separator: " "))'"
        }
        return quick(generated, program) + (generated.hasSuffix("\n") ? "" : "\n") + lines.joined(separator: "\n")
    }

    /// The script for fish, with cheap conditions before the expensive ones.
    ///
    /// Each line has a condition that reads the whole command line, which takes a millisecond, and there are hundreds of lines.
    /// Fish tests the conditions of a line in their order and stops at the first that fails. It tests equal ones once.
    private static func quick(_ generated: String, _ program: String) -> String {
        let command = "complete -c '\(program)' -n '"
        let isOption = "string match -q -- \"-*\" x (commandline -ct) (commandline -opc)[-1]"
        return generated.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let condition = line.dropFirst(command.count)
            guard line.hasPrefix(command), condition.hasPrefix("__\(program)_should_offer_completions_for_"),
                let words = condition.split(separator: "\"", maxSplits: 2).dropFirst().first?.split(separator: " "),
                let last = words.last
            else { return String(line) }
            var quick = ""
            if condition.hasPrefix("__\(program)_should_offer_completions_for_flags_or_options ") {
                quick += "\(isOption)' -n '"
            }
            if words.count > 1 { quick += "contains -- \(last) (commandline -opc)' -n '" }
            return command + quick + condition
        }.joined(separator: "\n")
    }
}
