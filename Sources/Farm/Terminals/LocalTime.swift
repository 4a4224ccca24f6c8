import Glibc

/// Times in messages for people: in the time zone of this process, with its offset. Files and JSON have times in UTC.
package enum LocalTime {
    /// `2026-11-26 23:04:05 +01:00`
    package static func text(_ secondsSince1970: Int) -> String {
        text(secondsSince1970, offset: offset(at: secondsSince1970))
    }

    /// The local day: `2026-11-26`.
    package static func day(_ secondsSince1970: Int) -> String { String(text(secondsSince1970).prefix(10)) }

    /// The local time of a time in UTC, as JSON has it: `2026-11-26T22:04:05Z`. Fractions of a second are dropped. A text of another
    /// form is returned as it is.
    package static func text(utc: String) -> String {
        guard let seconds = seconds(utc) else { return utc }
        return text(seconds)
    }

    /// - Parameter offset: the seconds by which local time is ahead of UTC.
    package static func text(_ secondsSince1970: Int, offset: Int) -> String {
        let local = secondsSince1970 &+ offset
        var (time, parts) = (time_t(local), tm())
        guard gmtime_r(&time, &parts) != nil else { return "\(secondsSince1970)" }
        let date =
            "\(padded(Int(parts.tm_year) + 1900, 4))-\(padded(Int(parts.tm_mon) + 1))-\(padded(Int(parts.tm_mday)))"
        let clock = "\(padded(Int(parts.tm_hour))):\(padded(Int(parts.tm_min))):\(padded(Int(parts.tm_sec)))"
        let minutes = abs(offset) / 60
        return "\(date) \(clock) \(offset < 0 ? "-" : "+")\(padded(minutes / 60)):\(padded(minutes % 60))"
    }

    /// Seconds since 1970 of a time in UTC; nil if the text is none.
    package static func seconds(_ utc: String) -> Int? {
        let text = Array(utc.utf8)
        guard text.count >= 20, text.last == UInt8(ascii: "Z"), text[10] == UInt8(ascii: "T") else { return nil }
        guard text.count == 20 || text[19] == UInt8(ascii: ".") && text[20..<(text.count - 1)].allSatisfy(isDigit)
        else {
            return nil
        }
        for (place, sign) in [(4, "-"), (7, "-"), (13, ":"), (16, ":")] as [(Int, Unicode.Scalar)]
        where text[place] != UInt8(ascii: sign) { return nil }
        func number(_ start: Int, _ count: Int) -> Int32? {
            let digits = text[start..<(start + count)]
            return digits.allSatisfy(isDigit) ? digits.reduce(0) { $0 * 10 + Int32($1 - UInt8(ascii: "0")) } : nil
        }
        guard let year = number(0, 4), let month = number(5, 2), let day = number(8, 2), let hour = number(11, 2),
            let minute = number(14, 2), let second = number(17, 2), (1...12).contains(month), (1...31).contains(day),
            hour < 24, minute < 60, second < 61
        else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1900, month - 1, day)
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (hour, minute, second)
        return timegm(&parts)
    }

    private static func offset(at seconds: Int) -> Int {
        var (time, parts) = (time_t(seconds), tm())
        tzset()
        // Without a time zone, UTC is the local time.
        return localtime_r(&time, &parts) == nil ? 0 : parts.tm_gmtoff
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func padded(_ number: Int, _ count: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
