import Catalogs
import Coordination
import JobModel
import Manifests
import Planning
import Testing

/// Lines for manifests that leave out pictures by their names.
@Suite struct ExcludeLineTests {
    private func line(_ inputs: [String], exists: (String) -> Bool = { _ in true }) -> ExcludeLine {
        ExcludeLine(leavingOut: inputs, manifest: "/farm/job.yaml", exists: exists)
    }

    @Test func `names start at the folder of the manifest if they can`() {
        #expect(line(["/farm/photos/a.png", "/other/b.png"]).text == "exclude: [photos/a.png, /other/b.png]")
    }

    @Test(arguments: [
        ("-a.png", #"exclude: ["-a.png"]"#), ("!a.png", #"exclude: ["!a.png"]"#), ("1.png", #"exclude: ["1.png"]"#),
        ("a b.png", #"exclude: ["a b.png"]"#), ("yes", #"exclude: ["yes"]"#),
        ("a#b: c.png", #"exclude: ["a#b: c.png"]"#),
        ("a*.png", #"exclude: ["a[*].png"]"#), ("a?.png", #"exclude: ["a[?].png"]"#),
        ("a[1].png", #"exclude: ["a[[]1].png"]"#), ("a{1,2}.png", #"exclude: ["a{{}1,2}.png"]"#),
        (#"a\b".png"#, #"exclude: ["a\\b\".png"]"#), ("a\nb.png", #"exclude: ["a\u000ab.png"]"#),
        ("\u{202e}a.png", #"exclude: ["\u202ea.png"]"#), ("\u{e0041}.png", "exclude: [\"\u{e0041}.png\"]"),
        ("e\u{301}.png", "exclude: [\"e\u{301}.png\"]"),
    ])
    func `a name with characters that mean something is escaped`(name: String, text: String) throws {
        let line = line(["/farm/\(name)"])
        #expect(line.text == text)
        // A manifest with the line has a pattern that matches the picture.
        let manifest = "job: a\ninputs: '*'\nfilters: [{gaussian: {radius: 2}}]\noutput: out/{stem}.png\n\(text)\n"
        let read = JobReader.read(
            bytes: Array(manifest.utf8), path: "job.yaml", realPath: "/farm/job.yaml", catalog: .make())
        let exclude = try #require(read.job?.exclude, "\(read.diagnostics)")
        #expect(exclude.count == 1)
        #expect(exclude.allSatisfy { GlobPattern($0, in: "/farm").matches("/farm/\(name)") })
    }

    @Test func `a name that is not UTF-8 cannot be written`() {
        // The record of a file with the byte FF.
        let odd = line(["/farm/a%FF.png", "/farm/b.png"]) { !$0.contains("%FF") }
        #expect(odd.text == "exclude: [b.png]" && odd.count == 1)
        #expect(odd.unnamed == ["/farm/a%FF.png"])
        #expect(line(["/farm/a%FF.png"]).text == #"exclude: ["a%FF.png"]"#)
        #expect(line(["/farm/\u{feff}.png"]).text == nil)
    }
}
