import Scheduling

/// How many of all outputs are looked at.
package enum OutputSample: Hashable, Sendable {
    case count(Int)
    /// Rounded up.
    case percent(Double)

    package func size(of total: Int) -> Int {
        switch self {
        case .count(let count): min(count, total)
        case .percent(let percent): min(total, Int((Double(total) * percent / 100).rounded(.up)))
        }
    }

    /// Places below `total`, in order. The same seed chooses the same ones.
    package func places(of total: Int, seed: UInt64) -> [Int] {
        var random = SplitMix64(seed: seed)
        var places = Array(0..<total)
        let size = size(of: total)
        // The first steps of a shuffle.
        for index in 0..<size {
            places.swapAt(index, index + Int(random.next() % UInt64(total - index)))
        }
        return places.prefix(size).sorted()
    }
}
