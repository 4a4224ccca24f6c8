package import Kernels

/// Which parts of the input one axis of an output needs, and where each coordinate is found in them.
package struct AxisMap: Hashable, Sendable {
    /// The needed parts of the input, in its order; neither overlapping nor touching. At most one, or two for `wrap`;
    /// none when all that is needed is transparent.
    package let intervals: [Range<Int>]
    /// For each needed coordinate its position in the intervals, put one behind the other.
    package let table: AxisTable

    /// - Parameters:
    ///   - needed: coordinates that will be asked for; they may lie outside `input`.
    ///   - input: the input's extent along this axis.
    /// - Cost: the number of needed coordinates.
    package init(needed: Range<Int>, input: Range<Int>, edge: Edge) {
        let resolved = needed.map { edge.resolve($0, in: input) }
        let intervals = Self.intervals(covering: resolved)
        let first = intervals.first ?? 0..<0
        let second = intervals.dropFirst().first ?? 0..<0
        self.intervals = intervals
        table = AxisTable(
            range: needed,
            positions: resolved.map { coordinate in
                guard let coordinate else { return AxisTable.transparent }
                let isInFirst = first.contains(coordinate)
                return Int32(isInFirst ? coordinate - first.lowerBound : first.count + coordinate - second.lowerBound)
            })
    }

    /// The number of columns or rows in all intervals.
    package var count: Int { intervals.reduce(0) { $0 + $1.count } }

    /// A table for an input that is laid out in another way.
    ///
    /// - Parameter position: of a coordinate of the input.
    package func table(placing position: (Int) -> Int) -> AxisTable {
        let first = intervals.first ?? 0..<0
        let second = intervals.dropFirst().first ?? 0..<0
        return AxisTable(
            range: table.range,
            positions: table.positions.map { place in
                guard place != AxisTable.transparent else { return place }
                let index = Int(place)
                let isInFirst = index < first.count
                return Int32(position(isInFirst ? first.lowerBound + index : second.lowerBound + index - first.count))
            })
    }

    /// Where `interval`, one of the intervals, starts among all.
    func offset(of interval: Range<Int>) -> Int {
        intervals.prefix { $0 != interval }.reduce(0) { $0 + $1.count }
    }

    /// Neighbours in `coordinates` are the same, neighbours in the input, or (where `wrap` starts again) far apart.
    private static func intervals(covering coordinates: [Int?]) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        for case let coordinate? in coordinates {
            if let run = runs.last, coordinate >= run.lowerBound - 1, coordinate <= run.upperBound {
                runs[runs.count - 1] = min(run.lowerBound, coordinate)..<max(run.upperBound, coordinate + 1)
            } else {
                runs.append(coordinate..<coordinate + 1)
            }
        }
        return merged(runs)
    }

    private static func merged(_ runs: [Range<Int>]) -> [Range<Int>] {
        var result: [Range<Int>] = []
        for run in runs.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = result.last, run.lowerBound <= last.upperBound {
                result[result.count - 1] = last.lowerBound..<max(last.upperBound, run.upperBound)
            } else {
                result.append(run)
            }
        }
        return result
    }
}
