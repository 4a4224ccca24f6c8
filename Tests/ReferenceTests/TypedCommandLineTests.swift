import Reference
import Testing

/// What a command line says before it is complete.
@Suite struct TypedCommandLineTests {
    private func line(_ words: String...) -> TypedCommandLine {
        TypedCommandLine(words, cursor: words.count - 1, home: "/home/anna")
    }

    @Test func `the value of an option follows it, or its sign of equality`() {
        #expect(line("penumbra", "show", "--state-dir", "/state", "").value(of: "--state-dir") == "/state")
        #expect(line("penumbra", "show", "--state-dir=/state", "").value(of: "--state-dir") == "/state")
        #expect(line("penumbra", "show", "").value(of: "--state-dir") == nil)
    }

    @Test func `words that bash has divided are joined`() {
        let line = line("penumbra", "show", "--server", "=", "http", ":", "//127.0.0.1", ":", "8642", "")
        #expect(line.value(of: "--server") == "http://127.0.0.1:8642")
    }

    @Test func `a value that is being written does not count`() {
        #expect(line("penumbra", "show", "--state-dir", "/sta").value(of: "--state-dir") == nil)
        #expect(line("penumbra", "show", "--state-dir").value(of: "--state-dir") == nil)
    }

    @Test func `quotes and the home folder are read as shells read them`() {
        #expect(line("show", "--state-dir", "'my state'", "").value(of: "--state-dir") == "my state")
        #expect(line("show", "--state-dir", "\"my state\"", "").value(of: "--state-dir") == "my state")
        #expect(line("show", "--state-dir", "~/state", "").value(of: "--state-dir") == "/home/anna/state")
    }

    @Test(arguments: ["$STATE", "`pwd`", "a\\ b", "\"$STATE\"", "'a'b'", "'", ""])
    func `a word that only a shell can read has no value`(word: String) {
        #expect(line("show", "--state-dir", word, "").value(of: "--state-dir") == nil)
    }

    @Test func `a subcommand is the word after its command`() {
        #expect(line("penumbra", "queue", "retry", "").word(after: "queue") == "retry")
        #expect(line("penumbra", "queue").word(after: "queue") == nil)
        #expect(line("penumbra", "submit", "").word(after: "queue") == nil)
    }

    @Test func `the word that is being written is not complete`() {
        #expect(line("penumbra", "queue", "hold", "3", "4").complete == ["penumbra", "queue", "hold", "3"])
    }
}
