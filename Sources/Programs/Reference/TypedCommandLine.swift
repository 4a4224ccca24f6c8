/// The words that stand on a command line while a shell asks for proposals.
///
/// Shells pass words as they are written, with their quotes. Bash also divides them at `=` and `:`.
package struct TypedCommandLine: Hashable, Sendable {
    private let words: [String]
    /// The place of the word that is being written.
    private let cursor: Int
    private let home: String?

    /// - Parameter home: The folder that `~` stands for.
    package init(_ words: [String], cursor: Int, home: String?) {
        self.words = words
        self.cursor = cursor
        self.home = home
    }

    /// The word after a command, such as the subcommand of `queue`. Nil if there is none.
    package func word(after command: String) -> String? {
        words.firstIndex(of: command).flatMap { words.indices.contains($0 + 1) ? words[$0 + 1] : nil }
    }

    /// Words that are complete, such as the numbers of jobs that are named already.
    package var complete: Set<String> {
        Set(words.enumerated().lazy.filter { $0.offset != cursor }.map(\.element))
    }

    /// The value of an option, such as `--server`. Nil if it is missing, or if only the shell can tell what it is.
    package func value(of option: String) -> String? {
        guard let place = words.lastIndex(where: { $0 == option || $0.hasPrefix("\(option)=") }) else { return nil }
        if words[place] != option { return plain(String(words[place].dropFirst(option.count + 1))) }
        var next = place + 1
        if next < words.count, words[next] == "=" { next += 1 }
        guard next < words.count, next != cursor else { return nil }
        // http : //127.0.0.1 : 8642
        var value = words[next]
        while next + 2 < words.count, words[next + 1] == ":" {
            value += ":" + words[next + 2]
            next += 2
        }
        return plain(value)
    }

    /// The text that a shell makes of a word. Nil if the word has variables or commands.
    private func plain(_ word: String) -> String? {
        if let mark = word.first, mark == "'" || mark == "\"", word.count > 1, word.last == mark {
            let text = word.dropFirst().dropLast()
            let isPlain = !text.contains(mark) && (mark == "'" || !text.contains { "$`\\".contains($0) })
            return isPlain ? String(text) : nil
        }
        guard !word.isEmpty, !word.contains(where: { "$`'\"\\".contains($0) }) else { return nil }
        guard word.hasPrefix("~/") else { return word }
        return home.map { $0 + word.dropFirst() }
    }
}
