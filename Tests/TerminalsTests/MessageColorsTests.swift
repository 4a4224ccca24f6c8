import Terminals
import Testing

@Suite struct MessageColorsTests {
    private static let (red, magenta, cyan, green, end) = (
        "\u{1b}[1;31m", "\u{1b}[1;35m", "\u{1b}[1;36m", "\u{1b}[32m", "\u{1b}[0m"
    )

    @Test(arguments: [
        ("job.yaml:5:16: error: no filter", "job.yaml:5:16: \(red)error:\(end) no filter"),
        ("Error: --workers takes 1 to 1024", "\(red)Error:\(end) --workers takes 1 to 1024"),
        ("a.yaml: warning: error: odd", "a.yaml: \(magenta)warning:\(end) error: odd"),
        ("hint: cron knows no HOME", "\(cyan)hint:\(end) cron knows no HOME"),
        ("  |   ^^^", "  |   \(red)^^^\(end)"),
        ("   = did you mean 'radius'?", "   \(cyan)=\(end) did you mean 'radius'?"),
        ("FAIL  no worker", "\(red)FAIL\(end)  no worker"), ("ok    2 workers", "\(green)ok\(end)    2 workers"),
    ])
    func `words that one looks for have a colour`(text: String, colored: String) {
        #expect(MessageColors.colored(text) == colored)
    }

    @Test(arguments: [
        "3 frames", "", "5 |   - gaussian: {radios: 12}", "  | text ^^^", "= no remedy", "terror: a name",
        "a:error: no space",
        "okay", "  |",
    ])
    func `other text stays as it is`(text: String) {
        #expect(MessageColors.colored(text) == text)
    }

    @Test func `each line of a message has its own colours`() {
        #expect(
            MessageColors.colored("a: error: b\n   = c\n")
                == "a: \(Self.red)error:\(Self.end) b\n   \(Self.cyan)=\(Self.end) c\n")
    }
}

@Suite struct ColorChoiceTests {
    private let terminal = ["TERM": "xterm-256color"]

    @Test func `a terminal has colours, a file or a pipe has none`() {
        #expect(ColorChoice.auto.isColored(isTerminal: true, terminal))
        #expect(!ColorChoice.auto.isColored(isTerminal: false, terminal))
    }

    @Test(arguments: [["TERM": "dumb"], [:], ["TERM": "xterm", "NO_COLOR": "1"]])
    func `NO_COLOR and terminals without colours are respected`(environment: [String: String]) {
        #expect(!ColorChoice.auto.isColored(isTerminal: true, environment))
    }

    @Test func `an empty NO_COLOR says nothing`() {
        #expect(ColorChoice.auto.isColored(isTerminal: true, ["TERM": "xterm", "NO_COLOR": ""]))
    }

    @Test(arguments: [true, false])
    func `the option overrides everything`(isTerminal: Bool) {
        #expect(ColorChoice.always.isColored(isTerminal: isTerminal, ["TERM": "dumb", "NO_COLOR": "1"]))
        #expect(!ColorChoice.never.isColored(isTerminal: isTerminal, terminal))
    }
}
