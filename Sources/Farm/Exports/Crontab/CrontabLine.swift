/// A line of a user's crontab that starts a program with arguments of any characters.
///
/// Two programs read it. Cron takes `\%` for a percent sign, and a bare `%` for the command's end, also within quotes.
/// Then `sh` reads the rest.
package struct CrontabLine: Hashable, Sendable {
    package let text: String

    /// The longest command in bytes that Debian's cron accepts. It ignores a whole crontab with a longer one.
    package static let longestCommand = 998

    /// - Parameters:
    ///   - program: The absolute path of the program.
    ///   - arguments: Its arguments.
    ///   - folder: The absolute folder that the program starts in. Nil for the user's home.
    package init(
        schedule: CronSchedule, program: String, arguments: [String], folder: String? = nil
    ) throws(ExportProblem) {
        precondition(program.hasPrefix("/"), "cron's search path is not ours")
        let words = [program] + arguments
        for word in words + [folder ?? ""] where word.utf8.contains(UInt8(ascii: "\n")) { throw .lineBreak(word) }
        let command =
            (folder.map { "cd \(Self.escaped($0)) && " } ?? "") + words.map { Self.escaped($0) }.joined(separator: " ")
        guard command.utf8.count <= Self.longestCommand else { throw .tooLong(bytes: command.utf8.count) }
        text = "\(schedule.text) \(command)"
    }

    /// A word that cron and sh turn back into the argument.
    static func escaped(_ word: String) -> String {
        guard !word.isEmpty else { return "''" }
        let isPlain = word.utf8.allSatisfy(ShellWord.plain.contains)
        guard !isPlain else { return word.replacing("%", with: #"\%"#) }
        var result = "'"
        var isAfterBackslash = false
        for scalar in word.unicodeScalars {
            // All crons take `\%` for a percent sign, and some take two backslashes for one. So the quotes are closed
            // and opened again behind a backslash of the word.
            if isAfterBackslash, scalar == "\\" || scalar == "%" { result += "''" }
            isAfterBackslash = scalar == "\\"
            switch scalar {
            case "'": result += #"'\''"#
            case "%": result += #"\%"#
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "'"
    }
}
