/// Guesses the word that a person meant.
package enum Suggestion {
    /// The candidate that is most similar to `word`. Nil if none is similar. Letter case, and `-` for `_`, make no
    /// difference. Of equally similar candidates the first one wins.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        guard word.utf8.count <= longestWord else { return nil }
        let folded = fold(word)
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let target = fold(candidate)
            let distance = editDistance(from: folded, to: target)
            guard distance <= threshold(for: max(folded.count, target.count)) else { continue }
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.candidate
    }

    /// Longer than any name. It limits the cost of a comparison.
    private static let longestWord = 64

    /// One error in short words, one for each three letters of longer ones.
    private static func threshold(for length: Int) -> Int {
        length < 3 ? 0 : min(3, max(1, length / 3))
    }

    private static func fold(_ word: String) -> [UInt8] {
        word.lowercased().utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }
    }

    /// The Damerau-Levenshtein distance (optimal string alignment): insertions, deletions, replacements and swaps of
    /// neighbours.
    static func editDistance(from source: [UInt8], to target: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...target.count)
        for (row, byte) in source.enumerated() {
            var current = [row + 1]
            for (column, other) in target.enumerated() {
                let replaced = last[column] + (byte == other ? 0 : 1)
                var cost = min(replaced, last[column + 1] + 1, current[column] + 1)
                let isSwap = row > 0 && column > 0 && byte == target[column - 1] && source[row - 1] == other
                if isSwap { cost = min(cost, beforeLast[column - 1] + 1) }
                current.append(cost)
            }
            beforeLast = last
            last = current
        }
        return last[target.count]
    }
}
