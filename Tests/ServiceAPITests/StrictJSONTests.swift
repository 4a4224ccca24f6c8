import Queueing
import ServiceAPI
import Testing

/// What clients are told about bodies that are wrong.
@Suite struct StrictJSONTests {
    private struct Body: Decodable, Equatable {
        struct Part: Decodable, Equatable { let x: Bool }

        let a: Int
        var b: String?
        var c: [Int]?
        var e: UInt8?
        var f: Double?
        var part: Part?
        var time: WallTime?
    }

    private func message(_ text: String, limit: Int = 1000) -> String? {
        do throws(BodyError) {
            let _: Body = try StrictJSON.decode(from: Array(text.utf8), limit: limit)
            return nil
        } catch {
            return "\(error.status) \(error.message)"
        }
    }

    @Test(arguments: [
        (#""#, "line 1, column 1: it ends too early"),
        (#"{"a":1"#, "line 1, column 7: it ends too early"),
        (#"{"a":1,}"#, "line 1, column 8: a key in quotation marks is expected"),
        (#"{"a" 1}"#, "line 1, column 6: ':' is expected"),
        (#"{"a":01}"#, "line 1, column 7: ',' or '}' is expected"),
        (#"{"c":[1 2]}"#, "line 1, column 9: ',' or ']' is expected"),
        (#"{"a":-}"#, "line 1, column 7: a digit is expected"),
        (#"{"a":1.}"#, "line 1, column 8: a digit is expected"),
        (#"{"a":tru}"#, "line 1, column 6: a value is expected"),
        (#"{"a":NaN}"#, "line 1, column 6: a value is expected"),
        (#"{"a":1}x"#, "line 1, column 8: the JSON has ended before"),
        ("{\"a\":1,\n \"a\":2}", "line 2, column 2: the key 'a' occurs twice"),
        (#"{"b":"\x"}"#, "line 1, column 7: this is no escape of JSON"),
        (#"{"b":"\ud83d"}"#, "line 1, column 7: this is no escape of JSON"),
        (#"{"b":"\u+123"}"#, "line 1, column 7: this is no escape of JSON"),
        (#"{"b":"\u12"}"#, "line 1, column 7: this is no escape of JSON"),
        ("{\"b\":\"\n\"}", "line 1, column 7: a control character in text is written as an escape, such as \\n"),
        (String(repeating: "[", count: 100), "line 1, column 33: it is nested more than 32 levels deep"),
    ])
    func `what is no JSON is refused with its place`(text: String, message: String) {
        #expect(self.message(text) == "400 the body cannot be read as JSON: \(message)")
    }

    @Test func `text that is not UTF-8 is refused`() {
        let bytes = Array(#"{"b":""#.utf8) + [0xff] + Array(#""}"#.utf8)
        #expect {
            let _: Body = try StrictJSON.decode(from: bytes)
        } throws: { error in
            (error as? BodyError)?.message
                == "the body cannot be read as JSON: line 1, column 6: this text is not UTF-8"
        }
    }

    @Test(arguments: [
        (#"[1]"#, "an object is expected, and this is a list"),
        (#"{}"#, "the key 'a' is missing"),
        (#"{"a":"x"}"#, "a: a whole number is expected, and this is text"),
        (#"{"a":null}"#, "a: a whole number is expected, and this is null"),
        (#"{"a":1.5}"#, "a: 1.5 is not a whole number, or outside of the allowed range"),
        (
            #"{"a":99999999999999999999}"#,
            "a: 99999999999999999999 is not a whole number, or outside of the allowed range"
        ),
        (#"{"a":1,"e":256}"#, "e: 256 is not a whole number, or outside of the allowed range"),
        (#"{"a":1,"e":-1}"#, "e: -1 is not a whole number, or outside of the allowed range"),
        (#"{"a":1,"f":1e999}"#, "f: 1e999 is too large"),
        (#"{"a":1,"b":[]}"#, "b: text is expected, and this is a list"),
        (#"{"a":1,"c":[1,true]}"#, "c[1]: a whole number is expected, and this is true or false"),
        (#"{"a":1,"part":{"x":1}}"#, "part.x: true or false is expected, and this is a number"),
        (#"{"a":1,"part":{}}"#, "part: the key 'x' is missing"),
        (#"{"a":1,"part":{"x":true,"y":1}}"#, "part: there is no key 'y'\n   = the keys are x"),
        (#"{"a":1,"z\u001b":1}"#, "there is no key 'z\\u{1b}'\n   = the keys are a, b, c, e, f, part, time"),
        (
            #"{"a":1,"time":"noon"}"#,
            "time: 'noon' is no time\n   = write a date, a time and a zone: 2026-11-25T06:00:00Z, or "
                + "2026-11-25T07:00:00+01:00"
        ),
    ])
    func `a value that does not fit is refused by its name`(text: String, message: String) {
        #expect(self.message(text) == "422 \(message)")
    }

    @Test func `a body has a limit`() {
        #expect(message(#"{"a":1}"#, limit: 7) == nil)
        #expect(message(#"{"a":1}"#, limit: 6) == "413 the body has more than 6 bytes")
    }

    @Test func `numbers and texts are read as JSON means them`() throws {
        let text = #" { "a" : 5.0e0 , "b" : "\ud83d\ude00\u00E9\n\/" , "c" : [ ] , "e" : 2e2 , "f" : -0.5 } "#
        let body: Body = try StrictJSON.decode(from: Array(text.utf8))
        #expect(body == Body(a: 5, b: "😀é\n/", c: [], e: 200, f: -0.5))
    }

    @Test func `every text that is cut off is refused`() throws {
        let text = Array(#"{"a":1,"b":"\ud83d\ude00","c":[1,2],"part":{"x":true}}"#.utf8)
        let _: Body = try StrictJSON.decode(from: text)
        for end in 0..<text.count {
            #expect(throws: BodyError.self) { let _: Body = try StrictJSON.decode(from: Array(text[..<end])) }
        }
    }

    @Test func `an answer may have keys that this version does not know`() throws {
        let text = Array(#"{"a":1,"part":{"x":true,"later":[{}]},"later":null}"#.utf8)
        let body: Body = try StrictJSON.decode(from: text, unknownKeys: .ignored)
        #expect(body == Body(a: 1, part: .init(x: true)))
    }
}
