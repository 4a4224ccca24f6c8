import Exports
import JobModel
import Testing

@Suite struct CronScheduleTests {
    @Test(arguments: [
        "15 2 * * *", "0 0 1 1 *", "59 23 31 12 *", "* * * * *", "*/5 * * * *", "0-59/5 * * * *", "0 8-18/2 * * *",
        "0,15,30,45 * * * *", "1-5,10-20/3,*/30 * * * *", "0 4 * * 7", "0 4 * * 0", "0 4 * * 5-7", "0 4 * jan *",
        "0 4 * DEC *", "0 4 * * Sun", "0 4 * * sat", "05 04 01 02 *", "0 0 31 1,2 *", "0 0 30 * *", "0 0 */2 * *",
        "@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually", "@reboot",
    ])
    func `what cron documents is taken as it is, without a hint`(text: String) throws {
        let schedule = try CronSchedule(text)
        #expect(schedule.text == text)
        #expect(schedule.hints == [])
    }

    @Test func `blanks around and between fields become one space`() throws {
        #expect(try CronSchedule("  15\t2  * * *\t").text == "15 2 * * *")
        #expect(try CronSchedule(" @daily ").text == "@daily")
    }

    @Test(arguments: [
        ("15 25 * * *", "the hour is 0 to 23, not '25'"),
        ("60 2 * * *", "the minute is 0 to 59, not '60'"),
        ("15 2 0 * *", "the day of month is 1 to 31, not '0'"),
        ("15 2 32 * *", "the day of month is 1 to 31, not '32'"),
        ("15 2 * 13 *", "the month is 1 to 12, or jan to dec, not '13'"),
        ("15 2 * 0 *", "the month is 1 to 12, or jan to dec, not '0'"),
        ("15 2 * june *", "the month is 1 to 12, or jan to dec, not 'june'"),
        ("15 2 * * 8", "the weekday is 0 to 7 (both are Sunday), or sun to sat, not '8'"),
        ("15 2 * * monday", "the weekday is 0 to 7 (both are Sunday), or sun to sat, not 'monday'"),
        ("15 noon * * *", "the hour is 0 to 23, not 'noon'"),
        ("-5 2 * * *", "the minute is 0 to 59, not ''"),
        ("1-2-3 2 * * *", "the minute is 0 to 59, not '2-3'"),
        ("15 1,,3 * * *", "the hour is 0 to 23, not ''"),
        ("15 1, * * *", "the hour is 0 to 23, not ''"),
        ("15 +2 * * *", "the hour is 0 to 23, not '+2'"),
        ("15 ٢ * * *", "the hour is 0 to 23, not '٢'"),
        ("15 2.5 * * *", "the hour is 0 to 23, not '2.5'"),
        ("*5 * * * *", "the minute is 0 to 59, not '*5'"),
        ("*-5 * * * *", "the minute is 0 to 59, not '*'"),
        ("? * * * *", "the minute is 0 to 59, not '?'"),
        ("15 2 L * *", "the day of month is 1 to 31, not 'L'"),
        ("15 99999999999999999999 * * *", "the hour is 0 to 23, not '99999999999999999999'"),
        ("*/0 * * * *", "the minute's step is 1 or more, not '0'"),
        ("*/ * * * *", "the minute's step is 1 or more, not ''"),
        ("*/5/2 * * * *", "the minute's step is 1 or more, not '5/2'"),
        ("15 */two * * *", "the hour's step is 1 or more, not 'two'"),
        ("5/15 * * * *", "the minute's step comes after '*' or a range, as in '*/5', not as in '5/15'"),
        ("0 22-5 * * *", "the hour's range '22-5' ends before it begins; write '22-23,0-5'"),
        ("0 23-0 * * *", "the hour's range '23-0' ends before it begins; write '23,0'"),
        ("0 4 * * 5-1", "the weekday's range '5-1' ends before it begins; write '5-6,0-1'"),
        ("0 4 * * 7-2", "the weekday's range '7-2' ends before it begins; write '0-2'"),
        ("0 4 * 11-2 *", "the month's range '11-2' ends before it begins; write '11-12,1-2'"),
        ("0 4 * * mon-fri", "a weekday's name stands alone in its field; write '1-5', not 'mon-fri'"),
        ("0 4 * * mon,Wed,5", "a weekday's name stands alone in its field; write '1,3,5', not 'mon,Wed,5'"),
        ("0 4 * jan-mar/2 *", "a month's name stands alone in its field; write '1-3/2', not 'jan-mar/2'"),
        ("0 0 31 2 *", "this never comes: no month of '2' has a day of '31'"),
        ("0 0 30-31 feb *", "this never comes: no month of 'feb' has a day of '30-31'"),
        ("0 0 31 4,6,9,11 *", "this never comes: no month of '4,6,9,11' has a day of '31'"),
        (
            "15 2 * *",
            "five fields are wanted (minute, hour, day of month, month, weekday) or a word like @daily, not 4"
        ),
        (
            "15 2 * * * root",
            "five fields are wanted (minute, hour, day of month, month, weekday) or a word like @daily, not 6"
        ),
        ("", "five fields are wanted (minute, hour, day of month, month, weekday) or a word like @daily, not 0"),
        ("@daily 5", "@daily stands for all five fields, nothing comes after it"),
    ])
    func `what cron would refuse or read as something else is refused`(text: String, message: String) {
        #expect("--schedule: \(message) (in '\(text)')" == problem(of: text))
    }

