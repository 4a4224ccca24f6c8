import JobModel
import Queueing
import Testing

@Suite struct ValueTests {
    @Test(
        arguments: [
            ("2026-11-25T12:00:00Z", 1_795_608_000_000), ("2026-11-25T13:00:00+01:00", 1_795_608_000_000),
            ("2026-11-25 12:00:00.250Z", 1_795_608_000_250), ("2026-11-25t06:30:00.2504-05:30", 1_795_608_000_250),
            ("1970-01-01T00:00:00Z", 0), ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
            ("2024-02-29T00:00:00Z", 1_709_164_800_000), ("2016-12-31T23:59:60Z", 1_483_228_800_000),
        ] as [(String, Int64)])
    func `times are read as RFC 3339`(text: String, milliseconds: Int64) {
        #expect(WallTime(text: text)?.milliseconds == milliseconds)
    }

    @Test(arguments: [
        "", "tomorrow", "2026-11-25", "2026-11-25T12:00Z", "2026-11-25T12:00:00", "2026-02-29T12:00:00Z",
        "2026-13-01T12:00:00Z", "2026-11-25T24:00:00Z", "2026-11-25T12:00:00.Z", "2026-11-25T12:00:00Zx",
        "1969-12-31T23:59:59Z", "2026-11-25T12:00:00+1:00", "٢026-11-25T12:00:00Z",
    ])
    func `other texts are no times`(text: String) {
        #expect(WallTime(text: text) == nil)
    }

    @Test func `a time's text is that time`() {
        for milliseconds in stride(from: Int64(0), to: 253_402_300_799_999, by: 98_765_432_109) {
            let time = WallTime(milliseconds: milliseconds)
            #expect(WallTime(text: time.text) == time)
        }
    }

    @Test func `no arithmetic of times overflows`() {
        #expect(WallTime.latest + .seconds(Int64.max) == .latest)
        #expect(WallTime.noon + .seconds(Int64.min) == .earliest)
        #expect(WallTime(seconds: .max) == .latest)
        #expect(WallTime(seconds: .min) == .earliest)
        #expect(WallTime(milliseconds: -1) == .earliest)
    }

    @Test func `days of the calendar follow each other`() {
        var day = CalendarDay(year: 1969, month: 1, day: 1)
        var weekday = 3
        for number in -365...200_000 {
            let isRight =
                day.daysSince1970 == number && CalendarDay(daysSince1970: number) == day && day.weekday == weekday
            guard isRight else {
                Issue.record("day \(number) is \(CalendarDay(daysSince1970: number)), not \(day)")
                return
            }
            weekday = (weekday + 1) % 7
            let isLeap = (day.year % 4 == 0 && day.year % 100 != 0) || day.year % 400 == 0
            let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
            if day.day < lengths[day.month - 1] {
                day = CalendarDay(year: day.year, month: day.month, day: day.day + 1)
            } else if day.month < 12 {
                day = CalendarDay(year: day.year, month: day.month + 1, day: 1)
            } else {
                day = CalendarDay(year: day.year + 1, month: 1, day: 1)
            }
        }
    }

    @Test(arguments: [
        ("uid:1000", Owner.user(1000)), ("token:7f", .token("7f")), ("schedule:nightly", .schedule("nightly")),
        ("watch:in:box", .watch("in:box")),
    ])
    func `owners have a text`(text: String, owner: Owner) {
        #expect(Owner(text: text) == owner)
        #expect(owner.text == text)
    }

    @Test(arguments: ["", "uid", "uid:", "uid:-1", "uid:007", "uid:4294967296", "root:0", ":x"])
    func `other texts are no owners`(text: String) {
        #expect(Owner(text: text) == nil)
    }

