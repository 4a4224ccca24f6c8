import HeapModule

/// What falls due at some time: the soonest first, and of what is due at once the one that was added first.
///
/// Nothing is searched for and taken out, which a heap cannot do cheaply. What became void meanwhile comes up in its
/// turn all the same, and whoever takes it asks whether it still holds; ``prune(downTo:keeping:)`` bounds how much of
/// that there is.
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

    /// When the next one falls due.
    package var soonest: Timestamp? { entries.min?.time }

    package mutating func add(_ item: Item, at time: Timestamp) {
        added += 1
        entries.insert(Entry(time: time, number: added, item: item))
    }

    /// Nil when nothing is due yet.
    package mutating func popDue(at now: Timestamp) -> Item? {
        guard let next = entries.min, next.time <= now else { return nil }
        return entries.popMin()?.item
    }

    /// Everything falls due so much later.
    package mutating func postpone(by delay: Duration) {
        entries = Heap(entries.unordered.map { Entry(time: $0.time + delay, number: $0.number, item: $0.item) })
    }

    /// Lets go of what is void once it outnumbers the `count` that may still hold: this costs each entry next to nothing.
    package mutating func prune(downTo count: Int, keeping stillHolds: (Item) -> Bool) {
        guard entries.count > 2 * count + 64 else { return }
        entries = Heap(entries.unordered.filter { stillHolds($0.item) })
    }
}
