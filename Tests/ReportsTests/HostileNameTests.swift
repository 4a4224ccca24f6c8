import JobModel
import Reports
import Testing

/// A file's name may be anything.
@Suite struct HostileNameTests {
    private static let names = [
        "<script>alert(1)</script>.jpg", "\"><img src=x onerror=alert(1)>.jpg", "' onmouseover='alert(1).jpg",
        "a&lt;b&amp;.jpg", "</title></style></table>.jpg", "<!--.jpg", "a\nb\rc\td.jpg", "\u{1b}[31mred\u{7}.jpg",
        "\u{202e}gpj.exe", "\u{2066}a\u{2069}\u{200b}\u{feff}.jpg", "\u{2028}\u{85}\u{0}.jpg", "]]>.jpg", "\\u{a}.jpg",
        "javascript:alert(1)", "//evil.example/x.png", "e\u{301}\r\n.jpg", "/", "", "a/", "\u{e0041}.jpg",
    ]

    /// A page with the name wherever a name, or text with a name in it, can be.
    private func page(_ name: String) -> String {
        let thumbnail = Thumbnail(format: .webp, bytes: [1])
        let states: [FrameResult] = [
            .published, .skipped(reason: name), .kept(reason: name), .failed(cause: name, message: "\(name): \(name)"),
            .stillBroken(since: 0, message: name), .left,
        ]
        let frames = states.map { state in
            FrameRecord.make(name, output: name, state: state, time: .seconds(1), before: thumbnail, after: thumbnail)
        }
        let run = RunReport.make(
            job: name, stopped: name, frames: frames, orphans: [name], settings: [.init(name, name)])
        return ReportPage.html([run, run])
    }

    @Test(arguments: names)
    func `a name adds no element, no attribute and no address`(name: String) throws {
        let (hostile, plain) = (try HTMLOutline(page(name)), try HTMLOutline(page("plain.jpg")))
        func structure(_ outline: HTMLOutline) -> [String] {
            // A path's folder, the marks of what does not show and a message's further lines depend on the name.
            outline.elements.filter { element in
                let isMark = element.name == "i" && element.attributes == ["class": "odd"]
                return !isMark && (!["br", "span"].contains(element.name) || !element.attributes.isEmpty)
            }
            .map { "\($0.name) \($0.attributes.keys.sorted())" }
        }
        #expect(structure(hostile) == structure(plain))
        #expect(hostile.count("script") == 0 && hostile.count("img") == plain.count("img"))
        #expect(hostile.attributes("src") == plain.attributes("src"))
        #expect(hostile.attributes("href") == plain.attributes("href"))
    }

    @Test(arguments: names)
    func `what does not show, or turns the text around, is written out`(name: String) {
        let hidden = page(name).unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control: scalar != "\n"
            case .format, .lineSeparator, .paragraphSeparator: true
            default: false
            }
        }
        #expect(hidden.isEmpty)
    }

    @Test func `names are shown as they are, but for what would do harm`() {
        let shown: [(String, String)] = [
            ("a&b's \"<1>\".jpg", "a&amp;b&#39;s &quot;&lt;1&gt;&quot;.jpg"),
            ("a\nb.jpg", "a<i class=\"odd\">\\u{a}</i>b.jpg"),
            ("\u{202e}gpj.exe", "<i class=\"odd\">\\u{202e}</i>gpj.exe"),
            ("שלום 写真 👩‍🚀.jpg", "שלום 写真 👩‍🚀.jpg"),
        ]
        for (name, html) in shown {
            #expect(page(name).contains("<bdi class=\"path\">\(html)</bdi>"), "\(name)")
        }
        #expect(page("a\nb").contains(#"alt="a\u{a}b, before""#))
    }
}
