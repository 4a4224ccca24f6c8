import Foundation
import Glibc
import JobModel
import Reports
import Testing

@Suite struct AssetIndexTests {
    private func text(_ index: AssetIndex) -> String { String(decoding: index.json, as: UTF8.self) }

    @Test func `it is laid out in one way, with the generator and the schema first`() {
        let index = AssetIndex(
            job: "gallery",
            entries: [
                .init(source: "photos/b.jpg", outputs: [.make("b.avif", format: "avif"), .make("../small/b.webp")]),
                .init(source: "photos/a.jpg", outputs: []),
            ])
        let rest = #""bytes": 4210, "digest": "000000000000000000000000000000ff", "width": 320, "height": 240"#
        #expect(
            text(index) == """
                {
                  "generator": "penumbra",
                  "schema": 1,
                  "job": "gallery",
                  "outputs": {
                    "photos/a.jpg": [],
                    "photos/b.jpg": [
                      {"path": "b.avif", \(rest), "format": "avif"},
                      {"path": "../small/b.webp", \(rest), "format": "webp"}
                    ]
                  }
                }

                """)
        #expect(
            text(AssetIndex(job: "none", entries: [])).hasSuffix(",\n  \"job\": \"none\",\n  \"outputs\": {}\n}\n"))
    }

    @Test(arguments: ["night", "a\"b\\c", "é 写真", "tab\tand\u{1}", "a\u{202e}b\u{e0041}\u{9b}🏠"])
    func `the job whose index it is can be told`(name: String) {
        let bytes = AssetIndex(job: name, entries: [.init(source: "a.jpg", outputs: [.make("a.png")])]).json
        #expect(AssetIndex.job(in: bytes) == name)
        #expect(AssetIndex.job(in: Array("{\"job\": \"x\"}".utf8)) == nil)
        #expect(AssetIndex.job(in: Array(bytes.prefix(50))) == nil)
    }

    @Test func `the order of the entries makes no difference`() {
        let entries = (0..<300).map { AssetIndex.Entry(source: "\($0).jpg", outputs: [.make("\($0).png")]) }
        let bytes = AssetIndex(job: "x", entries: entries).json
        for _ in 0..<5 { #expect(AssetIndex(job: "x", entries: entries.shuffled()).json == bytes) }
    }

    @Test func `the pages of one source are one entry, in their order`() {
        let pages = [3, 1, 2].map { AssetIndex.Entry(source: "a.pdf", outputs: [.make("a-\($0).png")]) }
        let index = AssetIndex(job: "x", entries: [pages[0], .init(source: "Z", outputs: [])] + pages[1...])
        #expect(index.entries.map(\.source) == ["Z", "a.pdf"])
        #expect(index.entries.last?.outputs.map(\.path) == ["a-3.png", "a-1.png", "a-2.png"])
    }

    @Test func `names that only look the same stay apart`() throws {
        let names = ["\u{e9}.jpg", "e\u{301}.jpg"]
        let bytes = names.map { AssetIndex.Entry(source: $0, outputs: [.make($0)]) }
        let index = AssetIndex(job: "x", entries: bytes)
        #expect(index.entries.count == 2)
        #expect(index.json == AssetIndex(job: "x", entries: bytes.reversed()).json)
    }

    @Test(arguments: ["plain", "a\"b\\c", "\u{0}\n\t\u{1f}\u{7f}", "é 写真 👩‍🚀 \u{2028}", "</script>", "a%20b#?.jpg"])
    func `any name is read back as it was`(name: String) throws {
        let index = AssetIndex(job: name, entries: [.init(source: name, outputs: [.make(name, format: name)])])
        let json = try #require(try JSONSerialization.jsonObject(with: Data(index.json)) as? [String: Any])
        #expect(json["generator"] as? String == "penumbra")
        #expect(json["schema"] as? Int == 1)
        #expect(json["job"] as? String == name)
        let outputs = try #require(json["outputs"] as? [String: [[String: Any]]])
        #expect(outputs[name]?.first?["path"] as? String == name)
        #expect(outputs[name]?.first?["format"] as? String == name)
        #expect(outputs[name]?.first?["width"] as? Int == 320)
    }

    @Test func `digests are written as they are everywhere`() {
        let digest = Digest(high: 0x0123_4567_89ab_cdef, low: 0x00fe_dcba_9876_5432)
        let output = AssetIndex.Output(path: "a", bytes: 1, digest: digest, width: 1, height: 1, format: "png")
        #expect(text(AssetIndex(job: "x", entries: [.init(source: "a", outputs: [output])])).contains("\"\(digest)\""))
    }

    @Test func `ten times as many outputs take about ten times as long`() {
        // The first index fills caches. If each output looked at all others, the last one would take a hundred times as long.
        _ = seconds(ofOutputs: 20_000)
        let few = seconds(ofOutputs: 20_000)
        #expect(seconds(ofOutputs: 200_000) < 40 * few)
    }

    private func seconds(ofOutputs count: Int) -> Double {
        let entries = (0..<count).map { number in
            AssetIndex.Entry(
                source: "photos/\(number / 1000)/IMG_\(number % 1000 + 1000).jpg", outputs: [.make("\(number).webp")])
        }
        let start = secondsOfThisThread()
        let bytes = AssetIndex(job: "x", entries: entries).json
        #expect(bytes.count > count * 100)
        return secondsOfThisThread() - start
    }

    /// What a core has spent on the calling thread; other tests run at the same time.
    private func secondsOfThisThread() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// Only a file that Penumbra wrote may be replaced.
@Suite struct AssetIndexRecognitionTests {
    @Test func `an index is recognised by its first bytes`() {
        let long = AssetIndex(
            job: String(repeating: "x", count: 1000), entries: [.init(source: "a", outputs: [.make("b")])])
        for bytes in [AssetIndex(job: "x", entries: []).json, long.json] {
            #expect(AssetIndex.isOurs(bytes))
            #expect(AssetIndex.isOurs(Array(bytes.prefix(AssetIndex.recognisedWithin))))
        }
    }

    @Test(arguments: [
        #"{"generator":"penumbra","schema":1}"#, "{\r\n\t\"generator\" : \"penumbra\" ,",
        #"{"generator":"penumbra","schema":2"#,
    ])
    func `also when it was laid out anew, or is of a later schema`(text: String) {
        #expect(AssetIndex.isOurs(Array(text.utf8)))
    }

    @Test(arguments: [
        "", "{", "{}", "[]", #"{"generator": "vite", "schema": 1}"#, #"{"generator": "penumbra2", "schema": 1}"#,
        #"{"generator": "penumbra"}"#, #"{"schema": 1, "generator": "penumbra"}"#, #"{"generator": {"penumbra": 1},"#,
        #"  "generator": "penumbra","#, "<html>", "\u{0}\u{1}", #"{"generator": "penumbra"#,
    ])
    func `nothing else is`(text: String) {
        #expect(!AssetIndex.isOurs(Array(text.utf8)))
    }

    @Test func `paths are told from the index's folder`() {
        func relative(_ path: String, _ folder: String) -> String { AssetIndex.path(path, relativeTo: folder) }
        #expect(relative("/site/out/a.webp", "/site/out") == "a.webp")
        #expect(relative("/site/out/2026/a b.webp", "/site/out") == "2026/a b.webp")
        #expect(relative("/site/other/a.webp", "/site/out") == "../other/a.webp")
        #expect(relative("/site/outer/a.webp", "/site/out") == "../outer/a.webp")
        #expect(relative("/a.webp", "/site/out") == "../../a.webp")
        #expect(relative("/a.webp", "/") == "a.webp")
        #expect(relative("/e\u{301}/a", "/\u{e9}") == "../e\u{301}/a")
    }
}
