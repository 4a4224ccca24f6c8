import Terminals
import Testing

@Suite struct ASCIITextTests {
    @Test(arguments: [
        ["LANG": "en_US.UTF-8"], ["LANG": "de_DE.utf8"], ["LC_ALL": "C.UTF-8", "LANG": "C"],
        ["LC_ALL": "", "LC_CTYPE": "en_GB.UTF-8", "LANG": "C"], ["LANG": "sr_RS.UTF-8@latin"],
    ])
    func `a locale in UTF-8 keeps every character`(environment: [String: String]) {
        #expect(!ASCIIText.isNeeded(environment))
    }

    @Test(arguments: [
        [:], ["LANG": "C"], ["LANG": "de_DE.ISO-8859-15@euro"], ["LC_ALL": "POSIX", "LANG": "en_US.UTF-8"],
        ["LANG": "de_DE"],
    ])
    func `another locale gets ASCII`(environment: [String: String]) {
        #expect(ASCIIText.isNeeded(environment))
    }

    @Test func `Penumbra's signs have stand-ins, and letters are shown by their numbers`() {
        #expect(ASCIIText.of("160×120 → 80×60, 0–1, …") == "160x120 -> 80x60, 0-1, ...")
        #expect(ASCIIText.of("[███▌  ]") == "[####  ]")
        #expect(ASCIIText.of("Größe.png") == "Gr\\u{f6}\\u{df}e.png")
        #expect(ASCIIText.of("plain ~ text\n") == "plain ~ text\n")
    }
}
