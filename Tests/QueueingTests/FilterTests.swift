import Queueing
import TestSupport
import Testing

@Suite struct FilterTests {
    private func jobs() throws -> [Submission] {
        [
            try .make(1, name: "night", labels: ["show": "a", "camera": "a7"]),
            try .make(2, name: "nightly", isHeld: true),
            try .running(3), try .ended(4), try .ended(5, code: 1),
            try .make(6, owner: .token("7"), name: "day", labels: ["show": "b=c"]),
        ]
    }

    private func matches(_ text: String) throws -> [Int] {
        let filter = try JobFilter(text: text)
        return try jobs().filter(filter.matches).map(\.id.number)
    }

    @Test(
        arguments: [
            ("", [1, 2, 3, 4, 5, 6]), ("state=waiting", [1, 6]), ("state=waiting,held", [1, 2, 6]),
            ("state=held&state=failed", [2, 5]), ("state=open", [1, 2, 3, 6]), ("state=ended", [4, 5]),
            ("label=show", [1, 6]), ("label=show=a", [1]), ("label=show=b=c", [6]), ("label=show=b%3Dc", [6]),
            ("label=show=b*", [6]), ("label=show=*c", [6]), ("label=show=*", [1, 6]), ("label=camera=*7", [1]),
            ("label=show=a*&label=camera=b*", []), ("label=show=", []),
            ("label=show&label=camera=a7", [1]), ("label=show=a&label=show=b", []), ("label=none", []),
            ("owner=token:7", [6]), ("owner=uid:1000&owner=token:7", [1, 2, 3, 4, 5, 6]), ("name=night", [1, 3, 4, 5]),
            ("name=night*", [1, 2, 3, 4, 5]), ("name=*y", [2, 6]), ("name=d*y&name=nightly", [2, 6]),
            ("name=Night", []),
            ("state=open&name=night*&owner=uid:1000&label=show", [1]),
        ] as [(String, [Int])])
    func `a filter matches jobs`(text: String, numbers: [Int]) throws {
        #expect(try matches(text) == numbers)
    }

    @Test(arguments: [
        ("wait=1", "filter: there is no key 'wait'\n   = the keys are state, label, owner and name"),
        ("state", "filter: 'state' has no value\n   = write state=VALUE"),
        ("state=", "filter: 'state' has no value\n   = write state=VALUE"),
        ("&", "filter: a condition is empty\n   = write KEY=VALUE, and '&' between conditions"),
        ("state=held&", "filter: a condition is empty\n   = write KEY=VALUE, and '&' between conditions"),
        (
            "state=queued",
            """
            filter: there is no state 'queued'
               = the states are held, waiting, starting, running, done, work_left, failed, stopped, cancelled, skipped, open and ended
            """
        ),
        (
            "state=held,",
            """
            filter: there is no state ''
               = the states are held, waiting, starting, running, done, work_left, failed, stopped, cancelled, skipped, open and ended
            """
        ),
        (
            "owner=robot:anna",
            "filter: 'robot:anna' is no owner\n   = owners are uid:NUMBER, token:ID, schedule:NAME, watch:NAME and names of tokens"
        ),
        ("label=-a=b", "filter: '-a' is no name of a label\n   = write label=NAME, or label=NAME=VALUE"),
        (
            "name=%zz",
            "filter: '%zz' cannot be decoded\n   = write '%' and two digits for a byte of UTF-8; '%25' is '%'"
        ),
        ("name=%", "filter: '%' cannot be decoded\n   = write '%' and two digits for a byte of UTF-8; '%25' is '%'"),
        (
            "name=%FF",
            "filter: '%FF' cannot be decoded\n   = write '%' and two digits for a byte of UTF-8; '%25' is '%'"
        ),
    ])
    func `other texts are refused`(text: String, message: String) {
        #expect(refusal { _ = try JobFilter(text: text) } == message)
    }

    @Test func `a name of a token is kept, and matches nothing before its owners are known`() throws {
        var filter = try JobFilter(text: "owner=anna&owner=token:7")
        #expect(filter.text == "owner=anna&owner=token:7")
        #expect(try JobFilter(text: filter.text) == filter)
        #expect(try !jobs().contains(where: filter.matches))
        filter.ownerNames = []
        #expect(try jobs().contains(where: filter.matches))
    }

    @Test func `the same filter always has the same text`() throws {
        let filter = try JobFilter(text: "name=z&owner=uid:7&state=held&label=b&name=a%26b%20*&label=a=1&state=waiting")
        #expect(filter.text == "state=held,waiting&label=a=1&label=b&owner=uid:7&name=a%26b%20*&name=z")
        #expect(JobFilter().text == "")
    }

    @Test func `a filter's text is that filter`() throws {
        var random = SplitMix64(seed: 1)
        func word() -> String {
            String(
                (0...Int.random(in: 0...5, using: &random)).map { _ in
                    "ab&%=+ ,*#ü\u{0}😀".randomElement(using: &random) ?? "a"
                })
        }
        for _ in 0..<2000 {
            var filter = JobFilter()
            for _ in 0..<Int.random(in: 0...3, using: &random) { filter.names.insert(word()) }
            for _ in 0..<Int.random(in: 0...3, using: &random) { filter.owners.insert(.watch(word())) }
            for name in ["x", "y"] where Bool.random(using: &random) {
                filter.labels.insert(.init(name: name, value: Bool.random(using: &random) ? word() : nil))
            }
            filter.states = Set(JobState.Name.allCases.filter { _ in Bool.random(using: &random) })
            #expect(try JobFilter(text: filter.text) == filter)
        }
    }

    /// A pattern's slow twin, which tries all lengths that a star may have.
    private func slowMatches(_ text: Substring, _ pattern: Substring) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        if first == "*" {
            return text.indices.contains { slowMatches(text[$0...], pattern.dropFirst()) }
                || slowMatches(text[text.endIndex...], pattern.dropFirst())
        }
        return text.first == first && slowMatches(text.dropFirst(), pattern.dropFirst())
    }

    @Test func `patterns match as their slow twin says`() throws {
        var random = SplitMix64(seed: 2)
        func word(_ letters: String, _ longest: Int) -> String {
            String(
                (0..<Int.random(in: 0...longest, using: &random)).map { _ in
                    letters.randomElement(using: &random) ?? "a"
                })
        }
        for _ in 0..<3000 {
            let (name, pattern) = (word("ab", 6), word("ab*", 5))
            var filter = JobFilter()
            filter.names = [pattern]
            let job = try Submission.make(name: name)
            #expect(filter.matches(job) == slowMatches(name[...], pattern[...]), "\(name) \(pattern)")
        }
    }
}
