import Manifests
import Testing

/// Numbers, counts and times as texts.
@Suite struct NumberReadingTests {
    @Test(arguments: [
        ("0", 0), ("12", 12), ("-3", -3), ("+4", 4), ("0.5", 0.5), ("1e3", 1000), ("2.5E-1", 0.25), ("'7'", 7),
        ("0e9", 0),
    ])
    func `decimal numbers are read`(text: String, value: Double) {
        #expect(Value.read(text, as: .number(in: -1000...1000)) == .value(value))
    }

    @Test func `negative zero is zero`() throws {
        let zero = try #require(Value.read("-0", as: .number(in: -1...1)).value)
        #expect(zero.sign == .plus)
    }

    @Test(arguments: [
        (".5", "write 0.5"), ("5.", "write 5"), ("-.5", "write -0.5"), ("007", "write 7"), ("-01.5", "write -1.5"),
        ("00", "write 0"), ("1_000", "write the digits without '_'"),
        ("1,5", "write a point for the decimals, and nothing between thousands"), ("0x1F", "write it in decimal"),
        ("nan", "write a finite number"), ("-inf", "write a finite number"), (".inf", "write a finite number"),
        ("Infinity", "write a finite number"), ("1e999", "write a finite number"), ("12px", "write 12, without a unit"),
        ("1e", "write it like 12, 0.5 or 1e3"), ("--1", "write it like 12, 0.5 or 1e3"),
        ("''", "write it like 12, 0.5 or 1e3"),
        (".", "write it like 12, 0.5 or 1e3"), ("1e3.5", "write it like 12, 0.5 or 1e3"),
        ("no", "write it like 12, 0.5 or 1e3"),
        ("' 1'", "write it like 12, 0.5 or 1e3"), ("１", "write it like 12, 0.5 or 1e3"),
    ])
    func `what other languages take for numbers is refused with what to write`(text: String, remedy: String) {
        #expect(Value.read(text, as: .number(in: -1000...1000)) == .refused(remedy))
    }

    @Test func `a range is named with its unit`() {
        #expect(
            Value.read("1001", as: .number(in: 0...1000, unit: "px")) == .refused("write a value from 0 to 1000 px"))
        #expect(Value.read("2", as: .number(in: 0...0.5)) == .refused("write a value from 0 to 0.5"))
        #expect(
            Value.read("0", as: .integer(in: 1...Int.max, unit: "px")) == .refused("write a value of at least 1 px"))
    }

    @Test(arguments: [("3", 3), ("-3", -3), ("+3", 3)])
    func `whole numbers are read`(text: String, value: Int) {
        #expect(Value.read(text, as: .integer(in: -10...10)) == .value(value))
    }

    @Test(arguments: [
        ("3.0", "write 3: only whole numbers will do"), ("1e1", "write 10: only whole numbers will do"),
        ("2.5", "write 2 or 3: only whole numbers will do"), ("03", "write 3"),
        ("99999999999999999999", "write a value from -10 to 10"),
    ])
    func `numbers that are not written as whole ones are refused`(text: String, remedy: String) {
        #expect(Value.read(text, as: .integer(in: -10...10)) == .refused(remedy))
    }

    @Test(arguments: [
        ("1", 1), ("800k", 800_000), ("2000M", 2_000_000_000), ("1.5G", 1_500_000_000), ("2T", 2_000_000_000_000),
        ("0.001k", 1),
    ])
    func `counts have suffixes of powers of 1000`(text: String, count: Int) {
        #expect(Value.read(text, as: .count(in: 1...Int.max, unit: "px")) == .value(count))
    }

    @Test(arguments: ["1.5", "M", "2000m", "2 M", "0.0001k", "1_000", "1e3", ""])
    func `counts are whole and have known suffixes`(text: String) {
        #expect(Value.read("'\(text)'", as: .count(in: 1...Int.max, unit: "px")) == .refused("write it like 2000M"))
    }

    @Test(arguments: [
        ("1", 1), ("64B", 64), ("4k", 4000), ("4kB", 4000), ("4Ki", 4096), ("4KiB", 4096), ("512M", 512_000_000),
        ("1.5GiB", 1_610_612_736), ("1TB", 1_000_000_000_000), ("2Ti", 2_199_023_255_552),
    ])
    func `bytes have suffixes of powers of 1000 and 1024`(text: String, bytes: Int) {
        #expect(Value.read(text, as: .bytes(in: 1...Int.max)) == .value(bytes))
    }

    @Test func `numbers that fit no integer are out of range`() {
        let largest = "write a value of at most 9223372036854775807 px"
        #expect(Value.read("99999999T", as: .count(in: 1...Int.max, unit: "px")) == .refused(largest))
        #expect(Value.read("9223372036854775808", as: .integer(in: 1...Int.max, unit: "px")) == .refused(largest))
        #expect(Value.read("5G", as: .bytes(in: 1...1000)) == .refused("write a value from 1 to 1000 bytes"))
    }

    @Test(arguments: [("90", 90), ("90s", 90), ("5m", 300), ("1h", 3600), ("1.5h", 5400), ("2d", 172_800)])
    func `times have units`(text: String, seconds: Double) {
        #expect(Value.read(text, as: .seconds(in: 1...604_800)) == .value(seconds))
        #expect(Value.read(text, as: .duration(in: 1...604_800)) == .value(.seconds(seconds)))
    }

    @Test(arguments: ["5 m", "5min", "1h30m", "m", "soon", "1:30"])
    func `times are one number with one unit`(text: String) {
        #expect(Value.read(text, as: .seconds(in: 1...10)) == .refused("write seconds, or 90s, 5m, 1h or 2d"))
    }

    @Test func `a range of times is named in the largest units`() {
        #expect(Value.read("1", as: .seconds(in: 90...5400)) == .refused("write a value from 90s to 90m"))
    }
}
