import Foundation
import JobModel
import Queueing
import Testing

@Suite struct CronTests {
    private func schedule(_ text: String, _ zone: String = "UTC") throws -> Schedule {
        try Schedule(name: "nightly", cron: CronExpression(text), zone: Schedule.zone(named: zone))
    }

    /// The first times after a moment.
    private func times(_ text: String, _ zone: String, after start: String, count: Int = 3) throws -> [String] {
        let schedule = try schedule(text, zone)
        var time = try #require(WallTime(text: start))
        return try (0..<count).map { _ in
            time = try #require(schedule.next(after: time))
            return time.text
        }
    }

    /// Europe and America, half an hour in Australia, two hours in Antarctica, changes at midnight and at a minute past
    /// it, a day that was skipped, a month of fasting, and a zone that moved.
    @Test(arguments: [
        ("UTC", 2023...2024), ("Europe/Berlin", 2026...2027), ("America/New_York", 2026...2027),
        ("Australia/Lord_Howe", 2026...2027), ("Antarctica/Troll", 2026...2026), ("America/Havana", 2026...2026),
        ("America/St_Johns", 2009...2011), ("Pacific/Apia", 2011...2012), ("Africa/Casablanca", 2025...2026),
        ("Europe/Istanbul", 2015...2016), ("Asia/Kathmandu", 1985...1986),
    ])
    func `times are those that brute force finds, minute by minute`(name: String, years: ClosedRange<Int>) throws {
        let found = CronTwin.times(in: try Schedule.zone(named: name), years: years)
        let first = CalendarDay(year: years.lowerBound, month: 1, day: 1).daysSince1970 * 86_400
        let end = CalendarDay(year: years.upperBound + 1, month: 1, day: 1).daysSince1970 * 86_400
        for (item, expected) in zip(CronTwin.cases, found) {
            let schedule = try schedule(item.text, name)
            var times: [Int] = []
            var time = WallTime(seconds: first - 1)
            while let next = schedule.next(after: time), next.seconds < end {
                times.append(next.seconds)
                time = next
            }
            #expect(times == expected, "\(item) in \(name)")
        }
    }

    @Test(arguments: ["Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia"])
    func `the next time does not depend on where one asks from`(zone: String) throws {
        for item in CronTwin.cases {
            let schedule = try schedule(item.text, zone)
            // Around changes of clocks in 2011 and 2026, in steps of seven minutes.
            for start in [1_301_100_000, 1_325_100_000, 1_774_700_000, 1_775_250_000, 1_790_900_000, 1_792_800_000] {
                let end = start + 180_000
                var times: [WallTime] = []
                var time = WallTime(seconds: start)
                while time.seconds < end, let next = schedule.next(after: time) {
                    times.append(next)
                    time = next
                }
                for second in stride(from: start, to: end, by: 420) {
                    let now = WallTime(seconds: second)
                    let (found, expected) = (schedule.next(after: now), times.first { $0 > now })
                    guard found == expected else {
                        Issue.record("\(item) in \(zone) after \(now): \(found?.text ?? "none"), not \(times)")
                        return
                    }
                }
            }
        }
    }

