import JobModel
import Notifications
import Queueing
import Testing

/// Stops a test at a text that is no time.
func time(_ text: String) throws -> WallTime { try #require(WallTime(text: text)) }

extension RunCounts {
    static func make(frames: Int = 412, published: Int = 400, skipped: Int = 9, failed: Int = 3, left: Int = 0)
        -> RunCounts
    {
        var counts = RunCounts()
        (counts.frames, counts.published, counts.skipped) = (frames, published, skipped)
        (counts.failed, counts.left, counts.seconds) = (failed, left, 200)
        return counts
    }
}

extension Notice {
    static func make(
        job: String = "archive", host: String = "render1", at time: WallTime = WallTime(seconds: 1_795_672_800),
        run: String? = "night-7", outcome: End.Outcome = .failed, exitCode: Int = 1, counts: RunCounts? = .make(),
        reason: String? = nil, failures: [String] = ["photos/a.jpg: not a JPEG file", "photos/b.jpg: it is empty"]
    ) -> Notice {
        Notice(
            job: job, host: host, time: time,
            event: .ended(
                End(
                    run: run, outcome: outcome, exitCode: exitCode, counts: counts, reason: reason, failures: failures))
        )
    }

    static func makeDone(at time: WallTime = WallTime(seconds: 1_795_672_800)) -> Notice {
        make(at: time, outcome: .done, exitCode: 0, counts: .make(published: 403, failed: 0), failures: [])
    }
}
