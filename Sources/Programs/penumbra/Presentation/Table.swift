import JobModel

/// Text in aligned columns.
struct Table {
    private var rows: [[String]] = []

    init(_ header: [String] = []) {
        if !header.isEmpty { rows = [header] }
    }

    mutating func add(_ cells: String...) { rows.append(cells) }

    /// Of a column in which only a few cells are longer. These move what follows them in their own rows alone.
    private static let usualWidth = 48

    /// One line a row; columns two blanks apart, the last one not padded.
    var lines: [String] {
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in
            let lengths = rows.map { column < $0.count ? $0[column].terminalColumns : 0 }.sorted()
            let most = max(Self.usualWidth, lengths[lengths.count * 3 / 4])
            return lengths.last { $0 <= most } ?? 0
        }
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let padding = String(repeating: " ", count: max(0, widths[column] - cell.terminalColumns) + 2)
                line += column == row.count - 1 ? cell : cell + padding
            }
            return line
        }
    }
}