    @Test(arguments: ["@dayly", "@Daily", "@", "@every_minute"])
    func `words are known in lower case only`(word: String) {
        #expect(
            problem(of: word)
                == """
                --schedule: no schedule is called '\(word)'; there are @hourly, @daily, @midnight, @weekly, @monthly, \
                @yearly, @annually, @reboot
                """)
    }

    @Test func `a line break is part of a field, and wrong there`() {
        #expect(problem(of: "15 2 * * *\n* * * * * rm")?.hasPrefix("--schedule: five fields are wanted") == true)
        #expect(problem(of: "15 2 * * 1\n")?.hasPrefix("--schedule: the weekday is 0 to 7") == true)
        #expect(problem(of: "15 2 * * 1\r\n")?.hasPrefix("--schedule: the weekday is 0 to 7") == true)
    }

    @Test func `two kinds of days are either of them`() throws {
        #expect(
            try CronSchedule("15 2 1,15 * mon").hints.map(\.message) == [
                "cron runs it on each day that matches the day of month '1,15' or the weekday 'mon', not only on those "
                    + "that match both"
            ])
        // On each Monday of February.
        #expect(
            try CronSchedule("0 0 31 2 1").hints == [.eitherDay(dayOfMonth: "31", weekday: "1")])
    }

    @Test func `two kinds of days are both of them when one begins with a star`() throws {
        #expect(
            try CronSchedule("15 2 */2 * mon").hints.map(\.message) == [
                "cron runs it on days that match both the day of month '*/2' and the weekday 'mon', as one of them begins "
                    + "with '*'"
            ])
        #expect(try CronSchedule("15 2 1-7 * */7").hints == [.bothDays(dayOfMonth: "1-7", weekday: "*/7")])
    }

    @Test func `leap days are told apart`() throws {
        #expect(try CronSchedule("0 0 29 2 *").hints.map(\.message) == ["29 February comes in leap years only"])
        #expect(try CronSchedule("0 0 29 2,3 *").hints == [])
        #expect(try CronSchedule("0 0 28-29 2 *").hints == [])
    }

    @Test func `a step beyond its range leaves one value`() throws {
        #expect(
            try CronSchedule("*/90 * * * *").hints.map(\.message) == [
                "the step of '*/90' is longer than its range: the minute is 0 alone"
            ])
        #expect(try CronSchedule("0 8-10/5 * * *").hints == [.longStep(.hour, found: "8-10/5", first: 8)])
        #expect(try CronSchedule("0 8-10/2 * * *").hints == [])
    }

    private func problem(of text: String) -> String? {
        do {
            _ = try CronSchedule(text)
            return nil
        } catch {
            return error.message
        }
    }
}
