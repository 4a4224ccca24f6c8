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

    @Test func `many stars take no time`() {
        let name = String(repeating: "a", count: 200)
        #expect(!matches("*a*a*a*a*a*a*a*a*a*a*a*a*b", name))
    }
}
