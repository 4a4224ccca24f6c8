import Cluster
import Scheduling
import Testing

@Suite struct ElementFailureTests {
    private func death(_ state: String, status: Int = 0, reason: String = "None", hasBegun: Bool = true) -> Death.Manner
    {
        let element = ArrayElement(
            job: "12", index: 3, of: "a", state: state, reason: reason, status: status, node: "n2")
        return ElementFailure(element, name: "element 12_3", log: "/l/12_3.out").death(hasBegun: hasBegun).manner
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
            ElementFailure(nil, name: "element 12_3", log: "/l/12_3.out").death(hasBegun: true).manner
                == .elementLost("element 12_3 is gone from the queue; see /l/12_3.out"))
    }

    @Test func `an element is lost when it stays away for the time that files may take`() {
        var following = ElementTracker(grace: .seconds(5), logs: "/l")
        let submission = ArrayJob(name: "a", firstShard: 7, count: 2)
        following.begin(submission, as: "12", limits: [7: .seconds(100), 8: .seconds(100)])
        let done = ArrayElement(job: "12", index: 0, of: "a", state: "COMPLETED", node: "n1")
        let runs = ArrayElement(job: "12", index: 1, of: "a", state: "RUNNING", node: "n2")
        func look(_ elements: [ArrayElement], at second: Int) -> [Int] {
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

    private func following() -> ElementTracker {
        var following = ElementTracker(grace: .seconds(5), logs: "/l")
        following.begin(
            ArrayJob(name: "a", firstShard: 7, count: 1), as: "12", limits: [7: .seconds(100)])
        return following
    }

    @Test func `a number that Slurm has given away again is no sign of life`() {
        var following = following()
        let other = ArrayElement(job: "12", index: 0, of: "b", state: "RUNNING", node: "n1")
        #expect(following.look(at: [other], now: Timestamp(.seconds(1))).isEmpty)
        let lost = following.look(at: [other], now: Timestamp(.seconds(6)))
        #expect(lost.map(\.shard) == [7])
        #expect(lost.map(\.cancelled) == [nil], "it is somebody else's")
    }

    @Test func `an element that stands still uses up none of its time`() {
        var following = following()
        func look(_ state: String, at second: Int) -> Bool {
            let element = ArrayElement(job: "12", index: 0, of: "a", state: state, node: "n1")
            return following.look(at: [element], now: Timestamp(.seconds(second))).isEmpty
        }
        #expect(look("RUNNING", at: 1))
        #expect(look("SUSPENDED", at: 50))
        #expect(look("SUSPENDED", at: 5000))
        #expect(look("RUNNING", at: 5001))
        #expect(look("RUNNING", at: 5100))
        #expect(!look("RUNNING", at: 5102))
    }

    @Test func `each reason for which elements wait is told once, and none of a stranger's`() {
        var following = following()
        func told(_ reason: String, of submission: String = "a") -> Int {
            let element = ArrayElement(job: "12", index: 0, of: submission, state: "PENDING", reason: reason)
            return following.hindrances(of: [element, element]).count
        }
        #expect(told("PartitionDown", of: "b") == 0)
        #expect(told("PartitionDown") == 1)
        #expect(told("PartitionDown") == 0)
        #expect(told("BadConstraints") == 1)
    }
}
