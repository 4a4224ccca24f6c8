import Notifications
import Queueing
import Testing

@Suite struct RedeliveryTests {
    private let created = WallTime(seconds: 1_795_672_800)

    /// The times of all tries after the first one, in seconds since it.
    private func tries(jitter: Double) -> [Int] {
        var (now, times): (WallTime, [Int]) = (created, [])
        while let next = RedeliveryPolicy.next(after: times.count + 1, created: created, now: now, jitter: jitter) {
            now = next
            times.append(Int((next - created) / .seconds(1)))
        }
        return times
    }

    @Test func `pauses grow fourfold up to six hours, for a day`() {
        #expect(tries(jitter: 0.5) == [15, 75, 315, 1275, 5115, 20475, 42075, 63675, 85275])
    }

    @Test(arguments: [0, 0.25, 0.5, 0.75, 1])
    func `jitter spreads the tries, and all of them are within a day`(jitter: Double) {
        let times = tries(jitter: jitter)
        #expect(times.first == Int(15 * (0.75 + 0.5 * jitter)))
        #expect((7...12).contains(times.count))
        #expect(times.last.map { $0 <= 86_400 } == true)
        #expect(times.last.map { $0 > 86_400 - 27_000 } == true)
    }

    @Test func `odd numbers do no harm`() {
        for tries in [Int.min, -1, 0] {
            #expect(
                RedeliveryPolicy.next(after: tries, created: created, now: created, jitter: 0.5) == created
                    + .seconds(15))
        }
        #expect(
            RedeliveryPolicy.next(after: .max, created: created, now: created, jitter: 9) == created + .seconds(27_000))
        #expect(RedeliveryPolicy.next(after: 1, created: created, now: .latest, jitter: 0.5) == nil)
    }
}
