/// A frame's place in the job's sorted inputs, from 1.
package struct FrameID: Hashable, Comparable, Sendable {
    package let number: Int

    package init(_ number: Int) { self.number = number }

    package static func < (a: FrameID, b: FrameID) -> Bool { a.number < b.number }
}

/// One worker process. A process that replaces a dead one is another worker.
package struct WorkerID: Hashable, Sendable {
    package let number: Int

    package init(_ number: Int) { self.number = number }
}

/// What is to be done for a frame.
package enum TaskKind: Hashable, Sendable {
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
