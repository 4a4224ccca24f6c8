import Glibc
import SafeFiles
import TestSupport
import Testing

/// Removal of trees that others have made.
@Suite struct TreeRemovalTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func exists(_ name: String) -> Bool { access(folder.file(name), F_OK) == 0 }

    @Test func `a tree of any depth is removed, though its paths are longer than any call takes`() throws {
        #expect(mkdir(folder.file("tree"), 0o700) == 0)
        var place = open(folder.file("tree"), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        for _ in 0..<3000 {
            #expect(mkdirat(place, "inner", 0o700) == 0)
            let next = openat(place, "inner", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            close(place)
            place = next
        }
        close(place)
        FileSystem.removeTree(folder.file("tree"))
        #expect(!exists("tree"))
    }

    @Test func `names that are no text, and names like those of folders, are removed`() throws {
        #expect(mkdir(folder.file("tree"), 0o700) == 0)
        let names: [[UInt8]] = [[0xff, 0xfe], Array("a\nb".utf8), Array("...".utf8), Array(".hidden".utf8)]
        for name in names {
            let path = folder.file("tree/").utf8CString.dropLast() + name.map { CChar(bitPattern: $0) } + [0]
            #expect(mkdir(Array(path), 0o700) == 0)
        }
        FileSystem.removeTree(folder.file("tree"))
        #expect(!exists("tree"))
    }

    @Test func `folders that their owner may not open are removed, and links are not followed`() throws {
        #expect(mkdir(folder.file("tree"), 0o700) == 0)
        #expect(mkdir(folder.file("kept"), 0o755) == 0)
        #expect(mkdir(folder.file("kept/inner"), 0o755) == 0)
        #expect(mkdir(folder.file("tree/closed"), 0o700) == 0)
        #expect(mkdir(folder.file("tree/closed/inner"), 0o700) == 0)
        #expect(symlink(folder.file("kept"), folder.file("tree/link")) == 0)
        #expect(chmod(folder.file("tree/closed"), 0) == 0)
        FileSystem.removeTree(folder.file("tree"))
        #expect(!exists("tree"))
        #expect(exists("kept/inner"))
    }
}
