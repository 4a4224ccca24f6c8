/// A line of a script from which sbatch takes an option.
enum SlurmDirective {
    /// sbatch splits such a line at blanks, takes quotes away and what follows a `#`, and a backslash keeps the character
    /// after it from all of that.
    static func line(_ option: String) throws(ExportProblem) -> String {
        guard !option.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw .brokenRequest(option)
        }
        return "#SBATCH "
            + option.unicodeScalars.map { scalar in
                scalar.isASCII && !plain.contains(scalar) ? "\\\(scalar)" : String(Character(scalar))
            }.joined()
    }

    private static let plain = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:,@=%*[]()&|!<>{}~^?".unicodeScalars)
}
