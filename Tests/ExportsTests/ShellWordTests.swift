import Exports
import Testing

@Suite struct ShellWordTests {
    @Test(arguments: [
        ("", "''"), ("a", "a"), ("/srv/a-b_c.yaml", "/srv/a-b_c.yaml"), ("x=50%", "x=50%"), ("a b", "'a b'"),
        ("it's", #"'it'\''s'"#), ("$HOME", "'$HOME'"), ("a\nb", "'a\nb'"), ("~", "'~'"), ("é", "'é'"), ("!", "'!'"),
    ])
    func `only words that mean something to sh are quoted`(word: String, quoted: String) {
        #expect(ShellWord.quoted(word) == quoted)
    }

    @Test func `words stay apart`() {
        #expect(ShellWord.joined(["openjd", "run", "my job.yaml"]) == "openjd run 'my job.yaml'")
    }
}
