import Catalogs
import Manifests
import Testing

/// Texts, words, truth values, lists, lengths and colors.
@Suite struct ValueReadingTests {
    private enum Fruit: String, CaseIterable {
        case apple, pear
    }

    @Test(arguments: ["no", "1e3", "007", "true", "~", "null", "2026-11-21"])
    func `a text stays a text whatever it looks like`(text: String) {
        #expect(Value.read(text, as: .text) == .value(text))
        #expect(Value.read("'\(text)'", as: .nonEmptyText) == .value(text))
    }

    @Test func `an empty text is one only where it may be`() {
        #expect(Value.read("''", as: .text) == .value(""))
        #expect(Value.read("''", as: .nonEmptyText) == .refused("write a text"))
    }

    @Test func `a choice is one of an enumeration's words`() {
        #expect(Value.read("pear", as: ValueReader<Fruit>.choice) == .value(.pear))
        #expect(
            Value.read("paer", as: ValueReader<Fruit>.choice) == .refused("did you mean 'pear'? it takes apple or pear")
        )
        #expect(
            Value.read("Pear", as: ValueReader<Fruit>.choice) == .refused("did you mean 'pear'? it takes apple or pear")
        )
    }

    @Test(arguments: [("true", true), ("false", false)])
    func `a truth value is true or false`(text: String, value: Bool) {
        #expect(Value.read(text, as: .boolean) == .value(value))
    }

    @Test(arguments: [
        ("yes", true), ("on", true), ("True", true), ("1", true), ("no", false), ("off", false), ("N", false),
    ])
    func `what YAML 1_1 takes for a truth value is refused with what to write`(text: String, meant: Bool) {
        #expect(Value.read(text, as: .boolean) == .refused("write \(meant)"))
    }

    @Test func `one value stands for a list of one`() {
        #expect(Value.read("a", as: .list(of: .text)) == .value(["a"]))
        #expect(Value.read("[a, b]", as: .list(of: .text)) == .value(["a", "b"]))
        #expect(Value.read("[]", as: .list(of: .text)) == .value([]))
        #expect(Value.read("[]", as: .nonEmptyList(of: .text)) == .refused("write at least one item"))
    }

    @Test func `a word may stand for a value`() {
        let reader = ValueReader<Int?>.or("none", nil, else: ValueReader<Int>.integer(in: 0...9).map { $0 })
        #expect(Value.read("none", as: reader) == .value(nil))
        #expect(Value.read("3", as: reader) == .value(3))
        #expect(Value.read("nine", as: reader) == .refused("write one from 0 to 9"))
    }

    @Test(arguments: [
        ("12", Length.pixels(12)), ("12px", .pixels(12)), ("-0.5px", .pixels(-0.5)), ("10%", .percent(10)),
        ("12.5%", .percent(12.5)),
    ])
    func `a length is in pixels or percent`(text: String, length: Length) {
        #expect(Value.read(text, as: .length) == .value(length))
    }

    @Test(arguments: ["12 px", "1em", "%", "px", "", "1_0"])
    func `a length has no other unit`(text: String) {
        #expect(Value.read("'\(text)'", as: .length) == .refused("write it like 12, 12px or 10%"))
    }

    @Test(arguments: [
        ("'#fff'", [255, 255, 255, 255]), ("'#1a2B3c'", [26, 43, 60, 255]), ("'#1a2b3c80'", [26, 43, 60, 128]),
        ("white", [255, 255, 255, 255]), ("black", [0, 0, 0, 255]), ("Transparent", [0, 0, 0, 0]),
    ])
    func `a color is in hexadecimal digits or a name`(text: String, samples: [Int]) throws {
        let color = try #require(Value.read(text, as: .color).value)
        #expect([color.red, color.green, color.blue, color.alpha] == samples)
    }

    @Test(arguments: ["'#ff'", "'#ffff'", "'#fffff'", "'#ggg'", "'#'", "'#1a2b3c8'", "fff", "red", "''", "'#１２３'"])
    func `other colors are refused`(text: String) {
        #expect(Value.read(text, as: .color).value == nil)
    }

    @Test func `a list or mapping is no scalar`() {
        #expect(Value.read("[a]", as: .text) == .refused("write a text"))
        #expect(Value.read("{a: b}", as: .boolean) == .refused("write true or false"))
    }
}
