import Terminals
import Testing

@Suite struct LocalTimeTests {
    @Test(arguments: [
        (0, "2026-11-26 22:04:05 +00:00"), (3600, "2026-11-26 23:04:05 +01:00"),
        (7200, "2026-11-27 00:04:05 +02:00"), (-12600, "2026-11-26 18:34:05 -03:30"),
        (20700, "2026-11-27 03:49:05 +05:45"),
    ])
    func `a local time has its offset from UTC`(offset: Int, text: String) throws {
        let seconds = try #require(LocalTime.seconds("2026-11-26T22:04:05Z"))
        #expect(LocalTime.text(seconds, offset: offset) == text)
    }

    @Test func `seconds of a time in UTC`() {
        #expect(LocalTime.seconds("1970-01-01T00:00:00Z") == 0)
        #expect(LocalTime.seconds("2026-11-26T22:04:05.250Z") == 1_795_730_645)
        #expect(LocalTime.seconds("2024-02-29T12:00:00Z") == 1_709_208_000)
    }

    @Test(arguments: [
        "", "never", "2026-11-26", "2026-13-01T00:00:00Z", "2026-11-26T24:00:00Z", "2026-11-26T22:04:05+01:00",
        "2026-11-26 22:04:05Z", "2026-11-26T22:04:05.2x0Z", "2026-1a-26T22:04:05Z",
    ])
    func `a text that is no time in UTC is shown as it is`(text: String) {
        #expect(LocalTime.seconds(text) == nil)
        #expect(LocalTime.text(utc: text) == text)
    }
}
