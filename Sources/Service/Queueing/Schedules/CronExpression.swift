package import JobModel

/// The local times at which a schedule submits a job: the five fields of cron, or a word such as `@daily`.
///
/// ``CronFields`` has the syntax.
package struct CronExpression: Hashable, Sendable {
    private let fields: CronFields
    private let minutes: [Int]
    private let hours: [Int]

    /// As it was written, with one space between fields.
    package var text: String { fields.text }

    package init(_ text: String) throws(InputError) {
        do throws(CronProblem) {
            fields = try CronFields(text)
        } catch {
            throw .cron(error, in: text.split { $0 == " " || $0 == "\t" }.joined(separator: " "))
        }
        (minutes, hours) = (fields.minutes.sorted(), fields.hours.sorted())
    }

    package func matches(_ day: CalendarDay) -> Bool {
        guard fields.months.contains(day.month) else { return false }
        let (isDay, isWeekday) = (fields.days.contains(day.day), fields.weekdays.contains(day.weekday))
        return fields.takesEitherDay ? isDay || isWeekday : isDay && isWeekday
    }

    /// The first local time after another one. Both are seconds since 1970 as a clock on the wall counts them.
    ///
    /// Nil after the year 9999. The longest wait is that for a 29 February on a certain weekday, at most 40 years.
    func nextLocalTime(after time: Int) -> Int? {
        let today = time >= 0 ? time / 86_400 : (time - 86_399) / 86_400
        var day = CalendarDay(daysSince1970: today)
        // Times of this day have to be later; of other days all are.
        var earliest = time - today * 86_400
        while day.year <= 9999 {
            if matches(day), let second = firstTime(after: earliest) { return day.daysSince1970 * 86_400 + second }
            earliest = -1
            if fields.months.contains(day.month), day.day < CalendarDay.count(inMonth: day.month, of: day.year) {
                day = CalendarDay(year: day.year, month: day.month, day: day.day + 1)
            } else {
                let isLast = day.month == 12
                day = CalendarDay(year: isLast ? day.year + 1 : day.year, month: isLast ? 1 : day.month + 1, day: 1)
            }
        }
        return nil
    }

    /// The first time of a day, in seconds since midnight.
    private func firstTime(after second: Int) -> Int? {
        for hour in hours where hour * 3600 + 3599 > second {
            for minute in minutes where hour * 3600 + minute * 60 > second { return hour * 3600 + minute * 60 }
        }
        return nil
    }
}
