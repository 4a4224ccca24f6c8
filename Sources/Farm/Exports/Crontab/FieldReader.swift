/// Reads one field of a schedule.
struct FieldReader {
    /// An item of a field's list: `5`, `1-5`, `1-5/2`, `*` or `*/2`.
    struct Item {
        let text: String
        let first: Int
        let last: Int
        let step: Int

        var values: StrideThrough<Int> { stride(from: first, through: last, by: step) }
        var hasLongStep: Bool { first < last && step > last - first }
    }

    let field: ScheduleField
    /// For messages.
    let schedule: String

    func items(of text: String) throws(ExportProblem) -> [Item] {
        if let named = value(named: text) { return [Item(text: text, first: named, last: named, step: 1)] }
        var items: [Item] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            items.append(try item(String(part), in: text))
        }
        return items
    }

    private func item(_ text: String, in list: String) throws(ExportProblem) -> Item {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let (first, last) = try ends(of: parts[0], in: list)
        guard parts.count == 2 else { return Item(text: text, first: first, last: last, step: 1) }
        guard parts[0] == "*" || parts[0].contains("-") else {
            throw .stepWithoutRange(field, found: text, schedule: schedule)
        }
        guard let step = number(parts[1]), step > 0 else {
            throw .step(field, found: parts[1], schedule: schedule)
        }
        return Item(text: text, first: first, last: last, step: step)
    }

    private func ends(of range: String, in list: String) throws(ExportProblem) -> (first: Int, last: Int) {
        if range == "*" { return (field.range.lowerBound, field.range.upperBound) }
        let ends = range.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let first = try value(of: ends[0], in: list)
        guard ends.count == 2 else { return (first, first) }
        let last = try value(of: ends[1], in: list)
        guard first <= last else {
            throw .backwards(field, found: range, instead: field.wrapped(first, last), schedule: schedule)
        }
        return (first, last)
    }

    private func value(of text: String, in list: String) throws(ExportProblem) -> Int {
        if value(named: text) != nil {
            throw .nameInList(field, found: list, instead: numbered(list), schedule: schedule)
        }
        guard let value = number(text), field.range.contains(value) else {
            throw .value(field, found: text, schedule: schedule)
        }
        return value
    }

    private func value(named text: String) -> Int? {
        field.names.firstIndex(of: text.lowercased()).map { $0 + field.range.lowerBound }
    }

    /// With its names as numbers: `mon-fri` as `1-5`.
    private func numbered(_ list: String) -> String {
        var result = ""
        var word = ""
        for character in list + "," {
            if character.isLetter {
                word.append(character)
                continue
            }
            result += value(named: word).map(String.init) ?? word
            word = ""
            result.append(character)
        }
        return String(result.dropLast())
    }

    /// Digits alone, and a number that a C program can hold.
    private func number(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int32(text).map(Int.init)
    }
}
