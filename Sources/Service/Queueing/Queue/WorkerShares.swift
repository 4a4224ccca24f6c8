/// Divides the machine's workers among the open runs.
///
/// - A higher level has all the workers that it can use before a lower one has any.
/// - Runs of one level have the same number of workers, or one more.
/// - No run has more workers than it can use.
/// - No worker is idle while a run could use it.
///
/// A run without workers keeps what it has done. Leases are short, so a worker changes hands within the time of one
/// task, and no work is thrown away.
package enum WorkerShares {
    /// What a run could use now.
    package struct Demand: Hashable, Sendable {
        package let job: JobID
        package let level: Rank.Level
        /// The number of its tasks that run or could run. 0 for a run that takes no workers of this machine.
        package let wants: Int

        package init(job: JobID, level: Rank.Level, wants: Int) {
            self.job = job
            self.level = level
            self.wants = wants
        }
    }

    /// The workers of each run. Takes O(n log n) for n runs.
    ///
    /// - Parameter demands: In the order in which the runs began. Of runs of one level, the first ones have the odd
    ///   workers.
    package static func allot(_ workers: Int, to demands: [Demand]) -> [JobID: Int] {
        var shares: [JobID: Int] = [:]
        var left = max(0, workers)
        // Smaller demands first: a run that wants less than an equal share leaves the rest to the others of its level.
        let order = demands.indices.sorted { a, b in
            let (one, other) = (demands[a], demands[b])
            if one.level != other.level { return one.level > other.level }
            return one.wants == other.wants ? a < b : one.wants < other.wants
        }
        var start = 0
        while start < order.count {
            let level = demands[order[start]].level
            let end = order[start...].firstIndex { demands[$0].level != level } ?? order.count
            for place in start..<end {
                let demand = demands[order[place]]
                let equal = left / (end - place)
                guard demand.wants > equal else {
                    shares[demand.job] = max(0, demand.wants)
                    left -= max(0, demand.wants)
                    continue
                }
                // All others of the level want more than an equal share, too.
                let odd = left % (end - place)
                for (number, index) in order[place..<end].sorted().enumerated() {
                    shares[demands[index].job] = equal + (number < odd ? 1 : 0)
                }
                left = 0
                break
            }
            start = end
        }
        return shares
    }
}
