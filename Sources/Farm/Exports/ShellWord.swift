/// A word as sh takes it, whatever characters it has.
package enum ShellWord {
    /// As it is where no character of it means something to sh, and else within single quotes.
    package static func quoted(_ word: String) -> String {
        if !word.isEmpty, word.utf8.allSatisfy(plain.contains) { return word }
        return "'\(word.replacing("'", with: #"'\''"#))'"
    }

    package static func joined(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

    /// What means nothing to sh, anywhere in a word.
    static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:,@=%".utf8)
}
