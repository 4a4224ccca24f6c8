import Foundation

/// Cron by brute force: it looks at each minute, and remembers how far clocks on the wall have come.
struct CronTwin {
    struct Case: Sendable, CustomStringConvertible {
        let text: String
        let isDay: @Sendable (_ year: Int, _ month: Int, _ day: Int, _ weekday: Int) -> Bool
        let isTime: @Sendable (_ hour: Int, _ minute: Int) -> Bool

        var description: String { text }
    }

    static let cases = [
        Case(text: "30 2 * * *", isDay: { _, _, _, _ in true }, isTime: { $0 == 2 && $1 == 30 }),
        Case(text: "@daily", isDay: { _, _, _, _ in true }, isTime: { $0 == 0 && $1 == 0 }),
        Case(text: "*/20 0-3 * * *", isDay: { _, _, _, _ in true }, isTime: { $0 <= 3 && $1 % 20 == 0 }),
        Case(text: "59 23 * * Sun", isDay: { _, _, _, weekday in weekday == 0 }, isTime: { $0 == 23 && $1 == 59 }),
        Case(
            text: "0 12 1,15 * mon", isDay: { _, _, day, weekday in day == 1 || day == 15 || weekday == 1 },
            isTime: { $0 == 12 && $1 == 0 }),
        Case(
            text: "15 3 1-7 * */2", isDay: { _, _, day, weekday in day <= 7 && weekday % 2 == 0 },
            isTime: { $0 == 3 && $1 == 15 }),
        Case(text: "0 0 31 * *", isDay: { _, _, day, _ in day == 31 }, isTime: { $0 == 0 && $1 == 0 }),
        Case(
            text: "30 1,2 29 2 *", isDay: { _, month, day, _ in month == 2 && day == 29 },
            isTime: { ($0 == 1 || $0 == 2) && $1 == 30 }),
        Case(
            text: "5-59/25 1 * mar,apr,OCT-nov fri-sun",
            isDay: { _, month, _, weekday in [3, 4, 10, 11].contains(month) && [5, 6, 0].contains(weekday) },
            isTime: { $0 == 1 && [5, 30, 55].contains($1) }),
    ]

    /// All times of each case in some years of UTC, in seconds since 1970.
    static func times(in zone: TimeZone, years: ClosedRange<Int>) -> [[Int]] {
        let days = Self.days(through: years.upperBound + 1)
        let ofYears = days.indices.filter { years.contains(days[$0].year) }
        guard let first = ofYears.first, let last = ofYears.last else { return [] }
        var times = cases.map { _ in [Int]() }
        // Some days before, so that a change of clocks just before the first year is known.
        var reached = (first - 3) * 1440 + offset((first - 3) * 1440, zone) - 1
        var today = -1
        var isDay: [Bool] = []
        for quarter in (first - 3) * 96..<(last + 1) * 96 {
            let (before, after) = (offset(quarter * 15, zone), offset(quarter * 15 + 15, zone))
            for minute in quarter * 15..<quarter * 15 + 15 {
                let shown = minute + (before == after ? before : offset(minute, zone))
                // Several minutes are reached at once if clocks are moved forward, and none if they are moved back.
                while reached < shown {
                    reached += 1
                    if reached / 1440 != today {
                        today = reached / 1440
                        let day = days[today]
                        isDay = cases.map { $0.isDay(day.year, day.month, day.day, day.weekday) }
                    }
                    guard minute >= first * 1440 else { continue }
                    let (hour, rest) = (reached % 1440 / 60, reached % 60)
                    for index in cases.indices where isDay[index] && cases[index].isTime(hour, rest) {
                        if times[index].last != minute * 60 { times[index].append(minute * 60) }
                    }
                }
            }
        }
        return times
    }

    /// In minutes, as all zones' offsets since 1973 are.
    private static func offset(_ minute: Int, _ zone: TimeZone) -> Int {
        zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(minute * 60))) / 60
    }

    private struct Day {
        var year = 1970
        var month = 1
        var day = 1
        /// A Thursday.
        var weekday = 4
    }

    /// All days since 1970, counted one by one.
    private static func days(through year: Int) -> [Day] {
        var days = [Day()]
        var next = Day()
        while next.year <= year {
            next.weekday = (next.weekday + 1) % 7
            next.day += 1
            let isLeap = next.year % 4 == 0 && (next.year % 100 != 0 || next.year % 400 == 0)
            let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            if next.day > lengths[next.month - 1] { (next.month, next.day) = (next.month + 1, 1) }
            if next.month > 12 { (next.year, next.month) = (next.year + 1, 1) }
            days.append(next)
        }
        return days
    }
}
