package import Coordination
import Dispatch
package import JobModel
package import Runs
import Synchronization

/// An event while the farm carries out a request.
package enum RunEvent: Sendable {
    /// The manifests were read, before anything else is done with them.
    case manifests(ManifestFiles.Outcome)
    /// The frames of a job are known, and the first ones start.
    case began(job: String, frames: Int)
    case progress(job: String, RunProgress)
    /// A frame has ended.
    case frame(job: String, FrameReport)
    case notice(RunNotice)
    /// All frames of a job have ended. ``finished(job:_:_:)`` follows.
    case ended(RunEnd)
    /// The work after the last frame is done, too. Only now the exit code is known.
    case finished(job: String, RunOutcome, RunTrouble?)
    /// Another process continues the run, and reports its end.
    case handedOver(job: String, RunSummary)
    /// A cluster has the run, and its folder has the progress. Follows ``handedOver(job:_:)``.
    case detached(RunRecord, RunFolder)
}

/// The end of a job's run.
package struct RunEnd: Sendable {
    package let job: JobSpec
    /// The run's name.
    package let run: String
    package let summary: RunSummary
    /// Kept outputs that no earlier run has reported.
    package let newlyKept: [KeptOutput]
    /// The run is stored, so that a ``RunArchive`` knows its frames.
    package let isRecorded: Bool
}

/// Receives events, on any thread. Events of one job come one after the other.
///
/// A listener that is slow slows the run down: see ``RunEventQueue``.
package protocol RunListener: Sendable {
    func receive(_ event: RunEvent)

    /// The listener has so many unread events that runs begin no further frames.
    var isBehind: Bool { get }
}

extension RunListener {
    package var isBehind: Bool { false }

    /// An observer that passes on the events of a job's run.
    package func observer(of job: String) -> any RunObserver { ListeningObserver(job: job, listener: self) }
}

private struct ListeningObserver: RunObserver {
    package let job: String
    let listener: any RunListener

    var isBehind: Bool { listener.isBehind }

    func began(frames: Int) { listener.receive(.began(job: job, frames: frames)) }
    func progressed(_ progress: RunProgress) { listener.receive(.progress(job: job, progress)) }
    func concluded(_ report: FrameReport) { listener.receive(.frame(job: job, report)) }
}

/// A queue between runs and a slow listener, such as a terminal, or a pipe without a reader.
///
/// Frames and notices keep their order, and none is dropped. Only the newest progress of a job waits. While ``capacity`` events
/// wait, runs start no further frames.
package final class RunEventQueue: RunListener {
    package static let capacity = 1000

    private struct State {
        var events: [RunEvent] = []
        /// The number of events that the reader took and the listener has not received yet.
        var taken = 0
        var isFinished = false
        /// The listener has received all events, and none will follow.
        var hasEnded = false
        var onEnd: (@Sendable () -> Void)?

        var unread: Int { taken + events.count }
    }

    private let state = Mutex(State())
    private let arrival = DispatchSemaphore(value: 0)
    private let reader: DispatchQueue

    /// - Parameter listener: gets its calls on a thread of its own.
    package init(_ listener: any RunListener) {
        reader = DispatchQueue(label: "penumbra.events")
        reader.async { [self] in
            while let events = next() {
                for event in events {
                    listener.receive(event)
                    state.withLock { $0.taken -= 1 }
                }
            }
            let onEnd = state.withLock { state in
                state.hasEnded = true
                return state.onEnd
            }
            onEnd?()
        }
    }

    package var isBehind: Bool { state.withLock { $0.unread >= Self.capacity } }

    package func receive(_ event: RunEvent) {
        let isNew = state.withLock { state in
            if event.isSameProgress(as: state.events.last) {
                state.events[state.events.count - 1] = event
                return false
            }
            state.events.append(event)
            return true
        }
        if isNew { arrival.signal() }
    }

    /// Waits until the listener has received all events. No event may follow.
    ///
    /// - Parameter abandoned: ends the wait when it returns.
    /// - Returns: the number of events that the listener has not received.
    @discardableResult
    package func finish(unless abandoned: (@Sendable () async -> Void)? = nil) async -> Int {
        let (ends, end) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let hasEnded = state.withLock { state in
            state.isFinished = true
            state.onEnd = { end.yield() }
            return state.hasEnded
        }
        arrival.signal()
        if hasEnded { return 0 }
        let abandonment = abandoned.map { abandoned in
            Task {
                await abandoned()
                end.yield()
            }
        }
        defer { abandonment?.cancel() }
        for await _ in ends { break }
        return state.withLock(\.unread)
    }

    /// All waiting events; nil if no more will come.
    private func next() -> [RunEvent]? {
        while true {
            arrival.wait()
            let (events, isFinished) = state.withLock { state in
                defer {
                    state.taken = state.events.count
                    state.events = []
                }
                return (state.events, state.isFinished)
            }
            if !events.isEmpty {
                // The next call must see the end, too.
                if isFinished { arrival.signal() }
                return events
            }
            if isFinished { return nil }
        }
    }
}

extension RunEvent {
    fileprivate func isSameProgress(as other: RunEvent?) -> Bool {
        guard case .progress(let job, _) = self, case .progress(let before, _)? = other else { return false }
        return job == before
    }
}
