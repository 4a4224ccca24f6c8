import Dispatching
import Scheduling
import Testing

@Suite struct SlurmLossTests {
    private func death(_ state: String, status: Int = 0, reason: String = "None", hasBegun: Bool = true) -> Death.Manner
    {
        let element = SlurmElement(
            job: "12", index: 3, state: state, reason: reason, status: status, node: "n2")
        return SlurmLoss(element, name: "element 12_3", log: "/l/12_3.out").death(hasBegun: hasBegun).manner
    }

    @Test func `what an element may have brought upon itself counts against the tasks that it had begun`() {
        #expect(
            death("TIMEOUT", status: 15)
                == .elementFailed(
                    "element 12_3 on n2 ran out of time; give it more by 'time' or less work by 'shard_seconds' under "
                        + "'slurm'; see /l/12_3.out"))
        #expect(
            death("OUT_OF_MEMORY")
                == .elementFailed(
                    "element 12_3 on n2 ran out of memory; give it more by 'memory' under 'slurm'; see /l/12_3.out"))
        #expect(
            death("FAILED", status: 768) == .elementFailed("element 12_3 on n2 left with exit code 3; see /l/12_3.out"))
        #expect(
            death("FAILED", status: 11) == .elementFailed("element 12_3 on n2 crashed with signal 11; see /l/12_3.out"))
        #expect(
            death("FAILED", status: 9, reason: "JobLaunchFailure")
                == .elementFailed("element 12_3 on n2 was killed, perhaps for want of memory; see /l/12_3.out"))
    }

    @Test func `tasks that it had not begun are not to blame`() {
        guard case .elementLost = death("TIMEOUT", hasBegun: false) else {
            Issue.record("a task that was never begun is charged")
            return
        }
    }

    @Test(arguments: [
        ("NODE_FAIL", 0, "None", "was lost with its node"),
        ("PREEMPTED", 9, "None", "had to make room for another job"),
        ("CANCELLED", 15, "None", "was cancelled"),
        ("COMPLETED", 0, "None", "ended, and its result does not show on the shared file system"),
        ("FAILED", 4021, "JobLaunchFailure", "could not be started: its log folder does not show on the node"),
        ("FAILED", 143 << 8, "NonZeroExitCode", "was told to end"),
        ("PENDING", 0, "launch failed requeued held", "cannot be started (launch failed requeued held)"),
    ]) func `what came from outside counts against nobody`(state: String, status: Int, reason: String, words: String) {
        #expect(
            death(state, status: status, reason: reason) == .elementLost("element 12_3 on n2 \(words); see /l/12_3.out")
        )
    }

    @Test func `one that Slurm knows no more is named by what was submitted`() {
        #expect(
            SlurmLoss(nil, name: "element 12_3", log: "/l/12_3.out").death(hasBegun: true).manner
                == .elementLost("element 12_3 is gone from the queue; see /l/12_3.out"))
    }

    @Test func `an element is lost when it stays away for the time that files may take`() {
        var following = SlurmFollowing(grace: .seconds(5), logs: "/l")
        let submission = SlurmSubmission(name: "a", firstShard: 7, count: 2)
        following.begin(submission, as: "12", limits: [7: .seconds(100), 8: .seconds(100)])
        let done = SlurmElement(job: "12", index: 0, state: "COMPLETED", node: "n1")
        let runs = SlurmElement(job: "12", index: 1, state: "RUNNING", node: "n2")
        func look(_ elements: [SlurmElement], at second: Int) -> [Int] {
            following.look(at: elements, now: Timestamp(.seconds(second))).map(\.shard)
        }
        #expect(look([done, runs], at: 1) == [])
        #expect(look([done, runs], at: 5) == [])
        #expect(look([done, runs], at: 6) == [7])
        #expect(look([runs], at: 20) == [], "it is told once")
        #expect(look([], at: 21) == [])
        #expect(look([runs], at: 30) == [], "it came back")
        #expect(look([runs], at: 102) == [8], "it works for longer than its tasks may take")
        #expect(following.jobs == [])
    }
}