    @Test(arguments: ["-1", "101", "high", ""])
    func `a priority is 0 to 100`(text: String) {
        #expect(
            refusal { _ = try Priority(text: text) }
                == """
                priority: '\(text)' is not a whole number from 0 to 100
                   = 50 is the normal priority, and 100 is the most urgent one
                """)
    }

    @Test func `priorities have ends`() throws {
        #expect(try Priority(text: "0") == .lowest)
        #expect(try Priority(text: "100") == .highest)
        #expect(try Priority(text: "50") == .normal)
    }

    @Test func `labels have names and values`() throws {
        #expect(try Labels(texts: ["b=", "a/b.c-d_e=x=y", "A7=ü"]).texts == ["A7=ü", "a/b.c-d_e=x=y", "b="])
        var labels = try Labels(texts: ["a=1"])
        try labels.set("a", to: "2")
        #expect(labels[name: "a"] == "2")
        try labels.set("a", to: nil)
        #expect(labels.texts == [])
    }

    @Test(arguments: [
        (["a"], "label: 'a' has no value\n   = write NAME=VALUE"),
        (["a=1", "a=2"], "label: 'a' is given twice\n   = a label has one value"),
        (
            ["=1"],
            """
            label: '' is no name of a label
               = a name has 1 to 63 letters (a-z, A-Z), digits, '.', '_', '-' and '/', and begins with a letter or digit
            """
        ),
        (
            ["-a=1"],
            """
            label: '-a' is no name of a label
               = a name has 1 to 63 letters (a-z, A-Z), digits, '.', '_', '-' and '/', and begins with a letter or digit
            """
        ),
        (
            ["a=x\ny"],
            """
            label a: the value 'x\\u{a}y' is too long or has invisible characters
               = a value has at most 255 characters
            """
        ),
        ((0...32).map { "l\($0)=" }, "label: a job has at most 32 labels\n   = remove a label first"),
    ])
    func `bad labels are refused`(texts: [String], message: String) {
        #expect(refusal { _ = try Labels(texts: texts) } == message)
    }

    @Test func `long labels are refused`() {
        let long = String(repeating: "x", count: 256)
        #expect(refusal { _ = try Labels([long: ""]) }?.hasPrefix("label: 'xxx") == true)
        #expect(refusal { _ = try Labels(["a": long]) }?.hasPrefix("label a: the value 'xxx") == true)
        #expect(refusal { _ = try Labels(["a": String(long.dropLast())]) } == nil)
    }

    @Test(arguments: [("17", Need(17)), ("17:success", Need(17)), ("17:end", Need(17, on: .end))])
    func `a dependency has a text`(text: String, need: Need) throws {
        #expect(try Need(text: text) == need)
    }

    @Test(arguments: ["", "x", "0", "-1", "17:", "17:never", "017", "17:end:end"])
    func `other texts are no dependencies`(text: String) {
        #expect(
            refusal { _ = try Need(text: text) }
                == """
                after: '\(text)' is no dependency
                   = write the number of a job, and ':success' or ':end' behind it: 17, or 17:end
                """)
    }

    @Test(
        arguments: [
            ("1/10min", 1, 600), ("5/h", 5, 3600), ("100/1d", 100, 86_400), ("2/90s", 2, 90), ("1/10m", 1, 600),
        ] as [(String, Int, Int)])
    func `aging has a text`(text: String, points: Int, seconds: Int) throws {
        #expect(try Aging.read(text) == Aging(points: points, per: .seconds(seconds)))
    }

    @Test func `aging can be off`() throws {
        #expect(try Aging.read("off") == nil)
    }

    @Test(arguments: ["", "1", "0/h", "1/0s", "101/h", "1/10", "1/10years", "-1/h", "1/99999999999999999999h"])
    func `other texts are no aging`(text: String) {
        #expect(
            refusal { _ = try Aging.read(text) }
                == "aging: '\(text)' is no aging\n   = write points per time, as in 1/10min, or off")
    }

    @Test(arguments: [0, -5, 604_801])
    func `a deadline is a second to a week`(seconds: Int) {
        #expect(
            refusal { _ = try RunOptions(deadline: seconds) }
                == """
                deadline: \(seconds) seconds are not between a second and a week
                   = leave the deadline out to run to the end
                """)
    }
}
