import JobModel

/// A moment, in milliseconds since 1970. All times of the queue are such moments, because databases and answers have
/// them.
///
/// It lies in the years 1970–9999. Earlier and later moments become the first or the last one, so that no arithmetic
/// overflows.
package struct WallTime: Hashable, Comparable, Sendable {
    package let milliseconds: Int64

    package static let earliest = WallTime(milliseconds: 0)
    package static let latest = WallTime(milliseconds: last)

    private static let last: Int64 = 253_402_300_799_999

    package init(milliseconds: Int64) { self.milliseconds = min(max(0, milliseconds), Self.last) }

    package init(seconds: Int) {
        let (product, isTooLarge) = Int64(seconds).multipliedReportingOverflow(by: 1000)
        self.init(milliseconds: isTooLarge ? (seconds < 0 ? 0 : Self.last) : product)
    }

    /// Whole seconds since 1970.
    package var seconds: Int { Int(milliseconds / 1000) }

    package static func < (a: WallTime, b: WallTime) -> Bool { a.milliseconds < b.milliseconds }

    package static func + (time: WallTime, more: Duration) -> WallTime {
        let (sum, isTooLarge) = time.milliseconds.addingReportingOverflow(more.clampedMilliseconds)
        return isTooLarge ? .latest : WallTime(milliseconds: sum)
    }

    package static func - (a: WallTime, b: WallTime) -> Duration { .milliseconds(a.milliseconds - b.milliseconds) }
}

extension Duration {
    /// Whole milliseconds. Durations beyond 64 bits become the largest one.
    var clampedMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, isTooLarge) = seconds.multipliedReportingOverflow(by: 1000)
        guard !isTooLarge else { return seconds < 0 ? .min : .max }
        let (sum, isBeyond) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return isBeyond ? (seconds < 0 ? .min : .max) : sum
    }
}

extension WallTime: CustomStringConvertible {
    /// RFC 3339 in UTC: `2026-11-25T06:00:00Z`, with milliseconds if there are any.
    package var text: String {
        let day = CalendarDay(daysSince1970: seconds / 86_400)
        let second = seconds % 86_400
        let date = "\(Self.padded(day.year, 4))-\(Self.padded(day.month))-\(Self.padded(day.day))"
        let time = "\(Self.padded(second / 3600)):\(Self.padded(second / 60 % 60)):\(Self.padded(second % 60))"
        let rest = Int(milliseconds % 1000)
        return "\(date)T\(time)\(rest == 0 ? "" : ".\(Self.padded(rest, 3))")Z"
    }

    package var description: String { text }

    private static func padded(_ number: Int, _ width: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// Reads RFC 3339: a date, `T` or a space, a time with seconds, and `Z` or an offset such as `+01:00`. Nil for
    /// other texts, and for times outside of the years 1970–9999. Digits beyond milliseconds are dropped. A leap second
    /// counts as the second after it.
    package init?(text: String) {
        var rest = text.utf8[...]
        /// Takes a number of exactly so many digits.
        func number(_ digits: Int) -> Int? {
            let taken = rest.prefix(digits)
            guard taken.count == digits, taken.allSatisfy({ (48...57).contains($0) }) else { return nil }
            rest = rest.dropFirst(digits)
            return taken.reduce(0) { $0 * 10 + Int($1) - 48 }
        }
        func take(_ characters: String) -> UInt8? {
            guard let first = rest.first, characters.utf8.contains(first) else { return nil }
            rest = rest.dropFirst()
            return first
        }
        guard let year = number(4), take("-") != nil, let month = number(2), take("-") != nil, let day = number(2),
            take("Tt ") != nil, let hour = number(2), take(":") != nil, let minute = number(2), take(":") != nil,
            let second = number(2), (1...12).contains(month),
            (1...CalendarDay.count(inMonth: month, of: year)).contains(day),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        var thousandths = 0
        if take(".") != nil {
            let digits = rest.prefix { (48...57).contains($0) }
            guard !digits.isEmpty else { return nil }
            rest = rest.dropFirst(digits.count)
            thousandths = (Array(digits) + [48, 48]).prefix(3).reduce(0) { $0 * 10 + Int($1) - 48 }
        }
        var offset = 0
        if take("Zz") == nil {
            guard let sign = take("+-"), let hours = number(2), take(":") != nil, let minutes = number(2), hours < 24,
                minutes < 60
            else { return nil }
            offset = (hours * 3600 + minutes * 60) * (sign == 45 ? -1 : 1)
        }
        guard rest.isEmpty else { return nil }
        let days = CalendarDay(year: year, month: month, day: day).daysSince1970
        let milliseconds =
            Int64(days * 86_400 + hour * 3600 + minute * 60 + second - offset) * 1000 + Int64(thousandths)
        guard (0...Self.last).contains(milliseconds) else { return nil }
        self.init(milliseconds: milliseconds)
    }
}

extension WallTime: Codable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let time = WallTime(text: text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: InputError.time(text).message)
        }
        self = time
    }
}
