package import Scheduling
import Synchronization
import WorkerProtocol

/// A queue of events from engines to a run loop. It keeps the order, and has a bounded size however much a worker reports.
///
/// - The text that a worker writes to its standard error waits in one event per worker. The event keeps the end of the
///   text.
/// - A sign of life or a tick is dropped while another one waits. Only the newest list of plugins that a worker is in
///   counts.
/// - All other events answer directives of the scheduler, so their number is bounded by the number of directives.
package final class EventQueue: Sendable {
    /// The bytes of a worker's standard error that may wait. Earlier bytes are dropped. The log of an attempt
    /// (``RunRecorder``) has room for them and for the line that says how many were dropped.
    package static let longestWords = 4000

    fileprivate struct State {
        /// In order.
        var events: [Event] = []
        /// Events before this index have been read.
        var begin = 0
        /// The number of events that were removed from the array. The number of an event never changes.
        var removed = 0
        /// The waiting text of each worker.
        var words: [WorkerID: Words] = [:]
        /// The number of the waiting sign of life of each worker.
        var signs: [WorkerID: Int] = [:]
        var ready: Set<WorkerID> = []
        var worn: Set<WorkerID> = []
        var hasTick = false
        var isEnded = false
    }

    fileprivate struct Words {
        var text: [UInt8] = []
        var dropped = 0
    }

    private let state = Mutex(State())
    private let arrivals: AsyncStream<Void>
    private let arrival: AsyncStream<Void>.Continuation

    package init() { (arrivals, arrival) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }

    /// The number of waiting events.
    package var count: Int { state.withLock { state in state.events.count - state.begin } }

    package func post(_ event: Event) {
        state.withLock { if !$0.isEnded { $0.post(event) } }
        arrival.yield()
    }

    /// Drops all events from now on, and ends ``read(_:)``.
    package func end() {
        state.withLock { state in
            state = State()
            state.isEnded = true
        }
        arrival.finish()
    }

    /// Calls the body for each event until it returns a result. Returns nil if the queue ends or the task is cancelled
    /// before.
    package func read<Result>(_ body: (Event) async -> Result?) async -> Result? {
        for await _ in arrivals {
            while let event = next() {
                if let result = await body(event) { return result }
            }
        }
        return nil
    }

    /// The first waiting event, or nil.
    package func next() -> Event? { state.withLock { $0.next() } }
}

extension EventQueue.State {
    mutating func post(_ event: Event) {
        switch event {
        case .words(let worker, let text):
            if words[worker] == nil { append(.words(worker, "")) }
            words[worker, default: EventQueue.Words()].add(text)
        case .tick:
            if !hasTick { append(event) }
            hasTick = true
        case .workerReady(let worker): if ready.insert(worker).inserted { append(event) }
        case .report(let worker, .worn): if worn.insert(worker).inserted { append(event) }
        case .report(let worker, .alive): if signs[worker] == nil { signs[worker] = append(event) }
        case .report(let worker, .inPlugins):
            // It takes the place of the sign that waits, so that a reader that is slow finds no long queue.
            if let number = signs[worker] { events[number - removed] = event } else { signs[worker] = append(event) }
        case .report(let worker, _), .workerLost(let worker, _):
            // Later reports of the worker are about another task.
            signs[worker] = nil
            append(event)
        case .frames, .planEnded, .adopted, .published, .publishFailed, .decided, .stop, .pause, .holdTiling,
            .limitWorkers, .drain, .stalled:
            append(event)
        }
    }

    /// - Returns: the event's number.
    @discardableResult private mutating func append(_ event: Event) -> Int {
        events.append(event)
        return removed + events.count - 1
    }

    mutating func next() -> Event? {
        guard begin < events.count else { return nil }
        let (event, number) = (events[begin], removed + begin)
        begin += 1
        compact()
        return taken(event, number)
    }

    /// Frees the room of events that have been read, once it exceeds the room of waiting ones.
    private mutating func compact() {
        guard begin * 2 > events.count, begin > 64 || begin == events.count else { return }
        events.removeFirst(begin)
        removed += begin
        begin = 0
    }

    private mutating func taken(_ event: Event, _ number: Int) -> Event {
        switch event {
        case .words(let worker, _): return .words(worker, words.removeValue(forKey: worker)?.joined ?? "")
        case .tick: hasTick = false
        case .workerReady(let worker): ready.remove(worker)
        case .report(let worker, .worn): worn.remove(worker)
        case .report(let worker, _): if signs[worker] == number { signs[worker] = nil }
        default: break
        }
        return event
    }
}

extension EventQueue.Words {
    mutating func add(_ more: String) {
        text += Array(more.utf8)
        let excess = text.count - EventQueue.longestWords
        guard excess > 0 else { return }
        text.removeFirst(excess)
        dropped += excess
        // Continuation bytes of a UTF-8 character begin with the bits 10.
        let rest = text.prefix { $0 & 0b1100_0000 == 0b1000_0000 }.count
        text.removeFirst(rest)
        dropped += rest
    }

    var joined: String {
        let end = String(decoding: text, as: UTF8.self)
        return dropped == 0 ? end : "[\(dropped) bytes of what it wrote were dropped]\n\(end)"
    }
}