    @Test func `a time that does not exist comes when the clocks are moved`() throws {
        // Berlin's clocks go from 02:00 to 03:00, which is 01:00 in UTC.
        #expect(
            try times("30 2 * * *", "Europe/Berlin", after: "2026-03-28T12:00:00Z") == [
                "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z", "2026-03-31T00:30:00Z",
            ])
        #expect(
            try times("*/20 2 * * *", "Europe/Berlin", after: "2026-03-28T12:00:00Z", count: 2) == [
                "2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z",
            ])
        // Lord Howe's go from 02:00 to 02:30.
        #expect(
            try times("15 2 * * *", "Australia/Lord_Howe", after: "2026-10-02T20:00:00Z", count: 2) == [
                "2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z",
            ])
        // Apia had no 30 December 2011.
        #expect(
            try times("0 12 30 12 *", "Pacific/Apia", after: "2011-06-01T00:00:00Z", count: 2) == [
                "2011-12-30T10:00:00Z", "2012-12-29T22:00:00Z",
            ])
    }

    @Test func `a time that exists twice comes once, the first time`() throws {
        // Berlin's clocks go from 03:00 to 02:00.
        #expect(
            try times("30 2 * * *", "Europe/Berlin", after: "2026-10-24T12:00:00Z") == [
                "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z", "2026-10-27T01:30:00Z",
            ])
        #expect(
            try times("0 * * * *", "Europe/Berlin", after: "2026-10-24T23:30:00Z") == [
                "2026-10-25T00:00:00Z", "2026-10-25T02:00:00Z", "2026-10-25T03:00:00Z",
            ])
        // Lord Howe's go from 02:00 to 01:30.
        #expect(
            try times("45 1 * * *", "Australia/Lord_Howe", after: "2026-04-04T00:00:00Z", count: 2) == [
                "2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z",
            ])
    }

    @Test func `rare days come, however long they take`() throws {
        #expect(try times("0 0 29 2 *", "UTC", after: "2096-03-01T00:00:00Z", count: 1) == ["2104-02-29T00:00:00Z"])
        // Saturdays and Sundays alone, because a field that begins with a star does not widen the other.
        #expect(
            try times("0 0 29 2 */6", "UTC", after: "2088-03-01T00:00:00Z", count: 2) == [
                "2116-02-29T00:00:00Z", "2128-02-29T00:00:00Z",
            ])
        #expect(
            try times("0 0 31 2 1", "UTC", after: "2026-01-10T00:00:00Z", count: 2) == [
                "2026-02-02T00:00:00Z", "2026-02-09T00:00:00Z",
            ])
    }

    @Test func `after the last year there is no next time`() throws {
        #expect(try schedule("@yearly").next(after: .latest) == nil)
        #expect(try schedule("@yearly").next(after: .earliest)?.text == "1971-01-01T00:00:00Z")
    }

    @Test(arguments: [
        ("@hourly", "0 * * * *"), ("@daily", "0 0 * * *"), ("@midnight", "0 0 * * *"), ("@weekly", "0 0 * * 0"),
        ("@monthly", "0 0 1 * *"), ("@yearly", "0 0 1 1 *"), ("@annually", "0 0 1 1 *"), (" 0\t4  * * 7 ", "0 4 * * 0"),
        ("0 4 * * FRI-sun", "0 4 * * 5,6,0"), ("0 4 * * 5-7", "0 4 * * 0,5,6"), ("0 4 * Jan-MAR/2 *", "0 4 * 1,3 *"),
        ("05 04 01 02 *", "5 4 1 2 *"), ("0-59/30 * * * *", "*/30 * * * *"), ("0 0 * * sun-tue", "0 0 * * 0-2"),
        ("0 0 * * mon,wed", "0 0 * * 1,3"),
    ])
    func `schedules that mean the same come at the same times`(text: String, same: String) throws {
        #expect(
            try times(text, "UTC", after: "2026-01-01T00:00:00Z", count: 20)
                == times(same, "UTC", after: "2026-01-01T00:00:00Z", count: 20))
        #expect(try CronExpression(text).text == text.split { " \t".contains($0) }.joined(separator: " "))
    }

    @Test(
        arguments: [
            (
                "15 2 * *", "five fields are wanted, not 4",
                "write minute, hour, day of month, month and weekday: '15 2 * * *' is 02:15 each day"
            ),
            (
                "", "five fields are wanted, not 0",
                "write minute, hour, day of month, month and weekday: '15 2 * * *' is 02:15 each day"
            ),
            (
                "15 2 * * * root", "five fields are wanted, not 6",
                "write minute, hour, day of month, month and weekday: '15 2 * * *' is 02:15 each day"
            ),
            (
                "@reboot", "no schedule is called '@reboot'",
                "there are @annually, @daily, @hourly, @midnight, @monthly, @weekly, @yearly"
            ),
            (
                "@Daily", "no schedule is called '@Daily'",
                "there are @annually, @daily, @hourly, @midnight, @monthly, @weekly, @yearly"
            ),
            (
                "@daily 5", "@daily stands for all five fields, and nothing comes after it",
                "leave out the fields, or the word"
            ),
            ("60 2 * * *", "the minute is 0 to 59, not '60'", nil),
            ("15 25 * * *", "the hour is 0 to 23, not '25'", nil),
            ("15 2 0 * *", "the day of month is 1 to 31, not '0'", nil),
            ("15 2 * june *", "the month is 1 to 12, or jan to dec, not 'june'", nil),
            ("15 2 * * 8", "the weekday is 0 to 7 (both are Sunday), or sun to sat, not '8'", nil),
            ("15 2 mon * *", "the day of month is 1 to 31, not 'mon'", nil),
            ("15 2 L * *", "the day of month is 1 to 31, not 'L'", nil),
            ("? * * * *", "the minute is 0 to 59, not '?'", nil),
            ("*5 * * * *", "the minute is 0 to 59, not '*5'", nil),
            ("15 +2 * * *", "the hour is 0 to 23, not '+2'", nil),
            ("15 ٢ * * *", "the hour is 0 to 23, not '٢'", nil), ("15 1,,3 * * *", "the hour is 0 to 23, not ''", nil),
            ("1-2-3 2 * * *", "the minute is 0 to 59, not '2-3'", nil),
            ("15 99999999999999999999 * * *", "the hour is 0 to 23, not '99999999999999999999'", nil),
            ("15 2 * * 1\n", "the weekday is 0 to 7 (both are Sunday), or sun to sat, not '1\\u{a}'", nil),
            ("*/0 * * * *", "the minute's step is a number from 1, not '0'", "write '*/5' for each fifth value"),
            ("15 */two * * *", "the hour's step is a number from 1, not 'two'", "write '*/5' for each fifth value"),
            ("5/15 * * * *", "the minute's step in '5/15' has no range", "write '5-59/15'"),
            ("*/90 * * * *", "the minute's step in '*/90' is longer than its range", "write '0'"),
            ("0 4 * * */7", "the weekday's step in '*/7' is longer than its range", "write '0'"),
            ("0 22-5 * * *", "the hour's range '22-5' ends before it begins", "write '22-23,0-5'"),
            ("0 23-0 * * *", "the hour's range '23-0' ends before it begins", "write '23,0'"),
            ("0 4 * * sat-mon", "the weekday's range 'sat-mon' ends before it begins", "write '6,0-1'"),
            ("0 4 * nov-feb *", "the month's range 'nov-feb' ends before it begins", "write '11-12,1-2'"),
            (
                "30 2 31 2 *", "this never comes: no month of '2' has a day of '31'",
                "'28-31' covers the last days of every month"
            ),
            (
                "0 0 31 4,6,9,11 */2", "this never comes: no month of '4,6,9,11' has a day of '31'",
                "'28-31' covers the last days of every month"
            ),
            (
                "0 0 30-31 feb *", "this never comes: no month of 'feb' has a day of '30-31'",
                "'28-31' covers the last days of every month"
            ),
        ] as [(String, String, String?)])
    func `other texts are refused, with what to write`(text: String, problem: String, remedy: String?) {
        let shown = text.split { " \t".contains($0) }.joined(separator: " ").replacing("\n", with: "\\u{a}")
        let remedy = remedy ?? "'*' stands for all values; lists are written as '1,5', ranges as '1-5'"
        #expect(
            refusal { _ = try CronExpression(text) } == "schedule: \(problem) (in '\(shown)')\n   = \(remedy)")
    }

    @Test func `an unknown zone is refused`() {
        #expect(
            refusal { _ = try Schedule.zone(named: "Europe/Atlantis") }
                == """
                schedule: there is no time zone 'Europe/Atlantis'
                   = write a name of the time zone database, such as Europe/Berlin or UTC
                """)
    }
}
