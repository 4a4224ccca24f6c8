/// A set in ascending order, stored in runs of some hundreds. Searches are binary, and an insertion or removal moves
/// elements of one run only.
package struct AscendingSet<Element: Comparable & Sendable>: Sendable {
    private static var longestRun: Int { 512 }

    /// No run is empty, and each ends before the next one begins.
    private var runs: [[Element]] = []

    package init() {}

    package var elements: [Element] { Array(runs.joined()) }

    package var isEmpty: Bool { runs.isEmpty }

    package var first: Element? { runs.first?.first }

    /// The lowest element that is greater. For walks during which the set changes.
    package func first(after element: Element) -> Element? {
        guard !runs.isEmpty else { return nil }
        let run = run(for: element)
        let index = index(of: element, in: run)
        let next = holds(element, run, index) ? index + 1 : index
        return next < runs[run].count ? runs[run][next] : run + 1 < runs.count ? runs[run + 1].first : nil
    }

    package mutating func insert(_ element: Element) {
        guard !runs.isEmpty else { return runs.append([element]) }
        let run = run(for: element)
        let index = index(of: element, in: run)
        guard !holds(element, run, index) else { return }
        runs[run].insert(element, at: index)
        if runs[run].count > Self.longestRun { split(run) }
    }

    package mutating func remove(_ element: Element) {
        guard !runs.isEmpty else { return }
        let run = run(for: element)
        let index = index(of: element, in: run)
        guard holds(element, run, index) else { return }
        runs[run].remove(at: index)
        if runs[run].isEmpty { runs.remove(at: run) } else { joinNext(to: run) }
    }

    private mutating func split(_ run: Int) {
        let half = runs[run].count / 2
        runs.insert(Array(runs[run][half...]), at: run + 1)
        runs[run].removeSubrange(half...)
    }

    /// Joins short runs, so that their number stays in proportion to the elements.
    private mutating func joinNext(to run: Int) {
        guard run + 1 < runs.count, runs[run].count + runs[run + 1].count <= Self.longestRun / 2 else { return }
        runs[run] += runs.remove(at: run + 1)
    }

    /// The last run that does not begin after the element.
    private func run(for element: Element) -> Int {
        max(0, Self.count(below: runs.count) { runs[$0][0] <= element } - 1)
    }

    private func index(of element: Element, in run: Int) -> Int {
        Self.count(below: runs[run].count) { runs[run][$0] < element }
    }

    private func holds(_ element: Element, _ run: Int, _ index: Int) -> Bool {
        index < runs[run].count && runs[run][index] == element
    }

    /// The number of indices from 0 for which a condition holds. It holds for none after them.
    private static func count(below end: Int, where holds: (Int) -> Bool) -> Int {
        var range = 0..<end
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = holds(middle) ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }
}
