import Glibc
import SafeFiles
import TestSupport
import Testing

@Suite struct SafeFolderTests {
    private let temporary: TemporaryFolder
    private let root: SafeFolder

    init() throws {
        temporary = try TemporaryFolder()
        root = try SafeFolder(temporary.path)
    }

    @Test func `a regular file is read whole`() throws {
        try root.create("a", Array("words".utf8))

        #expect(try root.contents(of: "a") == Array("words".utf8))
    }

    @Test func `what is not there is nil`() throws {
        #expect(try root.contents(of: "a") == nil)
        #expect(try root.folder("a") == nil)
        #expect(try root.status(of: "a") == nil)
    }

    @Test func `a link to a file is refused, by its name`() throws {
        try root.create("secret", [1])
        symlink("secret", "\(temporary.path)/a")

        #expect(
            message { try root.contents(of: "a") } == "/a: cannot read: it is a link, and Penumbra did not make it so")
    }

    @Test func `a link to a folder is refused on the way, not only at the end`() throws {
        try root.makingFolder("real").create("a", [1])
        symlink("real", "\(temporary.path)/runs")

        #expect(
            message { try root.folder(at: "runs/deeper") }
                == "/runs: cannot open the folder: it is a link, and Penumbra did not make it so")
    }

    @Test func `a pipe without a writer is refused at once`() throws {
        mkfifo("\(temporary.path)/a", 0o600)

        #expect(
            message { try root.contents(of: "a") } == "/a: cannot read: it is a pipe, and Penumbra did not make it so")
    }

    @Test func `a folder in the place of a file is refused`() throws {
        _ = try root.makingFolder("a")

        #expect(
            message { try root.contents(of: "a") } == "/a: cannot read: it is a folder, and Penumbra did not make it so"
        )
    }

    @Test func `a file larger than its limit is refused`() throws {
        try root.create("a", [UInt8](repeating: 0, count: 11))

        #expect(try root.contents(of: "a", limit: 11)?.count == 11)
        #expect(message { try root.contents(of: "a", limit: 10) } == "/a: cannot read: it is larger than 10 bytes")
    }

    @Test(
        arguments: ["", ".", "..", "../a", "a/b", "/etc/passwd", "a\0b", String(repeating: "a", count: 256)])
    func `what is no name is refused by everything`(name: String) throws {
        for attempt in [
            { _ = try root.contents(of: name) }, { _ = try root.folder(name) }, { try root.create(name, []) },
            { try root.remove(name) }, { try root.rename(name, as: "b") }, { _ = try root.status(of: name) },
        ] as [() throws -> Void] {
            #expect(message(attempt)?.hasSuffix("it is not the name of a file in this folder") == true)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "files of another user take root"))
    func `a file of another user is refused, unless everybody is trusted`() throws {
        try root.create("a", [1])
        chown("\(temporary.path)/a", 12345, 12345)

        #expect(message { try root.contents(of: "a") } == "/a: cannot read: it belongs to another user (uid 12345)")
        #expect(try SafeFolder(temporary.path, trusting: .everybody).contents(of: "a") == [1])
    }

    @Test(.enabled(if: geteuid() == 0, "folders of another user take root"))
    func `a folder of another user is refused`() throws {
        _ = try root.makingFolder("a")
        chown("\(temporary.path)/a", 12345, 12345)

        #expect(
            message { try root.folder("a") } == "/a: cannot open the folder: it belongs to another user (uid 12345)")
    }

    @Test func `a new file replaces nothing`() throws {
        try root.create("a", [1])

        #expect(throws: FileError.self) { try root.create("a", [2]) }
        #expect(try root.contents(of: "a") == [1])
    }

    @Test func `two names are exchanged in one step, in this folder alone`() throws {
        try root.create("a", [1])
        try root.create("b", [2])

        #expect(root.exchange("a", "b"))
        #expect(try root.contents(of: "a") == [2])
        #expect(try root.contents(of: "b") == [1])
        #expect(!root.exchange("a", "gone"))
        #expect(!root.exchange("a", "../a"))
    }

    @Test func `a tree is removed without what its links lead to`() throws {
        let kept = try root.makingFolder("kept")
        try kept.create("precious", [1])
        let doomed = try root.makingFolder("doomed")
        try doomed.makingFolder("inner").create("a", [1])
        symlink("\(temporary.path)/kept", "\(temporary.path)/doomed/inner/link")

        root.removeTree("doomed")

        #expect(try root.folder("doomed") == nil)
        #expect(try kept.contents(of: "precious") == [1])
    }

    @Test func `a link in the place of a tree goes, and what it leads to stays`() throws {
        try root.makingFolder("kept").create("precious", [1])
        symlink("kept", "\(temporary.path)/doomed")

        root.removeTree("doomed")

        #expect(try root.status(of: "doomed") == nil)
        #expect(try root.folder("kept")?.contents(of: "precious") == [1])
    }

    @Test func `a folder that becomes a link while it is removed loses what is in it, and nothing elsewhere`()
        async throws
    {
        let kept = try root.makingFolder("kept")
        for number in 0..<2000 { try kept.create("\(number)", []) }
        for attempt in 0..<8 {
            let doomed = try root.makingFolder("doomed")
            for number in 0..<2000 { try doomed.create("\(number)", []) }
            let (path, link) = (temporary.path, "\(temporary.path)/link\(attempt)")
            symlink("kept", link)
            async let exchange: Void = Self.exchange(path, link, attempt)
            SafeFolder.removeTree(at: "\(path)/doomed")
            await exchange
            root.removeTree("doomed")
        }
        #expect(try kept.names().count == 2000)
    }

    /// As soon as the removal has begun.
    @concurrent private static func exchange(_ folder: String, _ link: String, _ attempt: Int) async {
        while access("\(folder)/doomed/0", F_OK) == 0 && access("\(folder)/doomed/1999", F_OK) == 0 {}
        rename("\(folder)/doomed", "\(folder)/away\(attempt)")
        rename(link, "\(folder)/doomed")
    }

    @Test func `a file in a folder that cannot be listed is removed by its path`() throws {
        try root.makingFolder("a").create("b", [])
        chmod("\(temporary.path)/a", 0o300)
        defer { chmod("\(temporary.path)/a", 0o700) }

        SafeFolder.removeTree(at: "\(temporary.path)/a/b")

        #expect(try root.folder("a")?.status(of: "b") == nil)
    }

    @Test func `a folder that is shut lets nobody else in`() throws {
        let folder = try root.makingFolder("a", mode: 0o755)

        folder.makePrivate()

        #expect(try folder.isPrivate())
    }

    @Test func `a folder that was exchanged is not in its place any more`() throws {
        let folder = try root.makingFolder("a")
        #expect(folder.isInPlace)

        try root.rename("a", as: "b")
        #expect(!folder.isInPlace)

        _ = try root.makingFolder("a")
        #expect(!folder.isInPlace)
    }

    @Test func `names are those of the folder itself, whatever its path leads to now`() throws {
        let folder = try root.makingFolder("a")
        try folder.create("one", [])
        try root.rename("a", as: "b")
        try root.makingFolder("a").create("other", [])

        #expect(try folder.names() == ["one"])
        #expect(try folder.names() == ["one"])
    }

    /// Without the folder's own path.
    private func message<Result>(_ body: () throws -> Result) -> String? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? FileError).map { String($0.message.dropFirst(temporary.path.count)) }
        }
    }
}
