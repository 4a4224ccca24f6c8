import Queueing
import TestSupport
import Testing

@Suite struct SharesTests {
    private typealias Demand = WorkerShares.Demand

    private static func demand(_ job: Int, _ priority: Int, _ wants: Int) -> WorkerShares.Demand {
        Demand(job: JobID(job), level: Rank.Level(Priority(clamping: priority)), wants: wants)
    }

    @Test func `equals have the same, and who wants less leaves the rest to them`() {
        let demands = [Self.demand(1, 50, 100), Self.demand(2, 50, 3), Self.demand(3, 20, 9)]
        #expect(WorkerShares.allot(8, to: demands) == [1: 5, 2: 3, 3: 0])
    }

    @Test func `the runs that began first have the odd workers`() {
        let demands = [Self.demand(7, 50, 9), Self.demand(3, 50, 9), Self.demand(5, 50, 9)]
        #expect(WorkerShares.allot(8, to: demands) == [7: 3, 3: 3, 5: 2])
    }

    @Test func `a farm without workers or without runs has no shares`() {
        #expect(WorkerShares.allot(0, to: [Self.demand(1, 50, 9)]) == [1: 0])
        #expect(WorkerShares.allot(-3, to: [Self.demand(1, 50, 9)]) == [1: 0])
        #expect(WorkerShares.allot(8, to: []) == [:])
    }

    @Test(arguments: 0..<8)
    func `all properties hold, whatever is wanted`(shard: UInt64) {
        var random = SplitMix64(seed: shard)
        for _ in 0..<1500 {
            let workers = Int.random(in: 0...70, using: &random)
            let demands = (0..<Int.random(in: 0...12, using: &random)).map {
                Self.demand($0, Int.random(in: 0...3, using: &random), Int.random(in: 0...40, using: &random))
            }
            let shares = WorkerShares.allot(workers, to: demands)
            let slow = SlowShares.allot(
                workers, to: demands.map { .init(job: $0.job, level: $0.level.value, wants: $0.wants) })
            let wanted = demands.reduce(0) { $0 + $1.wants }
            let claims = [
                "as handed out one by one": shares.filter { $0.value > 0 } == slow,
                "all that is wanted, and no more than there is": shares.values.reduce(0, +) == min(workers, wanted),
                "every run has a share": shares.count == demands.count,
                "nobody has more than he can use": demands.allSatisfy {
                    (0...$0.wants).contains(shares[$0.job, default: 0])
                },
                "a lower priority waits, and equals have the same to one": demands.allSatisfy { one in
                    let own = shares[one.job, default: 0]
                    return own >= one.wants
                        || demands.allSatisfy { other in
                            let its = shares[other.job, default: 0]
                            return other.level > one.level || (other.level == one.level ? its <= own + 1 : its == 0)
                        }
                },
            ]
            let broken = claims.filter { !$0.value }.keys.sorted()
            #expect(broken == [], "\(workers) workers, \(demands)")
            guard broken.isEmpty else { return }
        }
    }
}
