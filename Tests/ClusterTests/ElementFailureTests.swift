import Cluster
import Scheduling
import Testing

@Suite struct ElementFailureTests {
    private func death(_ condition: ArrayElement.Condition, reason: String = "", hasBegun: Bool = true) -> Death.Manner
    {
        let element = ArrayElement(job: "12", index: 3, of: "a", condition, reason: reason, node: "n2")
        return ElementFailure(element, name: "element 12_3", log: "/l/12_3.out").death(hasBegun: hasBegun).manner
    }

    @Test(arguments: [
        (
            ArrayElement.Ending.outOfTime,
            "ran out of time; give it more by 'time' or less work by 'shard_seconds' under 'slurm'"
        ),
        (.outOfMemory, "ran out of memory; give it more by 'memory' under 'slurm'"),
        (.failed("left with exit code 3"), "left with exit code 3"),
    ]) func `what an element may have brought upon itself counts against the tasks that it had begun`(
        ending: ArrayElement.Ending, words: String
    ) {
        #expect(death(.ended(ending)) == .elementFailed("element 12_3 on n2 \(words); see /l/12_3.out"))
        guard case .elementLost = death(.ended(ending), hasBegun: false) else {
            Issue.record("a task that was never begun is charged")
            return
        }
    }

    @Test(arguments: [
        (ArrayElement.Condition.ended(.nodeLost), "", "was lost with its node"),
        (.ended(.preempted), "", "had to make room for another job"),
        (.ended(.cancelled), "", "was cancelled"),
        (.ended(.done), "", "ended, and its result does not show on the shared file system"),
        (.ended(.stopped("was told to end")), "", "was told to end"),
        (.stuck, "launch failed requeued held", "cannot be started (launch failed requeued held)"),
    ]) func `what came from outside counts against nobody`(
        condition: ArrayElement.Condition, reason: String, words: String
    ) {
        #expect(death(condition, reason: reason) == .elementLost("element 12_3 on n2 \(words); see /l/12_3.out"))
    }

    @Test func `one that the cluster knows no more is named by what was submitted`() {
        #expect(
            ElementFailure(nil, name: "element 12_3", log: "/l/12_3.out").death(hasBegun: true).manner
                == .elementLost("element 12_3 is gone from the queue; see /l/12_3.out"))
    }

    @Test func `an element is lost when it stays away for the time that files may take`() {
        var following = ElementTracker(grace: .seconds(5), logs: "/l")
        let submission = ArrayJob(name: "a", firstShard: 7, count: 2)
        following.begin(submission, as: "12", limits: [7: .seconds(100), 8: .seconds(100)])
        let done = ArrayElement(job: "12", index: 0, of: "a", .ended(.done), node: "n1")
        let runs = ArrayElement(job: "12", index: 1, of: "a", .running, node: "n2")
        func look(_ elements: [ArrayElement], at second: Int) -> [Int] {
            following.inspect(elements, now: Timestamp(.seconds(second))).map(\.shard)
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

    @Test func `a number that was given away again is no sign of life`() {
        var following = following()
        let other = ArrayElement(job: "12", index: 0, of: "b", .running, node: "n1")
        #expect(following.inspect([other], now: Timestamp(.seconds(1))).isEmpty)
        let lost = following.inspect([other], now: Timestamp(.seconds(6)))
        #expect(lost.map(\.shard) == [7])
        #expect(lost.map(\.cancelled) == [nil], "it is somebody else's")
    }

    @Test func `an element that stands still uses up none of its time`() {
        var following = following()
        func look(_ condition: ArrayElement.Condition, at second: Int) -> Bool {
            let element = ArrayElement(job: "12", index: 0, of: "a", condition, node: "n1")
            return following.inspect([element], now: Timestamp(.seconds(second))).isEmpty
        }
        #expect(look(.running, at: 1))
        #expect(look(.suspended, at: 50))
        #expect(look(.suspended, at: 5000))
        #expect(look(.running, at: 5001))
        #expect(look(.running, at: 5100))
        #expect(!look(.running, at: 5102))
    }

    @Test func `each reason why elements are blocked is reported once, and none of a foreign element`() {
        var following = following()
        func told(_ reason: String, of submission: String = "a") -> Int {
            let element = ArrayElement(
                job: "12", index: 0, of: submission, .waiting, reason: reason, obstacle: "ask for less")
            return following.pendingReasons(of: [element, element]).count
        }
        #expect(told("PartitionDown", of: "b") == 0)
        #expect(told("PartitionDown") == 1)
        #expect(told("PartitionDown") == 0)
        #expect(told("BadConstraints") == 1)
    }
}
