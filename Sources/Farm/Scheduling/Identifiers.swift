/// A frame: an input, or a page of one.
package struct FrameID: Hashable, Comparable, Sendable {
    /// The input's place in the job's sorted inputs, from 1.
    package let number: Int
    /// From 0.
    package let page: Int

    package init(_ number: Int, page: Int = 0) {
        self.number = number
        self.page = page
    }

    package static func < (a: FrameID, b: FrameID) -> Bool { (a.number, a.page) < (b.number, b.page) }

    /// For files: `12`, and `12p3` for its fourth page.
    package var name: String { page == 0 ? "\(number)" : "\(number)p\(page)" }
}

/// A place where one worker process after the other runs: a loop of the local engine, later a node of a cluster.
package struct SlotID: Hashable, Comparable, Sendable {
    /// From 1.
    package let number: Int

    package init(_ number: Int) { self.number = number }

    package static func < (a: SlotID, b: SlotID) -> Bool { a.number < b.number }
}

/// One worker process. A process that replaces a dead one is another worker, in the same slot.
package struct WorkerID: Hashable, Comparable, Sendable {
    package let number: Int
    package let slot: SlotID

    /// - Parameter slot: one of its own when nothing is said.
    package init(_ number: Int, slot: SlotID? = nil) {
        self.number = number
        self.slot = slot ?? SlotID(number)
    }

    package static func < (a: WorkerID, b: WorkerID) -> Bool { a.number < b.number }

    /// No two have one number.
    package func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

/// What is to be done for a frame.
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
    /// Since the run began.
    package let elapsed: Duration

    package init(_ elapsed: Duration) { self.elapsed = elapsed }

    package static let start = Timestamp(.zero)

    package static func + (time: Timestamp, more: Duration) -> Timestamp { Timestamp(time.elapsed + more) }
    package static func < (a: Timestamp, b: Timestamp) -> Bool { a.elapsed < b.elapsed }
}
