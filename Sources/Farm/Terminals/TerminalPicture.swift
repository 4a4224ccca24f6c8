import FoundationEssentials

/// Escape sequences that show a picture in a terminal.
package enum TerminalPicture {
    /// The most bytes of a payload in one sequence.
    private static let chunk = 4096

    /// A PNG file for a terminal with the kitty protocol.
    ///
    /// - Parameter columns: the width that it is scaled to; nil for its own size.
    package static func kitty(png: [UInt8], columns: Int?) -> String {
        var rest = Data(png).base64EncodedString()[...]
        // q=2: the terminal sends no answer, which the shell would take for input.
        var keys = "a=T,f=100,q=2" + (columns.map { ",c=\($0)" } ?? "")
        var text = ""
        repeat {
            let payload = rest.prefix(chunk)
            rest = rest.dropFirst(payload.count)
            text += "\u{1b}_G\(keys),m=\(rest.isEmpty ? 0 : 1);\(payload)\u{1b}\\"
            keys = "q=2"
        } while !rest.isEmpty
        return text
    }

    /// A picture for a terminal with sixels, in the 256 colours that suit it best.
    package static func sixel(_ pixmap: Pixmap) -> String {
        let (width, height) = (pixmap.width, pixmap.height)
        let cells = (0..<height).map { y in
            (0..<width).map { SixelPalette.cell(pixmap.color(x: $0, y: y), x: $0, y: y) }
        }
        let palette = SixelPalette(of: cells.joined())
        let indexes = cells.map { $0.map { palette.index(of: $0) } }
        // The ratio of a pixel's sides, and the picture's size.
        var text = "\u{1b}Pq\"1;1;\(width);\(height)" + palette.definitions
        for top in stride(from: 0, to: height, by: 6) {
            let rows = indexes[top..<min(top + 6, height)]
            text += Set(rows.joined()).sorted().map { band(of: $0, in: Array(rows)) }.joined(separator: "$") + "-"
        }
        return text + "\u{1b}\\"
    }

    /// The pixels of one colour in six rows. A character has a bit for each row, and repetitions are counted.
    private static func band(of color: Int, in rows: [[Int]]) -> String {
        let width = rows.first?.count ?? 0
        let bits = (0..<width).map { x in
            rows.indices.reduce(0) { $0 | (rows[$1][x] == color ? 1 << $1 : 0) }
        }
        let end = bits.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
        var (text, x) = ("#\(color)", 0)
        while x < end {
            let count = bits[x..<end].prefix { $0 == bits[x] }.count
            let sign = String(UnicodeScalar(UInt8(63 + bits[x])))
            text += count > 3 ? "!\(count)\(sign)" : String(repeating: sign, count: count)
            x += count
        }
        return text
    }
}
