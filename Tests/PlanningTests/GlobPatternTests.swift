import Planning
import Testing

@Suite struct GlobPatternTests {
    private func matches(_ pattern: String, _ path: String) -> Bool {
        GlobPattern(pattern, in: "/jobs").matches("/jobs/\(path)")
    }

    @Test(arguments: [
        ("a.jpg", "a.jpg"), ("*.jpg", "a.jpg"), ("*.jpg", "a.JPG"), ("*.JPG", "a.jpg"), ("?.png", "x.png"),
        ("photos/**/*.jpg", "photos/a.jpg"), ("photos/**/*.jpg", "photos/x/y/a.jpg"), ("photos/**", "photos/x/a.tif"),
        ("**/raw/*.tif", "a/b/raw/c.tif"), ("img[0-9].png", "img7.png"), ("img[!0-9].png", "imgx.png"),
        ("*.{jpg,png}", "a.png"), ("*.{jpg,png}", "a.jpg"), ("a*b*c.png", "axxbyyc.png"), ("./x/../*.png", "a.png"),
        ("archive.*.jpg", "archive.tar.jpg"), (".hidden/*.png", ".hidden/a.png"), ("out/**", "out"),
        ("**/**/a.png", "a.png"),
        ("?.png", "é.png"), ("?.png", "e\u{301}.png"), ("\u{e9}.png", "e\u{301}.PNG"), ("[à-ü].png", "é.png"),
        ("été/*.png", "été/a.png"), ("**/été/*", "x/été/a"), ("a[.png", "a[.png"), ("*.{jpg,png", "x.{jpg,png"),
        ("[a-c][!x].jpg", "by.JPG"), ("a\nb*", "a\nb.png"), ("*", " "),
    ])
    func `a pattern matches`(pattern: String, path: String) {
        #expect(matches(pattern, path))
    }

    @Test(arguments: [
        ("*.jpg", "a.jpeg"), ("*.jpg", "x/a.jpg"), ("A.jpg", "a.jpg"), ("*.jpg", ".a.jpg"), ("**/*.jpg", ".x/a.jpg"),
        ("?.png", "xy.png"), ("img[0-9].png", "imgx.png"), ("*.{jpg,png}", "a.gif"), ("photos/*", "photos/x/a.jpg"),
        ("*", "._a.jpg"), ("a*b", "acd"), ("out/**", "outer"), ("out/**", "out/.x/a"), ("?.png", "éé.png"),
        ("x/a", "x"),
        ("été/*.png", "ete/a.png"), ("x/y/*.png", "x"), ("photos", "photos/a"), ("**/a/**/b", "a/c"),
    ])
    func `a pattern does not match`(pattern: String, path: String) {
        #expect(!matches(pattern, path))
    }

    @Test func `the fixed folder ends before the first wildcard`() {
        #expect(GlobPattern("a/b*/c/*.jpg", in: "/jobs").fixedFolder == ["jobs", "a"])
        #expect(GlobPattern("a/b.jpg", in: "/jobs").fixedFolder == ["jobs", "a"])
        #expect(GlobPattern("/x/**", in: "/jobs").fixedFolder == ["x"])
    }

    @Test(arguments: ["site[1]", "a{b,c}", "what?", "all *", "**", "[à]"])
    func `the folder that a pattern starts from stands for itself`(name: String) {
        let pattern = GlobPattern("photos/*.png", in: "/x/\(name)")
        #expect(pattern.matches("/x/\(name)/photos/a.png"))
        for other in ["site1", "ab", "whats", "all b", "y/z", "à"] {
            #expect(!pattern.matches("/x/\(other)/photos/a.png"))
        }
        #expect(pattern.fixedFolder == ["x", name, "photos"])
        #expect(GlobPattern("photos/a.png", in: "/x/\(name)").isLiteral)
        #expect(GlobPattern("../*.png", in: "/x/\(name)").matches("/x/a.png"))
        #expect(GlobPattern("**", in: "/x/\(name)").matches("/x/\(name)/photos/a.png"))
    }

    @Test func `what leads out of the folder is the pattern's own again`() {
        let pattern = GlobPattern("../site[1]/*.png", in: "/x/site[1]")
        #expect(pattern.matches("/x/site1/a.png"))
        #expect(!pattern.matches("/x/site[1]/a.png"))
    }

    @Test(arguments: ["/**", "/*", "/"]) func `the folder of everything is no file`(_ pattern: String) {
        #expect(!GlobPattern(pattern, in: "/photos").matches("/"))
    }

    @Test func `many alternatives in a folder's name are none`() {
        let name = String(repeating: "{a,b}", count: 12)
        #expect(!GlobPattern("*.png", in: "/x/\(name)").isTooWide)
        #expect(GlobPattern("\(name)/*.png", in: "/x").isTooWide)
    }

    @Test(arguments: ["a*b?[c].png", "{a,b}.png", "x/[!a]/é.png"])
    func `a path's own pattern matches it`(path: String) {
        #expect(matches(GlobPattern.matching(path), path))
    }

    @Test(arguments: [
        ("a{1}.png", "a{{}1}.png", ["aX1X.png", "a1.png", "a{1}Xpng"]), ("}{.png", "}{{}.png", ["XX.png", "{}.png"]),
        ("{a,b}{c}.png", "{{}a,b}{{}c}.png", ["ac.png", "bc.png"]),
        ("{[{*?]}", "{{}[[]{{}[*][?]]}", ["{[{}]}", "[*?]"]),
    ])
    func `a path's own pattern matches no other path`(path: String, pattern: String, others: [String]) {
        #expect(GlobPattern.matching(path) == pattern)
        #expect(matches(pattern, path))
        for other in others { #expect(!matches(pattern, other), "\(other)") }
    }

    @Test func `the pattern of a name that is not UTF-8 matches its bytes alone`() {
        let name = Array("gr".utf8) + [0xF6, 0xDF] + Array("e[1].jpg".utf8)
        let pattern = GlobPattern(GlobPattern.matching(NonUTF8Name.text(of: name)), in: "/jobs")
        #expect(pattern.matches(Array("/jobs/".utf8) + name))
        for other in ["gröe[1].jpg", "größe[1].jpg", "gr%F6%DFe[1].jpg", "gr\u{FFFD}\u{FFFD}e[1].jpg"] {
            #expect(!pattern.matches("/jobs/\(other)"))
        }
    }

    @Test func `many stars take no time`() {
        let name = String(repeating: "a", count: 200)
        #expect(!matches("*a*a*a*a*a*a*a*a*a*a*a*a*b", name))
    }

    /// A manifest may have a megabyte.
    @Test func `braces without a choice are as many as somebody likes`() {
        let pattern = String(repeating: "a{}", count: 100_000)
        #expect(matches(pattern, String(repeating: "a", count: 100_000)))
        #expect(!GlobPattern(pattern, in: "/jobs").isTooWide)
    }

    @Test func `names that are very long together are too many`() {
        let long = String(repeating: "a", count: 2000)
        #expect(!GlobPattern("\(long){a,b}", in: "/jobs").isTooWide)
        #expect(GlobPattern("\(long){0,1,2,3,4,5,6,7,8,9}{0,1,2,3,4,5,6,7,8,9}{0,1,2,3,4,5,6}", in: "/jobs").isTooWide)
    }

    @Test func `many '**' in a row are one`() {
        let pattern = String(repeating: "**/", count: 300_000) + "a.png"
        #expect(matches(pattern, "x/y/a.png"))
        #expect(!matches(pattern, "x/y/b.png"))
    }
}
