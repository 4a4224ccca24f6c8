import JobModel
import Reports
import Testing

@Suite struct ReportPageTests {
    private static let pixel = Thumbnail(format: .png, bytes: [0x89, 0x50, 0x4e, 0x47, 1, 2, 3])

    /// With something in every section.
    private let rich: RunReport = {
        let frames = [
            FrameRecord.make("photos/a.jpg", time: .milliseconds(400), before: pixel, after: pixel),
            .make("photos/b.jpg", state: .skipped(reason: "current"), time: .milliseconds(100)),
            .make("photos/c.jpg", output: "out/c.webp", state: .kept(reason: "edited since")),
            .broken("photos/d.jpg", "worker crashed", "photos/d.jpg: signal 11"),
            .make("photos/e.jpg", state: .stillBroken(since: 0, message: "too many pixels")),
            .make("photos/f.jpg", state: .left),
        ]
        return .make(frames: frames, orphans: ["out/gone.webp"], settings: [.init("verify", "audit")])
    }()

    private func page(_ runs: RunReport...) -> String { ReportPage.html(runs) }

    @Test func `every element is closed, every link arrives, and no two elements share a name`() throws {
        for html in [page(rich), page(rich, .make(job: "b"), rich), page(.make()), page()] {
            let outline = try HTMLOutline(html)
            let names = outline.attributes("id")
            #expect(Set(names).count == names.count)
            for link in outline.attributes("href") where link.hasPrefix("#") {
                #expect(names.contains(String(link.dropFirst())), "\(link) leads nowhere")
            }
        }
    }

