/// A set in ascending order, kept as an array: finding takes a binary search, and adding moves what comes after, which
/// for some thousands of small elements is cheaper than any tree.
struct AscendingSet<Element: Comparable & Hashable & Sendable>: Hashable, Sendable {
    private(set) var elements: [Element] = []

    mutating func insert(_ element: Element) {
        let index = position(of: element)
        if !holds(element, at: index) { elements.insert(element, at: index) }
    }

    mutating func remove(_ element: Element) {
        let index = position(of: element)
        if holds(element, at: index) { elements.remove(at: index) }
    }

    private func holds(_ element: Element, at index: Int) -> Bool {
        index < elements.count && elements[index] == element
    }

    /// Where the element is, or would be.
    private func position(of element: Element) -> Int {
        var range = 0..<elements.count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = elements[middle] < element ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }
}
