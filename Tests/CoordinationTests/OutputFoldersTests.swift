import Coordination
import JobModel
import Testing

@Suite struct OutputFoldersTests {
    private func folders(_ outputs: [String]) -> [PathKey] {
        OutputFolders.of(.make(outputs: outputs.map { .stem($0) })).map(PathKey.init)
    }

    @Test func `a job's folders are sorted and unique`() {
        #expect(folders(["web/", "out/", "./web/"]) == ["/jobs/out", "/jobs/web"].map(PathKey.init))
        #expect(folders(["prefix-"]) == [PathKey("/jobs")])
    }

    @Test func `folders whose names look the same are different`() {
        #expect(
            folders(["caf\u{E9}/", "cafe\u{301}/"]) == ["/jobs/cafe\u{301}", "/jobs/caf\u{E9}"].map(PathKey.init))
    }

    /// A combining mark appears on the slash before it.
    @Test func `a name that begins with a combining mark is no part of the folder's`() {
        #expect(folders(["out/\u{301}"]) == [PathKey("/jobs/out")])
        #expect(folders(["\u{301}out/"]) == [PathKey("/jobs/\u{301}out")])
    }
}
