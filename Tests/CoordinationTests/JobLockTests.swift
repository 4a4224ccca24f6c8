import Coordination
import Foundation
import Glibc
import JobModel
import Runs
import SafeFiles
import Testing
import TestSupport

/// A job's locks on the folders of its outputs.
@Suite struct JobLockTests {
    let place: TemporaryFolder

    init() throws { place = try TemporaryFolder() }

    @Test func `a folder that a link replaces while its lock is waited for is not locked`() async throws {
        let (out, other) = (place.file("out"), place.file("other"))
        for folder in [out, other] { #expect(mkdir(folder, 0o755) == 0) }
        let holder = open(out, O_RDONLY | O_DIRECTORY)
        #expect(flock(holder, LOCK_EX) == 0)
        let watch = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        defer { close(watch) }
        #expect(inotify_add_watch(watch, out, UInt32(IN_OPEN)) >= 0)

        let directory = try RunClaim(state: place.file("state"), name: "run-1", scratch: nil)
        let job = JobSpec.make("nightly", folder: place.path, outputs: [.stem()])
        let taking = Task.detached { [state = place.file("state")] in
            try await JobLock.take(
                for: job, folders: [out], held: [], directory: directory, state: state, wait: .seconds(600))
        }
        // It has tried to lock the folder.
        var event = [UInt8](repeating: 0, count: 4096)
        while read(watch, &event, event.count) < 0 { await Task.yield() }
        #expect(rename(out, place.file("aside")) == 0)
        #expect(symlink(other, out) == 0)
        close(holder)
        let trouble = await #expect(throws: FileError.self) { _ = try await taking.value }
        #expect(
            trouble?.message.contains("the folder was replaced by another one, or by a link, while the run went on")
                == true)
    }

    @Test func `a folder on another disk than before is not called another folder`() throws {
        let out = place.file("out")
        // The link stands for a mounted disk.
        #expect(symlink("/proc", out) == 0)
        let folders = LockedFolders(of: JobSpec.make("nightly", folder: place.path, outputs: [.stem()]))
        #expect(unlink(out) == 0)
        let error = #expect(throws: FileError.self) { try folders.check(out) }
        #expect(
            error?.message == """
                \(out): cannot publish there: its disk was unmounted, or another one was mounted, while the run went on
                   = mount the disk, and run the job again
                """)
    }
}
