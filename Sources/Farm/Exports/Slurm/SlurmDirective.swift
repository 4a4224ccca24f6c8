/// A line of a script from which sbatch takes an option.
enum SlurmDirective {
    /// sbatch splits such a line at blanks, and takes what follows a `#` for a comment, unless they are within quotes. There, too, a
    /// backslash stands for the character after it. (Slurm 22.05; outside of quotes a backslash does not keep a blank.)
    static func line(_ option: String) throws(ExportProblem) -> String {
        guard !option.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw .brokenRequest(option)
        }
        guard !option.unicodeScalars.allSatisfy(plain.contains) else { return "#SBATCH \(option)" }
        let escaped = option.replacing(#"\"#, with: #"\\"#).replacing("\"", with: #"\""#)
        return "#SBATCH \"\(escaped)\""
    }

    private static let plain = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:,@=%*[]()&|!<>{}~^?".unicodeScalars)
}
