/// A frame: an input, or a page of one.
package struct FrameID: Hashable, Comparable, Sendable {
    /// The input's number among the job's sorted inputs, from 1.
    package let number: Int
    /// Counted from 0.
    package let page: Int

    package init(_ number: Int, page: Int = 0) {
        self.number = number
        self.page = page
    }

    package static func < (a: FrameID, b: FrameID) -> Bool { (a.number, a.page) < (b.number, b.page) }

    /// For names of files: `12`, and `12p3` for its fourth page.
    package var name: String { page == 0 ? "\(number)" : "\(number)p\(page)" }
}

/// A position in which one worker process runs after the other: a loop of the local engine, or a part of a cluster.
package struct SlotID: Hashable, Comparable, Sendable {
    /// Counted from 1.
    package let number: Int

    package init(_ number: Int) { self.number = number }

    package static func < (a: SlotID, b: SlotID) -> Bool { a.number < b.number }
}

/// One worker process. The successor of a dead process is another worker in the same slot.
package struct WorkerID: Hashable, Comparable, Sendable {
    package let number: Int
    package let slot: SlotID

    /// - Parameter slot: By default a slot of the worker's own.
    package init(_ number: Int, slot: SlotID? = nil) {
        self.number = number
        self.slot = slot ?? SlotID(number)
    }

    package static func < (a: WorkerID, b: WorkerID) -> Bool { a.number < b.number }

    /// The number alone is hashed, because it is unique.
    package func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

/// The kind of a task of a frame.
package enum TaskKind: Hashable, Sendable {
    case compare
    case probe
    case frame
    case canvas
    case tile(Int)
    case stitch
    case audit
    case check
}

package struct TaskID: Hashable, Sendable {
    package let frame: FrameID
    package let kind: TaskKind

    package init(_ frame: FrameID, _ kind: TaskKind) {
        self.frame = frame
        self.kind = kind
    }
}

/// A moment on the coordinator's monotonic clock.
package struct Timestamp: Hashable, Comparable, Sendable {
    /// The time since the run began.
    package let elapsed: Duration

    package init(_ elapsed: Duration) { self.elapsed = elapsed }

    package static let start = Timestamp(.zero)

    package static func + (time: Timestamp, more: Duration) -> Timestamp { Timestamp(time.elapsed + more) }
    package static func < (a: Timestamp, b: Timestamp) -> Bool { a.elapsed < b.elapsed }
}
