import HeapModule

/// A queue of items with deadlines: the earliest first, and of equal ones the one that was added first.
///
/// A heap cannot remove an item from its middle cheaply. An item that is void stays until its deadline, and the caller
/// checks whether it still counts. ``prune(downTo:keeping:)`` limits how many void items there are.
package struct DeadlineQueue<Item: Sendable>: Sendable {
    private struct Entry: Comparable {
        let time: Timestamp
        let number: Int
        let item: Item

        static func == (a: Entry, b: Entry) -> Bool { a.number == b.number }
        static func < (a: Entry, b: Entry) -> Bool { a.time == b.time ? a.number < b.number : a.time < b.time }
    }

    private var entries = Heap<Entry>()
    private var added = 0

    package init() {}

    package var count: Int { entries.count }

    /// The earliest deadline.
    package var soonest: Timestamp? { entries.min?.time }

    package mutating func add(_ item: Item, at time: Timestamp) {
        added += 1
        entries.insert(Entry(time: time, number: added, item: item))
    }

    /// The next item, or nil if none is due.
    package mutating func popDue(at now: Timestamp) -> Item? {
        guard let next = entries.min, next.time <= now else { return nil }
        return entries.popMin()?.item
    }

    /// Moves all deadlines by a delay.
    package mutating func postpone(by delay: Duration) {
        entries = Heap(entries.unordered.map { Entry(time: $0.time + delay, number: $0.number, item: $0.item) })
    }

    /// Removes void items once they outnumber the `count` items that may still hold. Amortized, this costs next to
    /// nothing.
    package mutating func prune(downTo count: Int, keeping stillHolds: (Item) -> Bool) {
        guard entries.count > 2 * count + 64 else { return }
        entries = Heap(entries.unordered.filter { stillHolds($0.item) })
    }
}
