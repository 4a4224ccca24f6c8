/// A time in UTC, as files and JSON have it, to the second.
///
/// Foundation formats times as well, but the first one costs six milliseconds, because it loads calendars and time zones.
package struct UTCTime: Hashable, Sendable {
    private let calendarDay: CalendarDay
    private let second: Int

    private static let secondsInDay = 86400
    /// The begin of the year 1, and the end of the year 9999.
    private static let (first, last) = (-62_135_596_800, 253_402_300_799)

    /// - Parameter seconds: of the years 1 to 9999. The nearest of these is taken for others.
    package init(secondsSince1970 seconds: Int) {
        // A damaged file may have any number.
        let inRange = min(max(seconds, Self.first), Self.last)
        let second = inRange % Self.secondsInDay
        self.second = second < 0 ? second + Self.secondsInDay : second
        calendarDay = CalendarDay(daysSince1970: (inRange - self.second) / Self.secondsInDay)
    }

    /// `2026-11-21T21:30:00Z`
    package var text: String { "\(date("-"))T\(clock(":"))Z" }

    /// `20261121T213000Z`
    package var compactText: String { "\(date(""))T\(clock(""))Z" }

    /// `2026-11-21`
    package var day: String { date("-") }

    private func date(_ separator: String) -> String {
        let year = Self.padded(calendarDay.year, 4)
        return [year, Self.padded(calendarDay.month), Self.padded(calendarDay.day)].joined(separator: separator)
    }

    private func clock(_ separator: String) -> String {
        [second / 3600, second / 60 % 60, second % 60].map { Self.padded($0) }.joined(separator: separator)
    }

    private static func padded(_ number: Int, _ count: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
