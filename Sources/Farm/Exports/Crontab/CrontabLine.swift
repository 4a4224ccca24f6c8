/// A line of a user's crontab that starts a program with arguments, whatever characters they hold.
///
/// Two readers are in between. Cron takes `\%` for a percent sign, and a bare `%` for the command's end, within quotes
/// too. Then `sh` reads what is left.
package struct CrontabLine: Hashable, Sendable {
    package let text: String

    /// The most bytes of a command that Debian's cron takes; with a longer one it ignores the whole crontab.
    package static let longestCommand = 998

    /// - Parameters:
    ///   - program: its absolute path.
    ///   - arguments: what comes after it.
    ///   - folder: the absolute one that the program starts in; nil for the user's home.
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

    /// A word as cron and sh turn it into an argument.
    static func escaped(_ word: String) -> String {
        guard !word.isEmpty else { return "''" }
        let isPlain = word.utf8.allSatisfy(ShellWord.plain.contains)
        guard !isPlain else { return word.replacing("%", with: #"\%"#) }
        var result = "'"
        var isAfterBackslash = false
        for scalar in word.unicodeScalars {
            // Some crons take two backslashes for one, others do not, and all of them take `\%` for a percent sign:
            // a backslash of the word is kept apart from both by an end and a beginning of quotes.
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
