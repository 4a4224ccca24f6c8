import ArgumentParser
import FoundationEssentials
import Glibc
import JobModel
import Manifests
import Planning
import Reference
import Terminals

/// Checks a command line before the parser does, for mistakes that the parser misses or describes wrongly.
struct ArgumentCheck {
    /// The arguments for the parser, without `--color`.
    let arguments: [String]
    let color: ColorChoice

    /// - Parameter arguments: without the program's name.
    init(_ arguments: [String]) throws(FarmError) {
        let (rest, color) = try Self.takingColor(from: arguments)
        self.color = color
        let arguments = Self.withOrphans(try Self.refusingOrphanValue(rest))
        guard let first = arguments.first, !first.hasPrefix("-") else {
            self.arguments = arguments
            return
        }
        if first == "help" {
            // The parser would print the help of the topic's command, which says nothing about the topic.
            if arguments.count == 2, HelpTopic(rawValue: arguments[1]) != nil {
                self.arguments = [arguments[1]]
                return
            }
            _ = try NamedCommand(arguments.dropFirst().prefix { !$0.hasPrefix("-") })
            self.arguments = arguments
            return
        }
        let named = try NamedCommand(arguments.prefix { !$0.hasPrefix("-") })
        let options = try Self.options(Array(arguments[named.depth...]), of: named.type)
        self.arguments = arguments[..<named.depth] + options
    }

    /// Takes `--color` out, which all commands have. The parser knows no option of all commands.
    private static func takingColor(
        from arguments: [String]
    ) throws(FarmError) -> (rest: [String], color: ColorChoice) {
        var (rest, index): ([String], Int) = ([], 0)
        var given: String?
        while index < arguments.count, arguments[index] != "--" {
            let (name, value) = split(arguments[index])
            // What follows this option is its value, whatever it looks like.
            let count = name == "--slurm-arg" && value == nil || name == "--color" && value == nil ? 2 : 1
            let taken = arguments[index..<min(index + count, arguments.count)]
            index += count
            guard name == "--color" else {
                rest += taken
                continue
            }
            guard let value = value ?? taken.dropFirst().first else {
                throw FarmError(.usage, "--color needs a value: auto, always or never")
            }
            if let given { throw repeated("--color", given, value) }
            given = value
        }
        rest += arguments[min(index, arguments.count)...]
        guard let given else { return (rest, .auto) }
        guard let color = ColorChoice(rawValue: given) else {
            throw FarmError(.usage, "--color takes auto, always or never, not '\(PathText.visible(given))'")
        }
        return (rest, color)
    }

    private static func repeated(_ option: String, _ before: String, _ value: String) -> FarmError {
        FarmError(
            .usage,
            "\(option) is given twice, as '\(PathText.visible(before))' and as '\(PathText.visible(value))': it takes one "
                + "value; leave one of them out")
    }

    private static func refusingOrphanValue(_ arguments: [String]) throws(FarmError) -> [String] {
        for (option, value) in zip(arguments, arguments.dropFirst())
        where option == "--delete-orphans" && value == "all" {
            throw FarmError(.usage, "--delete-orphans all: write --delete-orphans=all, with '='")
        }
        guard let wrong = arguments.first(where: { $0.hasPrefix("--delete-orphans=") && $0 != "--delete-orphans=all" })
        else { return arguments }
        throw FarmError(.usage, "\(wrong): only --delete-orphans, or --delete-orphans=all to remove even many")
    }

    /// See ``RunCommand``'s flag for all orphans.
    static func withOrphans(_ arguments: [String]) -> [String] {
        arguments.map { $0 == "--delete-orphans=all" ? "--delete-orphans-all" : $0 }
    }

    /// Refuses an option that is given twice, because the parser would silently take the last one. A negative number
    /// becomes an option's value, so that the error names that option. The parser would take it for another option.
    private static func options(_ arguments: [String], of type: any ParsableCommand.Type) throws(FarmError) -> [String]
    {
        if needNoDescription(arguments) { return arguments }
        let command = Command(type)
        var (result, index): ([String], Int) = ([], 0)
        var given: [String: String] = [:]
        while index < arguments.count {
            let argument = arguments[index]
            if argument == "--" { return result + arguments[index...] }
            index += 1
            let known = command.option(argument)
            guard let option = known, option.kind == "option" else {
                if known == nil {
                    try refuseDryRun(argument, type._commandName)
                    try refuseDashedName(argument, command, type._commandName)
                }
                result.append(argument)
                continue
            }
            let (name, value) = Self.split(argument)
            let next = value ?? (index < arguments.count ? arguments[index] : "")
            if let before = given.updateValue(next, forKey: option.name), !option.isRepeating {
                throw repeated(name, before, next)
            }
            if value == nil, index < arguments.count {
                index += 1
                let isNegative = next.hasPrefix("-") && Self.isNumber(next.dropFirst())
                result += isNegative && name.hasPrefix("--") ? ["\(name)=\(next)"] : [argument, next]
            } else {
                result.append(argument)
            }
        }
        return result
    }

    /// Whether nothing can be wrong with the arguments that only a description of the command would show: no option comes twice, none
    /// has a negative number or is a name with a hyphen, and none asks for a dry run. To describe a command takes as long as to render a small picture.
    private static func needNoDescription(_ arguments: [String]) -> Bool {
        // `--` may be the value of an option.
        let dashed = arguments.filter { $0.hasPrefix("-") && $0 != "--" }
        let names = Set(dashed.map { split($0).name })
        // An option's short name is the first letter of its long one.
        let mayBeSame = names.contains { name in
            name.count == 2 && names.contains { $0.hasPrefix("-\(name)") }
        }
        return names.count == dashed.count && !mayBeSame && names.isDisjoint(with: dryRun)
            && !dashed.contains { isNumber($0.dropFirst()) || isDashedName($0) }
    }

