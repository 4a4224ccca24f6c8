/// A word for sh, whatever characters it contains.
package enum ShellWord {
    /// The word itself if sh gives none of its characters a meaning. Otherwise the word in single quotes.
    package static func quoted(_ word: String) -> String {
        if !word.isEmpty, word.utf8.allSatisfy(plain.contains) { return word }
        return "'\(word.replacing("'", with: #"'\''"#))'"
    }

    package static func joined(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

    /// Characters without a meaning to sh, anywhere in a word.
    static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:,@=%".utf8)
}
