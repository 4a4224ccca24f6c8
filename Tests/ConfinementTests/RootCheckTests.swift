import Confinement
import Foundation
import JobModel
import TestSupport
import Testing

@Suite struct RootCheckTests {
    private let temporary: TemporaryFolder
    /// Its real path.
    private let top: String

    init() throws {
        temporary = try TemporaryFolder()
        top = RealPath.resolve(temporary.path)
        for name in ["a/photos", "ab", "b", "service/keys"] {
            try FileManager.default.createDirectory(atPath: "\(top)/\(name)", withIntermediateDirectories: true)
        }
    }

    private func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: "\(top)/\(name)", withDestinationPath: target)
    }

    /// The real paths outside of `a`, below the test's folder.
    private func outside(_ paths: String..., roots: [String] = ["a"]) throws -> [String] {
        let check = try RootCheck(roots.map { "\(top)/\($0)" })
        return check.outside(paths.map { JobPath(origin: "input", path: "\(top)/\($0)", access: .read) }).map {
            String($0.realPath.dropFirst(top.utf8.count + 1))
        }
    }

    private func error(_ roots: [String], apartFrom kept: [String] = []) throws(Unexpected) -> String {
        do throws(RootError) {
            _ = try RootCheck(roots, apartFrom: kept)
        } catch {
            return error.message
        }
        throw Unexpected()
    }

    private struct Unexpected: Error {}

    // MARK: Paths

    @Test func `a root holds itself and all below, also what does not exist yet`() throws {
        #expect(try outside("a", "a/photos", "a/new/deep/x.png", "a/photos/../x") == [])
    }

    @Test func `a folder with the root's name as the beginning of its own is outside`() throws {
        #expect(try outside("ab", "ab/x", "a.png") == ["ab", "ab/x", "a.png"])
    }

    @Test func `dots that lead out are followed`() throws {
        #expect(
            try outside("a/../b/x", "a/photos/../../b", "a/../../x/../\(top.split(separator: "/").last ?? "")/a") == [
                "b/x", "b",
            ])
    }

    @Test func `a folder above a root is outside`() throws {
        let check = try RootCheck(["\(top)/a"])
        let found = check.outside([
            JobPath(origin: "x", path: top, access: .read), JobPath(origin: "y", path: "/", access: .read),
        ])
        #expect(found.map(\.realPath) == [top, "/"])
    }

    @Test func `a link in a root that leads out is outside, with everything below`() throws {
        try link("a/out", to: "../b")
        try link("a/file.png", to: "\(top)/b/secret.png")
        try link("a/in", to: "photos")
        #expect(
            try outside("a/out", "a/out/new/x.png", "a/file.png", "a/in/x.png") == ["b", "b/new/x.png", "b/secret.png"])
    }

    @Test func `a link whose target does not exist yet is followed`() throws {
        try link("a/dead", to: "../b/later")
        try link("a/chain", to: "dead/more")
        try link("a/well", to: "photos/later")
        #expect(
            try outside("a/dead", "a/dead/x.png", "a/chain/y.png", "a/well/z.png") == [
                "b/later", "b/later/x.png", "b/later/more/y.png",
            ])
    }

    @Test func `a circle of links is outside of nothing, and ends`() throws {
        try link("a/one", to: "two")
        try link("a/two", to: "one")
        #expect(try outside("a/one/x.png") == [])
    }

    @Test func `a path that leads into a root through a link is inside`() throws {
        try link("door", to: "a/photos")
        #expect(try outside("door/x.png") == [])
    }

    @Test func `a root that is a link stands for its target`() throws {
        try link("root", to: "a")
        let check = try RootCheck(["\(top)/root"])
        #expect(check.roots == ["\(top)/a"])
        #expect(try outside("root/x.png", "a/x.png", "b", roots: ["root"]) == ["b"])
    }

    @Test func `roots below others and repetitions are left out`() throws {
        #expect(
            try RootCheck(["\(top)/b/", "\(top)/a/photos", "\(top)/a", "\(top)/./a"]).roots == ["\(top)/a", "\(top)/b"])
    }

    @Test func `letters that look the same are different folders`() throws {
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
        try FileManager.default.createDirectory(atPath: "\(top)/\(composed)", withIntermediateDirectories: true)
        #expect(try outside("\(composed)/x", roots: [composed]) == [])
        #expect(
            try outside("\(decomposed)/x", roots: [composed]).map { Array($0.utf8) } == [Array("\(decomposed)/x".utf8)])
    }

    // MARK: Words

    @Test func `for a file outside, a token with the file's folder is the remedy`() throws {
        try Data().write(to: URL(filePath: "\(top)/b/night.yaml"))
        let check = try RootCheck(["\(top)/a"])
        let manifest = JobPath(origin: "the manifest", path: "\(top)/b/night.yaml", access: .read)
        #expect(
            check.outside([manifest]).map(\.message) == [
                """
                the manifest: '\(top)/b/night.yaml' is outside of the token's folders: \(top)/a
                   = read from one of these folders, or ask an administrator for a token with '--root \(top)/b'
                """
            ])
    }

    @Test func `a path outside is named with its origin, where it leads, and the remedy`() throws {
        try link("a/out", to: "../b")
        let check = try RootCheck(["\(top)/a", "\(top)/ab"])
        let job = JobSpec.make(folder: "\(top)/a", inputs: ["/etc/*"], outputs: ["out/{stem}.png"])
        #expect(
            check.outside(JobPaths(of: job).all).map(\.message) == [
                """
                input '/etc/*': '/etc' is outside of the token's folders: \(top)/a, \(top)/ab
                   = read from one of these folders, or ask an administrator for a token with '--root /etc'
                """,
                """
                output 'out/{stem}.png': '\(top)/a/out' leads to '\(top)/b', which is outside of the token's folders: \(top)/a, \(top)/ab
                   = write to one of these folders, or ask an administrator for a token with '--root \(top)/b'
                """,
            ])
    }

    @Test func `a path is named once, and inside paths are not`() throws {
        let check = try RootCheck(["\(top)/a"])
        let path = JobPath(origin: "'image' of 'overlay'", path: "/logos/l.svg", access: .read)
        #expect(check.outside([path, path]).count == 1)
    }

    @Test func `wrong roots are refused with a remedy`() throws {
        try Data().write(to: URL(filePath: "\(top)/file"))
        #expect(
            try error(["srv/a"])
                == "the folder srv/a: the path is relative\n   = give an absolute path, because the service has another folder"
        )
        #expect(
            try error(["/"])
                == "the folder /: this is the whole file system\n   = name a folder in it, or none for a token without limits"
        )
        #expect(try error(["/usr/.."]).hasPrefix("the folder /usr/..: this is the whole file system\n"))
        #expect(
            try error(["\(top)/none"])
                == "the folder \(top)/none cannot be used: No such file or directory\n   = name a folder that exists")
        #expect(
            try error(["\(top)/file"])
                == "the folder \(top)/file cannot be used: Not a directory\n   = name a folder that exists")
    }

    @Test(arguments: ["", "/service", "/service/keys", "/way", "/a/../service"])
    func `a root that holds the service's folder, or lies in it, is refused`(root: String) throws {
        try link("way", to: "service")
        #expect(
            try error(["\(top)\(root)"], apartFrom: ["\(top)/service"]) == """
                the folder \(top)\(root): jobs of the token could change '\(top)/service', which belongs to the service
                   = name a folder that neither holds it nor lies in it
                """)
    }
}
