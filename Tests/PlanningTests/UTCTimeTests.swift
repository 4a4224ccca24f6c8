import Foundation
import JobModel
import Testing

@Suite struct UTCTimeTests {
    @Test(arguments: [
        0, 1, 86399, 86400, 951_782_399, 951_782_400, 1_709_251_199, 1_795_892_232, 4_107_542_399, -1, -86400, -86401,
        -2_208_988_800, 253_402_300_799,
    ])
    func `a time has the text that Foundation gives it`(seconds: Int) {
        let (time, date) = (UTCTime(secondsSince1970: seconds), Date(timeIntervalSince1970: Double(seconds)))
        #expect(time.text == date.formatted(.iso8601))
        #expect(time.compactText == date.formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted)))
        #expect(time.day == date.formatted(.iso8601.year().month().day()))
    }

    @Test func `a number that is no time has the nearest text`() {
        #expect(UTCTime(secondsSince1970: .min).text == "0001-01-01T00:00:00Z")
        #expect(UTCTime(secondsSince1970: .max).text == "9999-12-31T23:59:59Z")
    }
}
