import Foundation
import Glibc
import Runs
import SafeFiles
import Testing
import TestSupport

@Suite struct RunClaimTests {
    let state: TemporaryFolder

    init() throws { state = try TemporaryFolder() }

    private func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: state.file(name)) }

    private func write(_ text: String, to name: String) throws {
        let url = URL(filePath: state.file(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    /// The run folder of a killed run. Its lock is free.
    private func leaveBehind(_ run: String, journal: [String]) throws {
        try write("", to: "runs/\(run)/lock")
        try write(journal.joined(separator: "\n") + "\n", to: "runs/\(run)/journal")
    }

    @Test func `a run that is alive is left alone`() throws {
        let run = try RunClaim(state: state.path, name: "run-1", scratch: nil)
        RunFolder.sweep(state: state.path)
        #expect(exists("runs/run-1/journal"))
        withExtendedLifetime(run) {}
    }

    @Test func `what a killed run left is removed`() throws {
        try write("half", to: "out/.penumbra-run-2-1-frame-1")
        try leaveBehind(
            "run-2",
            journal: [
                #"{"scratch":{"_0":"\#(state.file("elsewhere/penumbra-run-2"))"}}"#,
                #"{"temporary":{"_0":"\#(state.file("out/.penumbra-run-2-1-frame-1"))"}}"#,
            ])
        try write("pixels", to: "elsewhere/penumbra-run-2/1/canvas-1")
        RunFolder.sweep(state: state.path)
        #expect(!exists("runs/run-2"))
        #expect(!exists("out/.penumbra-run-2-1-frame-1"))
        #expect(!exists("elsewhere/penumbra-run-2"))
    }

    @Test func `a journal cannot make the sweep remove what no run wrote`() throws {
        try write("mine", to: "out/holiday.jpg")
        try write("mine", to: "documents/letter.txt")
        try leaveBehind(
            "run-3",
            journal: [
                #"{"temporary":{"_0":"\#(state.file("out/holiday.jpg"))"}}"#,
                #"{"scratch":{"_0":"\#(state.file("documents"))"}}"#,
                #"{"folder":{"_0":"\#(state.file("documents"))"}}"#,
                #"{"temporary":{"_0":"/torn"#,
            ])
        RunFolder.sweep(state: state.path)
        #expect(exists("out/holiday.jpg"))
        #expect(exists("documents/letter.txt"))
        #expect(!exists("runs/run-3"))
    }

    private func changed(_ name: String) -> timespec {
        var found = stat()
        return lstat(state.file(name), &found) == 0 ? found.st_ctim : timespec()
    }

    @Test func `a journal cannot make the sweep remove an empty folder that is older than its run`() throws {
        try write("", to: "documents/empty/file")
        #expect(unlink(state.file("documents/empty/file")) == 0)
        // The file system's clock moves in steps.
        repeat { try write("", to: "runs/run-4/lock") } while isAsOld("documents/empty", "runs/run-4/lock")
        try write("", to: "out/file")
        #expect(unlink(state.file("out/file")) == 0)
        let journal = ["documents/empty", "out", "out/of/reach"].map {
            #"{"folder":{"_0":"\#(state.file($0))"}}"#
        }
        try write(journal.joined(separator: "\n") + "\n", to: "runs/run-4/journal")
        RunFolder.sweep(state: state.path)
        #expect(exists("documents/empty"))
        #expect(!exists("out"))
        #expect(!exists("runs/run-4"))
    }

    private func isAsOld(_ one: String, _ other: String) -> Bool {
        let (first, second) = (changed(one), changed(other))
        return first.tv_sec == second.tv_sec && first.tv_nsec == second.tv_nsec
    }

    @Test(arguments: [
        (Journal.Entry.scratch("a"), #"{"scratch":{"_0":"a"}}"#), (.folder("a"), #"{"folder":{"_0":"a"}}"#),
        (.outputFolder("a"), #"{"place":{"_0":"a"}}"#), (.temporary("a"), #"{"temporary":{"_0":"a"}}"#),
        (.replace(old: "a", final: "b"), #"{"replace":{"aside":"a","final":"b"}}"#),
    ])
    func `journals keep the names of their first version`(entry: Journal.Entry, json: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(String(decoding: try encoder.encode(entry), as: UTF8.self) == json)
        #expect(try JSONDecoder().decode(Journal.Entry.self, from: Data(json.utf8)) == entry)
    }

    @Test func `a replaced folder comes back, or is removed if its path is taken`() throws {
        try write("old", to: "zoom/.penumbra-run-5-1-frame-1-old/a.dzi")
        try write("old", to: "zoom/.penumbra-run-5-2-frame-1-old/b.dzi")
        try write("new", to: "zoom/b/b.dzi")
        try write("half", to: "zoom/.penumbra-run-5-3-frame-1/c_files/0/0_0.jpg")
        try leaveBehind(
            "run-5",
            journal: [
                #"{"replace":{"aside":"\#(state.file("zoom/.penumbra-run-5-1-frame-1-old"))","final":"\#(state.file("zoom/a"))"}}"#,
                #"{"replace":{"aside":"\#(state.file("zoom/.penumbra-run-5-2-frame-1-old"))","final":"\#(state.file("zoom/b"))"}}"#,
                #"{"temporary":{"_0":"\#(state.file("zoom/.penumbra-run-5-3-frame-1"))"}}"#,
                #"{"temporary":{"_0":"\#(state.file("zoom/.penumbra-run-5-9/../b"))"}}"#,
            ])
        RunFolder.sweep(state: state.path)
        #expect(try String(contentsOfFile: state.file("zoom/a/a.dzi"), encoding: .utf8) == "old")
        #expect(try String(contentsOfFile: state.file("zoom/b/b.dzi"), encoding: .utf8) == "new")
        #expect(try FileManager.default.contentsOfDirectory(atPath: state.file("zoom")).sorted() == ["a", "b"])
    }

    @Test func `a journal cannot put a folder anywhere but beside where it is`() throws {
        try write("mine", to: "zoom/.penumbra-run-6-1-frame-1-old/a.dzi")
        try leaveBehind(
            "run-6",
            journal: [
                #"{"replace":{"aside":"\#(state.file("zoom/.penumbra-run-6-1-frame-1-old"))","final":"\#(state.file("home"))"}}"#
            ])
        RunFolder.sweep(state: state.path)
        #expect(!exists("home"))
        #expect(exists("zoom/.penumbra-run-6-1-frame-1-old/a.dzi"))
    }

    @Test func `the next run removes temporary files in a folder that was missing`() throws {
        try write("", to: "out/.keep")
        try write("mine", to: "photos/a.png")
        do {
            let run = try RunClaim(state: state.path, name: "run-8", scratch: nil)
            let aside = try run.temporaryPath(in: state.file("out"), for: "1-frame-1")
            try Data("half".utf8).write(to: URL(filePath: aside))
            #expect(rename(state.file("out"), state.file("former")) == 0)
            #expect(symlink("photos", state.file("out")) == 0)
            run.leaveToNextRun()
        }
        #expect(exists("former/.penumbra-run-8-1-frame-1"))
        #expect(unlink(state.file("out")) == 0)
        #expect(rename(state.file("former"), state.file("out")) == 0)
        RunFolder.sweep(state: state.path)
        #expect(!exists("out/.penumbra-run-8-1-frame-1"))
        #expect(!exists("runs/run-8"))
        #expect(exists("photos/a.png"))
    }

    @Test func `two runs of one process have tokens of their own`() throws {
        let runs = try ["run-10", "run-11"].map { try RunClaim(state: state.path, name: $0, scratch: nil) }
        let texts = runs.map(\.token.text)
        #expect(Set(texts).count == 2)
        #expect(texts[0].hasPrefix("run-10/") && texts[1].hasPrefix("run-11/"))
        #expect(texts[0].dropFirst(7).prefix(32) != texts[1].dropFirst(7).prefix(32))
    }

    @Test func `a second run of one name is refused`() throws {
        let run = try RunClaim(state: state.path, name: "run-4", scratch: nil)
        #expect(throws: FileError.self) { try RunClaim(state: state.path, name: "run-4", scratch: nil) }
        withExtendedLifetime(run) {}
    }

    @Test func `a lock is held by one holder until it goes`() throws {
        let path = state.file("lock")
        var first = try KernelLock.take(path)
        #expect(first != nil)
        #expect(try KernelLock.take(path) == nil)
        first = nil
        #expect(try KernelLock.take(path) != nil)
    }

    private static let killed = "run-8"

    /// The folder of a killed run, with scratch space where other users may write.
    private func leaveScratch() throws -> String {
        let scratch = state.file("scratch/penumbra-\(Self.killed)")
        try leaveBehind(Self.killed, journal: [#"{"scratch":{"_0":"\#(scratch)"}}"#])
        try write("1", to: "scratch/else")
        return scratch
    }

    @Test func `a link in the place of a killed run's scratch space is refused, and what it leads to keeps its rights`()
        throws
    {
        let scratch = try leaveScratch()
        try write("mine", to: "documents/letter.txt")
        chmod(state.file("documents"), 0o755)
        symlink(state.file("documents"), scratch)

        let trouble = #expect(throws: FileError.self) {
            try RunClaim(claiming: RunFolder(state: state.path, name: Self.killed))
        }
        #expect(
            trouble?.message
                == "\(scratch): cannot resume this run: it is a link, and Penumbra did not make it so\n"
                + "   = remove what is there, and run again")
        var found = stat()
        stat(state.file("documents"), &found)
        #expect(found.st_mode & 0o777 == 0o755)
    }

    @Test(.enabled(if: geteuid() == 0, "folders of another user take root"))
    func `another user's folder in the place of a killed run's scratch space is neither used nor removed`() throws {
        let scratch = try leaveScratch()
        try write("theirs", to: "scratch/penumbra-\(Self.killed)/diary")
        chown(scratch, 12345, 12345)

        let trouble = #expect(throws: FileError.self) {
            try RunClaim(claiming: RunFolder(state: state.path, name: Self.killed))
        }
        #expect(
            trouble?.message
                == "\(scratch): cannot resume this run: it belongs to another user (uid 12345)\n"
                + "   = remove what is there, and run again")
        RunFolder(state: state.path, name: Self.killed).remove()
        #expect(exists("scratch/penumbra-\(Self.killed)/diary"))
        #expect(!exists("runs/\(Self.killed)"))
    }

    @Test(.enabled(if: geteuid() == 0, "folders of another user take root"))
    func `another user's run is not resumed, and the error says so`() throws {
        try leaveBehind("run-7", journal: [])
        chown(state.file("runs/run-7"), 12345, 12345)
        let trouble = #expect(throws: FileError.self) {
            try RunClaim(claiming: RunFolder(state: state.path, name: "run-7"))
        }
        #expect(
            trouble?.message
                == "\(state.file("runs/run-7")): cannot resume this run: it belongs to another user (uid 12345)\n"
                + "   = let the user who began the run resume it")
        #expect(exists("runs/run-7/journal"))
    }
}