    private static let dryRun = ["-n", "--dry-run"]

    /// Commands whose effect `penumbra plan` foretells.
    private static let planned = ["run", "submit", "prepare"]

    /// Other programs call it so.
    private static func refuseDryRun(_ argument: String, _ command: String) throws(FarmError) {
        guard dryRun.contains(argument), planned.contains(command) else { return }
        throw FarmError(
            .usage,
            """
            penumbra \(command) has no option \(argument)
               = 'penumbra plan' shows what would be rendered, and why, and writes nothing; it takes the same manifests
            """)
    }

    /// A file may have a name that begins with a hyphen, and a shell puts it in place of `*.jpg`. The parser would read its letters as short
    /// options, and an `h` among them as a request for help.
    private static func refuseDashedName(
        _ argument: String, _ command: Command, _ name: String
    ) throws(FarmError) {
        guard isDashedName(argument), !command.hasFlags(argument.dropFirst()) else { return }
        let shown = PathText.visible(argument)
        throw FarmError(
            .usage,
            """
            penumbra \(name) has no option \(shown)
               = if it is a file, write ./\(shown); 'penumbra \(name) --help' lists the options
            """)
    }

    /// Whether an argument has a single hyphen and more than a letter behind it.
    private static func isDashedName(_ argument: String) -> Bool {
        argument.hasPrefix("-") && !argument.hasPrefix("--") && split(argument).name.count > 2
    }

    /// Whether a text begins like a number, or like a special value.
    private static func isNumber(_ text: Substring) -> Bool {
        text.drop { $0 == "." }.first?.isNumber == true || ["inf", "nan"].contains(text.prefix(3).lowercased())
    }

    private static func split(_ argument: String) -> (name: String, value: String?) {
        guard let sign = argument.firstIndex(of: "=") else { return (argument, nil) }
        return (String(argument[..<sign]), String(argument[argument.index(after: sign)...]))
    }
}

/// The command that words name.
private struct NamedCommand {
    let type: any ParsableCommand.Type
    /// How many words name it.
    let depth: Int

    init(_ words: ArraySlice<String>) throws(FarmError) { try self.init(words, below: Penumbra.self, "") }

    /// - Parameter parent: the command as the user writes it; empty for the program.
    private init(
        _ words: ArraySlice<String>, below command: any ParsableCommand.Type, _ parent: String
    ) throws(FarmError) {
        let commands = command.configuration.subcommands
        guard !commands.isEmpty, let word = words.first else {
            (type, depth) = (command, 0)
            return
        }
        guard let next = commands.first(where: { $0._commandName == word }) else {
            let nearest = Suggestion.nearest(to: word, among: commands.map { $0._commandName })
            let isManifest = parent.isEmpty && [".yaml", ".yml"].contains { word.hasSuffix($0) }
            let meant =
                isManifest ? "did you mean 'penumbra run \(word)'? " : nearest.map { "did you mean '\($0)'? " } ?? ""
            let owner = parent.isEmpty ? "penumbra" : "penumbra \(parent)"
            throw FarmError(
                .usage,
                "\(PathText.visible(owner)): no command is called '\(PathText.visible(word))'\n   = \(meant)'\(owner) --help' lists the commands"
            )
        }
        let inner = try NamedCommand(
            words.dropFirst(), below: next, parent.isEmpty ? word : "\(parent) \(word)")
        (type, depth) = (inner.type, inner.depth + 1)
    }
}

private struct Tool: Decodable {
    let command: Command
}

/// A command as the parser describes it.
private struct Command: Decodable {
    struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String
        }

        let kind: String
        let isRepeating: Bool
        var names: [Name]?

        /// The first of its names.
        var name: String { names?.first?.name ?? "" }

        func isNamed(_ text: Substring) -> Bool {
            names?.contains { text == ($0.kind == "long" ? "--\($0.name)" : "-\($0.name)") } ?? false
        }
    }

    var arguments: [Argument]?

    /// Describes one command. A description of all of them would take many times as long.
    init(_ type: any ParsableCommand.Type) {
        // The parser itself writes this description.
        arguments = try? JSONDecoder().decode(Tool.self, from: Data(type._dumpHelp().utf8)).command.arguments
    }

    /// Whether each letter is a flag of one letter. A request for help stands by itself.
    func hasFlags(_ letters: Substring) -> Bool {
        letters.allSatisfy { letter in letter != "h" && option("-\(letter)")?.kind == "flag" }
    }

    func option(_ argument: String) -> Argument? {
        guard argument.hasPrefix("-") else { return nil }
        let name = argument.prefix { $0 != "=" }
        return arguments?.first { $0.isNamed(name) }
    }
}

/// The bytes of the command line. Swift's strings are UTF-8, but file names need not be.
enum RawArguments {
    /// The bytes of an argument that the parser returned as text.
    static func bytes(of argument: String) -> [UInt8] {
        // Swift has put this character in place of bytes that are not UTF-8.
        guard argument.unicodeScalars.contains("\u{FFFD}") else { return Array(argument.utf8) }
        let raw = all.first { String(decoding: $0, as: UTF8.self) == argument }
        return raw ?? Array(argument.utf8)
    }

    private static var all: [[UInt8]] {
        (0..<Int(CommandLine.argc)).compactMap { index in
            CommandLine.unsafeArgv[index].map { start in
                UnsafeBufferPointer(start: start, count: strlen(start)).map { UInt8(bitPattern: $0) }
            }
        }
    }
}
