/// Damages texts at random, in the places and with the characters that matter to a parser.
struct Mutation {
    private var random: SplitMix64

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
    }

    mutating func mutated(_ text: String) -> String {
        var scalars = Array(text.unicodeScalars)
        for _ in 0..<Int.random(in: 1...3, using: &random) { mutate(&scalars) }
        return String(String.UnicodeScalarView(scalars))
    }

    private mutating func mutate(_ scalars: inout [Unicode.Scalar]) {
        let place = Int.random(in: 0...scalars.count, using: &random)
        let piece = random.pick(Self.pieces).unicodeScalars
        switch Int.random(in: 0..<5, using: &random) {
        case 0: scalars.insert(contentsOf: piece, at: place)
        case 1 where place < scalars.count: scalars.remove(at: place)
        case 2 where place < scalars.count: scalars.replaceSubrange(place...place, with: piece)
        case 3: swapLines(&scalars)
        default: indentLine(&scalars, at: place)
        }
    }

    private mutating func swapLines(_ scalars: inout [Unicode.Scalar]) {
        var lines = scalars.split(separator: "\n", omittingEmptySubsequences: false)
        lines.swapAt(Int.random(in: lines.indices, using: &random), Int.random(in: lines.indices, using: &random))
        scalars = Array(lines.joined(separator: ["\n"]))
    }

    private mutating func indentLine(_ scalars: inout [Unicode.Scalar], at place: Int) {
        let start = scalars[..<place].lastIndex(of: "\n").map { $0 + 1 } ?? 0
        if start < scalars.count, scalars[start] == " ", Bool.random(using: &random) {
            scalars.remove(at: start)
        } else {
            scalars.insert(" ", at: start)
        }
    }

    private static let pieces = [
        " ", "  ", "\n", "\r", "\r\n", "\t", ":", ": ", "- ", "-", "#", " #", " # ", "'", "\"", "''", "\\", "\\u00",
        "[",
        "]", "{", "}", ",", ", ", "?", "? ", "!", "&", "*", "|", ">", "%", "@", "`", "<<: ", "---", "\n---\n", "...",
        "a", "0", "\u{A0}", "\u{85}", "\u{2028}", "\u{FEFF}", "\u{7F}", "é", "😀", "\n  ", "\n- ", "key: ", "\\x41",
    ]
}
