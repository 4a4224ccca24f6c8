/// Time zones of dates. They reveal approximately where a picture was taken.
enum TimeZones {
    /// A date without its zone, such as `2026-11-24T20:30:00` for `2026-11-24T20:30:00+05:45`.
    ///
    /// - Parameter date: a date as ISO 8601, EXIF, RFC 1123, Unix or people write it, in ASCII or a superset. After the time,
    ///   only the half of the day, numbers and names of dates stay. A date without a time loses an offset at its end.
    static func removed(from date: [UInt8]) -> [UInt8] {
        let text = DateText(bytes: date)
        guard let end = date.indices.lazy.compactMap(text.endOfTime).first.map(text.endOfHalf) else {
            return Array(date[..<text.endWithoutOffset])
        }
        var (result, offset) = (Array(date[..<end]), end)
        while offset < date.count {
            let start = date[offset...].firstIndex { !isBlank($0) } ?? date.count
            let stop = date[start...].firstIndex(where: isBlank) ?? date.count
            if start == stop || isPartOfDate(date[start..<stop]) { result += date[offset..<stop] }
            offset = stop
        }
        return result
    }

    /// Whether a word is a year, a day, a date such as `24.11.2026`, the name of a month or a weekday, or a comma.
    private static func isPartOfDate(_ word: ArraySlice<UInt8>) -> Bool {
        let plain = word.last == UInt8(ascii: ",") ? word.dropLast() : word
        if plain.allSatisfy(isLetter) {
            return plain.isEmpty || plain.count >= 3 && names.contains { $0.starts(with: plain.lazy.map { $0 | 0x20 }) }
        }
        let parts = plain.split(omittingEmptySubsequences: false) { "./-".utf8.contains($0) }
        return (parts.count == 1 || parts.count == 3)
            && parts.allSatisfy { (1...4).contains($0.count) && $0.allSatisfy(isDigit) }
    }

    private static let names = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ].map { Array($0.utf8) }

    fileprivate static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    fileprivate static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}

/// The parts of a date, by offset.
private struct DateText {
    let bytes: [UInt8]

    /// The end of a time that begins here: `20:30`, `8:30:15`, `20:30:15.250`, or `T203015` after a date. Nil if none does.
    func endOfTime(from start: Int) -> Int? {
        if bytes[start] == UInt8(ascii: "T"), start > 0, TimeZones.isDigit(bytes[start - 1]) {
            let count = digits(at: start + 1)
            return count == 4 || count == 6 ? endOfFraction(at: start + 1 + count) : nil
        }
        // The digits must not be a part of another number, nor an offset.
        guard start == 0 || !"+-.:0123456789".utf8.contains(bytes[start - 1]), (1...2).contains(digits(at: start))
        else { return nil }
        var (offset, parts) = (start + digits(at: start), 1)
        while parts < 3, has(":", at: offset), digits(at: offset + 1) == 2 {
            offset += 3
            parts += 1
        }
        guard parts > 1, !has(":", at: offset) else { return nil }
        return parts == 3 ? endOfFraction(at: offset) : offset
    }

    /// The end of a following `AM` or `PM`, or `start`.
    func endOfHalf(from start: Int) -> Int {
        var offset = start
        while offset < bytes.count, TimeZones.isBlank(bytes[offset]) { offset += 1 }
        guard has("a", at: offset) || has("p", at: offset) else { return start }
        offset += has(".", at: offset + 1) ? 2 : 1
        guard has("m", at: offset) else { return start }
        offset += has(".", at: offset + 1) ? 2 : 1
        return offset == bytes.count || TimeZones.isBlank(bytes[offset]) ? offset : start
    }

    /// The end of a date without time: `2026-11-24` for `2026-11-24+05:45` and for `2026-11-24Z`.
    var endWithoutOffset: Int {
        if let last = bytes.last, last | 0x20 == UInt8(ascii: "z"),
            bytes.dropLast().last.map(TimeZones.isDigit) ?? false
        {
            return bytes.count - 1
        }
        let start = bytes.count - 6
        guard start > 0, has("+", at: start) || has("-", at: start), digits(at: start + 1) == 2,
            has(":", at: start + 3), digits(at: start + 4) == 2
        else { return bytes.count }
        return start
    }

    private func endOfFraction(at offset: Int) -> Int {
        guard has(".", at: offset) || has(",", at: offset) else { return offset }
        let count = digits(at: offset + 1)
        return count == 0 ? offset : offset + 1 + count
    }

    /// The number of digits at an offset.
    private func digits(at offset: Int) -> Int {
        offset < bytes.count ? bytes[offset...].prefix(while: TimeZones.isDigit).count : 0
    }

    /// Compares a character, ignoring case.
    private func has(_ character: Character, at offset: Int) -> Bool {
        guard offset < bytes.count, let byte = character.asciiValue else { return false }
        return bytes[offset] == byte || character.isLetter && bytes[offset] | 0x20 == byte
    }
}
