import Exports
import Foundation
import Testing

@Suite struct CrontabLineTests {
    @Test(arguments: [
        ("/srv/night.yaml", "/srv/night.yaml"),
        ("--set", "--set"),
        ("save.quality=90", "save.quality=90"),
        ("/srv/night ly.yaml", "'/srv/night ly.yaml'"),
        ("/srv/it's.yaml", #"'/srv/it'\''s.yaml'"#),
        ("filters[0].gaussian.radius=14", "'filters[0].gaussian.radius=14'"),
        ("50%", #"50\%"#),
        ("50 %", #"'50 \%'"#),
        ("über", "'über'"),
        ("~/a", "'~/a'"),
        ("$HOME", "'$HOME'"),
        ("", "''"),
        (#"a\b"#, #"'a\b'"#),
        (#"a\\b"#, #"'a\''\b'"#),
        (#"a\%b"#, #"'a\''\%b'"#),
    ])
    func `a word is quoted where sh or cron would read it differently`(word: String, written: String) throws {
        #expect(try line([word]) == "15 2 * * * /usr/local/bin/penumbra \(written)")
    }

    @Test func `a line is what crontab takes`() throws {
        #expect(
            try line(["run", "--quiet", "/srv/photos/night ly.yaml"])
                == "15 2 * * * /usr/local/bin/penumbra run --quiet '/srv/photos/night ly.yaml'")
        let program = try CrontabLine(schedule: CronSchedule("@daily"), program: "/opt/my apps/penumbra", arguments: [])
        #expect(program.text == "@daily '/opt/my apps/penumbra'")
    }

    /// Cron's own part is played here, sh plays its.
    @Test(arguments: [true, false])
    func `what cron and sh make of a line are the arguments`(foldsBackslashes: Bool) throws {
        let words = [
            "run", "--quiet", "/srv/photos/night ly.yaml", "it's", "'", "''", #"""#, "%", "%%", "100 %", "a%b'c",
            "über",
            "写真", "e\u{301}", "tab\there", "return\rhere", "$(false)", "`false`", "a;b&c|d>e<f", "*?[a]{b,c}",
            "!history",
            "#comment", "~", "a=b", "", " ", #"\"#, #"\\"#, #"\\\"#, #"\%"#, #"\\%"#, #"\'"#, #"'\"#, #"\'%\\%'"#,
            #"\n"#,
            #"%\"#, #"a\ b"#,
        ]
        let line = try CrontabLine(
            schedule: CronSchedule("15 2 * * *"), program: "/usr/bin/printf", arguments: [#"%s\0"#] + words)
        let command = Self.command(of: line.text, foldsBackslashes: foldsBackslashes)
        let output = try Self.output(of: command)
        let found = output.split(separator: 0, omittingEmptySubsequences: false).dropLast()
            .map { String(decoding: $0, as: UTF8.self) }
        #expect(found.map { Array($0.unicodeScalars) } == words.map { Array($0.unicodeScalars) })
    }

    @Test(arguments: [("a\nb", #"'a\u{a}b'"#), ("a\r\nb", #"'a\u{d}\u{a}b'"#)])
    func `a line break is refused`(word: String, shown: String) {
        #expect(
            problem(of: [word])
                == "\(shown): a crontab's line cannot hold a line break; rename what it names")
    }

    @Test func `a command as long as cron takes is the longest`() throws {
        let program = "/usr/local/bin/penumbra "
        let most = String(repeating: "a", count: 998 - program.utf8.count)
        #expect(try line([most]).hasSuffix(most))
        #expect(
            problem(of: [most + "a"])
                == """
                the command has 999 bytes, and cron takes 998; write a line for each manifest, or put options into a \
                config file
                """)
    }

    private func line(_ arguments: [String]) throws -> String {
        try CrontabLine(
            schedule: CronSchedule("15 2 * * *"), program: "/usr/local/bin/penumbra", arguments: arguments
        ).text
    }

    private func problem(of arguments: [String]) -> String? {
        do {
            _ = try line(arguments)
            return nil
        } catch {
            return (error as? ExportError)?.message
        }
    }

    /// What cron hands to sh: the sixth field up to a `%`, where `\%` is a percent sign. Debian's takes `\\` for one
    /// backslash, others leave it.
    private static func command(of line: String, foldsBackslashes: Bool) -> String {
        let fields = line.split(separator: " ", maxSplits: 5)
        var result: [UInt8] = []
        var isEscaped = false
        for byte in fields[5].utf8 {
            if isEscaped {
                isEscaped = false
                if byte == UInt8(ascii: "%") || (foldsBackslashes && byte == UInt8(ascii: "\\")) { result.removeLast() }
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "%") {
                break
            }
            result.append(byte)
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func output(of command: String) throws -> Data {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command]
        process.environment = [:]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return output
    }
}
