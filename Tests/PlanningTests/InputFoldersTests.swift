import JobModel
import Planning
import TestSupport
import Testing

@Suite struct InputFoldersTests {
    private func places(_ inputs: String..., files: [String]) throws -> InputFolders {
        let folder = try TemporaryFolder()
        for name in files { try folder.touch(name) }
        let plan = try JobPlan(
            .make(in: folder.path, inputs: inputs), catalog: .small, date: "2026-11-23",
            selection: JobPlan.Selection())
        let places = plan.inputFolders
        let start = folder.path.utf8.count
        return InputFolders(
            folders: places.folders.map { String($0.dropFirst(start)) },
            files: places.files.map { String($0.dropFirst(start)) })
    }

    @Test func `patterns and folders give the outermost folders`() throws {
        let found = try places(
            "b/*.png", "a", "a/deep/**/*.png", "b/c/x?.png",
            files: ["a/1.png", "a/deep/2.png", "b/3.png", "b/c/x4.png"])
        #expect(found == InputFolders(folders: ["/a", "/b"], files: []))
    }

    @Test func `a single file stands for itself, unless its folder is there`() throws {
        let found = try places("b/1.png", "a/2.png", "b/1.png", "a/*.png", files: ["b/1.png", "a/2.png", "b/3.png"])
        #expect(found == InputFolders(folders: ["/a"], files: ["/b/1.png"]))
    }

    @Test func `a pattern beside the manifest gives the manifest's folder`() throws {
        #expect(try places("*.png", files: ["1.png"]) == InputFolders(folders: [""], files: []))
    }
}
