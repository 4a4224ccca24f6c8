import JobModel
@testable import Queueing

/// Reads a schedule, and looks for its next time. A twin that looks at each minute must agree.
@c(LLVMFuzzerTestOneInput)
public func fuzzCron(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(start, count)
    // Until the year 2063.
    let time = (0..<4).reduce(0) { sum, _ in sum << 8 | input.choice(256) } * 60 % 2_934_000_000
    guard let schedule = try? CronExpression(input.text), let twin = MinuteTwin(schedule.text) else { return 0 }
    let next = schedule.nextLocalTime(after: time)
    precondition(next.map { $0 > time && $0 % 60 == 0 } ?? true, "the next time is later")
    let last = min(next ?? .max, time + 86_400)
    for minute in stride(from: (time / 60 + 1) * 60, to: last, by: 60) {
        precondition(!twin.matches(minute), "no time is left out")
    }
    precondition(next.map(twin.matches) ?? true, "the next time is a time of the schedule")
    return 0
}

/// Asks each field of a schedule for each minute.
private struct MinuteTwin {
    private let fields: [Substring]

    /// Nil for a word that it does not know.
    init?(_ text: String) {
        fields = (CronFields.words[text] ?? text).split(separator: " ").map { Substring($0.lowercased()) }
        guard fields.count == 5 else { return nil }
    }

    func matches(_ time: Int) -> Bool {
        let day = CalendarDay(daysSince1970: time / 86_400)
        guard isIn(fields[0], time / 60 % 60, 0, 59), isIn(fields[1], time / 3600 % 24, 0, 23),
            isIn(fields[3], day.month, 1, 12, names: "janfebmaraprmayjunjulaugsepoctnovdec")
        else { return false }
        let isDay = isIn(fields[2], day.day, 1, 31)
        let weekdays = day.weekday == 0 ? [0, 7] : [day.weekday]
        let isWeekday = weekdays.contains { isIn(fields[4], $0, 0, $0 == 7 ? 7 : 6, names: "sunmontuewedthufrisat") }
        // A field that begins with a star restricts nothing.
        let takesEither = !fields[2].hasPrefix("*") && !fields[4].hasPrefix("*")
        return takesEither ? isDay || isWeekday : isDay && isWeekday
    }

    private func isIn(_ field: Substring, _ value: Int, _ first: Int, _ last: Int, names: String = "") -> Bool {
        field.split(separator: ",").contains { item in
            let parts = item.split(separator: "/")
            let step = parts.count == 2 ? Int(parts[1]) ?? 1 : 1
            let ends = parts[0].split(separator: "-").map { number($0, first, names) }
            var (low, high) = parts[0] == "*" ? (first, last) : (ends[0], ends[ends.count - 1])
            // A week that ends with a Sunday by its name.
            if high < low, high == 0 { high = 7 }
            // A star knows one Sunday only.
            if parts[0] == "*", last == 7 { (low, high) = (first, 6) }
            return low <= value && value <= high && (value - low) % step == 0
        }
    }

    private func number(_ text: Substring, _ first: Int, _ names: String) -> Int {
        if let number = Int(text) { return number }
        let index = names.ranges(of: text).map { names.distance(from: names.startIndex, to: $0.lowerBound) }
            .first { $0 % 3 == 0 }
        return (index ?? -3) / 3 + first
    }
}
