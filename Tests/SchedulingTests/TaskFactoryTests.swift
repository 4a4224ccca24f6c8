import Scheduling
import Testing

@Suite struct TaskFactoryTests {
    private let factory = TaskFactory(
        job: .make(), runName: "run", scratchFolder: "/scratch", tileMemory: 1 << 30, frameMemory: 1 << 30)

    /// `\u{301}` is a mark that a reader sees on the slash before it.
    @Test(arguments: [
        ("/jobs/out/a.png", "/jobs/out"), ("/a.png", ""), ("/jobs/out/\u{301}a.png", "/jobs/out"),
        ("/jobs/\u{301}out/a.png", "/jobs/\u{301}out"),
    ])
    func `a temporary file is in its output's folder`(output: String, folder: String) {
        let path = factory.temporaryPath(of: output, frame: FrameID(1), kind: .frame, attempt: 2)
        #expect(Array(path.utf8) == Array("\(folder)/.penumbra-run-1-frame-1.2".utf8))
    }
}