    @Test func `nothing is asked of anybody`() throws {
        let html = page(rich)
        let policy = ReportPage.contentSecurityPolicy
        #expect(policy.hasPrefix("default-src 'none'; img-src data:; style-src 'unsafe-inline'"))
        #expect(html.contains(#"<meta http-equiv="Content-Security-Policy" content="\#(policy)">"#))
        let outline = try HTMLOutline(html)
        #expect(outline.attributes("src").count == 2 && outline.attributes("src").allSatisfy { $0.hasPrefix("data:") })
        #expect(outline.attributes("href").allSatisfy { $0.hasPrefix("#") || $0 == "data:," })
        #expect(outline.count("script") + outline.count("iframe") + outline.count("form") == 0)
        for word in ["http:", "https:", "url(", "@import", "javascript:"] { #expect(!html.contains(word)) }
    }

    @Test func `a page says its language, and its headings follow one another`() throws {
        for html in [page(rich), page(rich, .make(job: "b"))] {
            let outline = try HTMLOutline(html)
            #expect(outline.elements.first?.attributes["lang"] == "en")
            let levels = outline.elements.compactMap { element in
                element.name.wholeMatch(of: /h([1-6])/).flatMap { Int($0.1) }
            }
            #expect(levels.first == 1 && levels.count { $0 == 1 } == 1)
            for (before, after) in zip(levels, levels.dropFirst()) { #expect(after <= before + 1) }
        }
    }

    @Test func `tables name their rows and columns, and pictures what they show`() throws {
        let outline = try HTMLOutline(page(rich))
        let headers = outline.elements.filter { $0.name == "th" }
        #expect(!headers.isEmpty && headers.allSatisfy { ["row", "col"].contains($0.attributes["scope"]) })
        #expect(outline.attributes("alt") == ["photos/a.jpg, before", "photos/a.jpg, after"])
        #expect(outline.elements.filter { $0.name == "svg" }.allSatisfy { $0.attributes["aria-hidden"] == "true" })
    }

    @Test func `the verdict comes first`() throws {
        let bad = FrameRecord.broken("x")
        let cases: [(RunReport, String)] = [
            (.make(counts: .init(frames: 1200, published: 1000, skipped: 200)), "All 1,200 frames are in place"),
            (.make(frames: [.make()]), "1 frame is in place"),
            (.make(frames: [bad, .make()]), "1 of 2 frames failed"),
            (.make(frames: [bad, bad]), "All 2 frames failed"),
            (rich, "1 of 6 frames failed"),
            (.make(counts: .init(frames: 9, published: 7, stillBroken: 2)), "2 of 9 frames are still broken"),
            (.make(counts: .init(frames: 9, published: 8, kept: 1)), "1 of 9 frames was kept as found"),
            (.make(stopped: "disk full", counts: .init(frames: 9, left: 4)), "Stopped early, 4 of 9 frames left"),
            (.make(exitCode: 75), "Ended with exit code 75"),
            (.make(), "There was nothing to do"),
        ]
        for (run, headline) in cases {
            let html = page(run)
            #expect(html.contains("<title>thumbnails: \(headline) – Penumbra</title>"))
            let heading = html.firstMatch(of: /<h1>(.*?)<\/h1>/)?.1 ?? ""
            #expect(heading.hasSuffix("<span>\(headline)</span></span>"), "\(heading)")
        }
        #expect(page(cases[7].0).contains("<p class=\"reason\">disk full</p>"))
    }

    @Test func `several jobs have one verdict and a part each`() throws {
        let html = page(rich, .make(job: "b"), .make(job: "c"))
        #expect(html.contains("<title>1 of 3 jobs did not end well – Penumbra</title>"))
        #expect(html.contains(##"<a href="#job2-top">b</a> There was nothing to do"##))
        #expect(html.contains(##"<a href="#job1-failed"><b>1</b> failed</a>"##))
        #expect(page(.make(job: "b"), .make(job: "c")).contains("All 2 jobs ended well"))
    }

    @Test func `counts, bytes and speed are told`() {
        let html = page(rich)
        for text in [
            "<dt>Frames</dt><dd>6</dd>", "<dt>Time</dt><dd>12.4 s</dd>",
            "<dt>Speed</dt><dd>114 MP/s <small>1,412 MP</small></dd>",
            "<dt>Read</dt><dd>1.3 GB</dd>", "<dt>Written</dt><dd>92.1 MB <small>7 % of read</small></dd>",
            "<dt>Workers</dt><dd>8</dd>", "<dt>verify</dt><dd>audit</dd>", "<dt>Penumbra</dt><dd>0.1.0</dd>",
            "<dt>exit code</dt><dd>1</dd>",
        ] { #expect(html.contains(text), "\(text)") }
        #expect(
            html.contains(
                #"<time datetime="2026-11-21T21:30:00Z">2026-11-21, 21:30:00</time> – "#
                    + #"<time datetime="2026-11-21T21:30:12Z">21:30:12 UTC</time>"#))
        #expect(page(.make(workersReplaced: 2)).contains("8 <small>2 died, replaced</small>"))
    }

    @Test func `failures are grouped by cause, the most frequent first, and say a path once`() throws {
        let html = page(
            .make(frames: [
                .broken("photos/z.jpg", "time limit reached", "took 90 s"),
                .broken("photos/b.jpg", "out of memory", "photos/b.jpg: needs 9 GB"), .broken("photos/c.jpg"),
            ]))
        let causes = html.matches(of: /<h3 class="cause">(.*?)<\/h3>/).map { String($0.1) }
        #expect(
            causes == [
                "✗\u{fe0e} out of memory <span>2 frames</span>", "✗\u{fe0e} time limit reached <span>1 frame</span>",
            ])
        #expect(
            html.contains(
                #"<li><bdi class="path"><span>photos/</span>b.jpg</bdi> <span class="message">needs 9 GB</span></li>"#))
    }

    @Test func `a message without the path of its picture is enough, also if it has the whole path`() {
        func message(_ text: String) -> String {
            let html = page(.make(frames: [.broken("photos/b.jpg", "x", text)]))
            return html.firstMatch(of: /<span class="message">(.*?)<\/span>/).map { String($0.1) } ?? ""
        }
        #expect(message("/srv/job/photos/b.jpg: needs 9 GB") == "needs 9 GB")
        #expect(message("out of memory: photos/b.jpg: 9 GB") == "out of memory: photos/b.jpg: 9 GB")
        #expect(message("/srv/other.jpg: as in photos/b.jpg: 9 GB") == "/srv/other.jpg: as in photos/b.jpg: 9 GB")
        #expect(message("needs 9 GB") == "needs 9 GB")
    }

    @Test func `the page contains the looks that it shares with the service's page`() {
        #expect(page(rich).contains(String(decoding: Looks.shared, as: UTF8.self)))
    }

    @Test func `a message keeps its lines`() {
        let html = page(.make(frames: [.broken("a", "x", "one\ntwo\r\nthree")]))
        #expect(html.contains("one<br>two<i class=\"odd\">\\u{d}</i><br>three"))
    }

    @Test func `thumbnails are inside the page, side by side`() {
        func side(_ when: String) -> String {
            "<div class=\"side\"><img src=\"data:image/png;base64,iVBORwECAw==\" alt=\"photos/a.jpg, \(when)\">"
                + "<span class=\"corner\" aria-hidden=\"true\">\(when)</span></div>"
        }
        #expect(page(rich).contains("<div class=\"pair\">\(side("before"))\(side("after"))</div>"))
        let half = page(.make(frames: [.make(before: Self.pixel)]))
        #expect(half.contains("<span class=\"none\">nothing after</span>"))
    }

    @Test func `the slowest frames come first, with bars as long as they took`() {
        let frames = (1...20).map { FrameRecord.make("\($0).jpg", time: .milliseconds($0 * 100)) }
        let html = page(.make(frames: frames))
        let bars = html.matches(of: /style="width:([0-9.]+%)"/).map { String($0.1) }
        #expect(bars == ["100.0%", "95.0%", "90.0%", "85.0%", "80.0%", "75.0%", "70.0%", "65.0%", "60.0%", "55.0%"])
        #expect(html.contains("Half of the frames took 1.0 s or less, nineteen of twenty 1.9 s or less."))
    }

    @Test func `long lists end, and say how much more there is`() throws {
        let good = (0..<1200).map { FrameRecord.make("\($0).jpg", before: Self.pixel) }
        let bad = (0..<130).map { FrameRecord.broken("\($0).png") }
        let html = page(.make(frames: good + bad, orphans: (0..<1500).map { "\($0).webp" }))
        #expect(html.contains("The first 1,000 of 1,330 frames; 330 more are not shown."))
        #expect(html.matches(of: /<tr role="row"><th scope="row"/).count == 1000)
        #expect(html.contains("</ul>\n<p class=\"note\">And 30 more.</p>"))
        #expect(html.contains("<p class=\"note\">And 1,300 more.</p>"))
        #expect(html.contains("<p class=\"note\">And 1,140 more.</p>"))
        #expect(try HTMLOutline(html).count("img") == 60)
        let some = page(.make(counts: .init(frames: 41_210, published: 41_210), frames: [.make()]))
        #expect(some.contains("The first 1 of 41,210 frames; 41,209 more are not shown."))
        #expect(!page(rich).contains(" more are not shown"))
    }
}
