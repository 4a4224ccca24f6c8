package import Scheduling
import Synchronization
import WorkerProtocol

/// Events on their way from engines to a run loop: in order, and of bounded number, however much a worker says.
///
/// - What a worker writes to its standard error waits in one event for each worker. The event keeps the end of the text.
/// - A sign of life, or a tick, is dropped while another one waits. Of the plugins that a worker is in, the newest count.
/// - All other events answer directives of the scheduler, so that their number is bounded by the number of directives.
package final class EventQueue: Sendable {
    /// Bytes of a worker's standard error that wait to be read. The bytes before them are dropped. The log of an attempt
    /// (``RunRecorder``) holds them, together with the line that says how many were dropped.
    package static let longestWords = 4000

    fileprivate struct State {
        /// In order. An event that was taken back leaves a gap.
        var events: [Event?] = []
        /// Events before this index were read.
        var begin = 0
        /// Events that were removed from the array, since the number of an event stays the same.
        var removed = 0
        /// By worker: its text that waits.
        var words: [WorkerID: Words] = [:]
        /// By worker: the number of its sign of life that waits.
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

    /// How many events wait.
    package var count: Int { state.withLock { state in state.events[state.begin...].count { $0 != nil } } }

    package func post(_ event: Event) {
        state.withLock { if !$0.isEnded { $0.post(event) } }
        arrival.yield()
    }

    /// Events are dropped from now on. Whoever reads ends.
    package func end() {
        state.withLock { state in
            state = State()
            state.isEnded = true
        }
        arrival.finish()
    }

    /// Calls the body for each event until it returns a result. Nil when the queue ends, or the task is cancelled, before that.
    package func read<Result>(_ body: (Event) async -> Result?) async -> Result? {
        for await _ in arrivals {
            while let event = next() {
                if let result = await body(event) { return result }
            }
        }
        return nil
    }

    /// The first event that waits; nil where none does.
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
            if let number = signs[worker] { events[number - removed] = nil }
            signs[worker] = append(event)
        case .report(let worker, _), .workerLost(let worker, _):
            // What the worker says after this is about another task.
            signs[worker] = nil
            append(event)
        case .frames, .planEnded, .adopted, .published, .publishFailed, .decided, .stop, .pause, .limitWorkers, .drain,
            .stalled:
            append(event)
        }
    }

    /// - Returns: the event's number.
    @discardableResult private mutating func append(_ event: Event) -> Int {
        events.append(event)
        return removed + events.count - 1
    }

    mutating func next() -> Event? {
        while begin < events.count {
            let (event, number) = (events[begin], removed + begin)
            begin += 1
            compact()
            if let event { return taken(event, number) }
        }
        return nil
    }

    /// Room for what was read is given back when it is more than what waits.
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
        // The bytes within which a character goes on begin with the bits 10.
        let rest = text.prefix { $0 & 0b1100_0000 == 0b1000_0000 }.count
        text.removeFirst(rest)
        dropped += rest
    }

    var joined: String {
        let end = String(decoding: text, as: UTF8.self)
        return dropped == 0 ? end : "[\(dropped) bytes of what it wrote were dropped]\n\(end)"
    }
}
