/// One of the five fields of a crontab's schedule.
package enum ScheduleField: CaseIterable, Hashable, Sendable {
    case minute
    case hour
    case dayOfMonth
    case month
    case weekday

    package var name: String {
        switch self {
        case .minute: "minute"
        case .hour: "hour"
        case .dayOfMonth: "day of month"
        case .month: "month"
        case .weekday: "weekday"
        }
    }

    /// What cron takes. (Its manual lets days and months begin at 0; the program does not.)
    var range: ClosedRange<Int> {
        switch self {
        case .minute: 0...59
        case .hour: 0...23
        case .dayOfMonth: 1...31
        case .month: 1...12
        case .weekday: 0...7
        }
    }

    /// Names for the values from the range's first on, in lower case; cron takes them in any.
    var names: [String] {
        switch self {
        case .minute, .hour, .dayOfMonth: []
        case .month: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        case .weekday: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
        }
    }

    var allowed: String {
        switch self {
        case .minute, .hour, .dayOfMonth: "\(range.lowerBound) to \(range.upperBound)"
        case .month: "1 to 12, or jan to dec"
        case .weekday: "0 to 7 (both are Sunday), or sun to sat"
        }
    }

    /// A range that goes round the end as cron wants it: the hours `22-5` as `22-23,0-5`.
    func wrapped(_ first: Int, _ last: Int) -> String {
        // A week that begins with Sunday as 0 does not end with it as 7.
        let end = self == .weekday ? 6 : range.upperBound
        let parts = [(first, end), (range.lowerBound, last)].filter { $0 <= $1 }
        return parts.map { $0 == $1 ? "\($0)" : "\($0)-\($1)" }.joined(separator: ",")
    }
}
