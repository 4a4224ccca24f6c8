/// Time zones of dates, which tell roughly where a picture was taken.
enum TimeZones {
    /// A date without its zone: `2026-11-24T20:30:00` of `2026-11-24T20:30:00+05:45`.
    ///
    /// - Parameter date: in ASCII, as ISO 8601 or RFC 1123 writes it. What has no time of day stays as it is.
    static func removed(from date: [UInt8]) -> [UInt8] {
        guard let colon = date.firstIndex(of: UInt8(ascii: ":")), colon > 0, isDigit(date[colon - 1]) else {
            return date
        }
        // Hours, minutes, seconds and their fraction.
        let end = date[colon...].firstIndex { !isDigit($0) && ![UInt8(ascii: ":"), UInt8(ascii: ".")].contains($0) }
        guard let end else { return date }
        // The zone is all that follows, but for what ends the text.
        let tail = date[end...].reversed().prefix { [0x20, 0x09, 0x0A, 0x0D].contains($0) }.count
        return Array(date[..<end] + date[(date.count - tail)...])
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
