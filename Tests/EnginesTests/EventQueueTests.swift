import Engines
import Scheduling
import Testing
import WorkerProtocol

@Suite struct EventQueueTests {
    private let queue = EventQueue()
    private let one = WorkerID(1)
    private let two = WorkerID(2)

    /// All waiting events, in words.
    private var waiting: [String] {
        var words: [String] = []
        while let event = queue.next() { words.append(describe(event)) }
        return words
    }

    private func describe(_ event: Event) -> String {
        switch event {
        case .workerReady(let worker): "ready \(worker.number)"
        case .workerLost(let worker, _): "lost \(worker.number)"
        case .report(let worker, .alive): "alive \(worker.number)"
        case .report(let worker, .inPlugins(let lease, let names)):
            "in \(names.joined()) \(worker.number) \(lease.number)"
        case .report(let worker, .worn): "worn \(worker.number)"
        case .report(let worker, .finished(let lease, _)): "finished \(worker.number) \(lease.number)"
        case .words(let worker, let text): "\(worker.number): \(text)"
        case .tick: "tick"
        case .drain: "drain"
        default: "other"
        }
    }

    @Test func `events come in order`() {
        queue.post(.workerReady(one))
        queue.post(.drain)
        queue.post(.report(one, .finished(LeaseID(4), .check)))
        queue.post(.workerLost(one, Death(.killed)))
        #expect(waiting == ["ready 1", "drain", "finished 1 4", "lost 1"])
        #expect(queue.next() == nil)
    }

    @Test func `a worker's text waits in one event, at its first place`() {
        queue.post(.words(one, "a"))
        queue.post(.drain)
        queue.post(.words(two, "x"))
        queue.post(.words(one, "b"))
        #expect(queue.count == 3)
        #expect(waiting == ["1: ab", "drain", "2: x"])
        queue.post(.words(one, "c"))
        #expect(waiting == ["1: c"])
    }

    @Test func `of more text than fits the end is kept, and how much is missing is said`() {
        for _ in 0..<1000 { queue.post(.words(one, String(repeating: "x", count: 100))) }
        queue.post(.words(one, "the end"))
        let dropped = 100_007 - EventQueue.longestWords
        #expect(queue.count == 1)
        let text =
            "[\(dropped) bytes of what it wrote were dropped]\n"
            + String(repeating: "x", count: EventQueue.longestWords - 7) + "the end"
        #expect(waiting == ["1: \(text)"])
    }

    @Test func `a character is not cut in two`() {
        queue.post(.words(one, "é" + String(repeating: "x", count: EventQueue.longestWords - 1)))
        let text =
            "[2 bytes of what it wrote were dropped]\n" + String(repeating: "x", count: EventQueue.longestWords - 1)
        #expect(waiting == ["1: \(text)"])
    }

    @Test func `signs of life, greetings and ticks wait once`() {
        for _ in 0..<1000 {
            queue.post(.tick)
            queue.post(.report(one, .alive))
            queue.post(.workerReady(two))
            queue.post(.report(two, .worn(LeaseID(1))))
        }
        #expect(queue.count == 4)
        #expect(waiting == ["tick", "alive 1", "ready 2", "worn 2"])
        queue.post(.tick)
        queue.post(.report(one, .alive))
        #expect(waiting == ["tick", "alive 1"])
    }

    @Test func `of the plugins that a worker is in the newest count`() {
        queue.post(.report(one, .alive))
        for number in 1...1000 { queue.post(.report(one, .inPlugins(LeaseID(7), ["\(number)"]))) }
        queue.post(.report(one, .finished(LeaseID(7), .check)))
        queue.post(.report(one, .inPlugins(LeaseID(8), ["b"])))
        #expect(waiting == ["in 1000 1 7", "finished 1 7", "in b 1 8"])
    }

    @Test func `whoever reads gets each event, and stops at the result`() async {
        for _ in 0..<3 { queue.post(.drain) }
        var count = 0
        let result = await queue.read { _ -> Int? in
            count += 1
            return count == 2 ? count : nil
        }
        #expect(result == 2)
        #expect(queue.count == 1)
    }

    @Test func `a queue that has ended takes nothing, and its reader ends`() async {
        queue.post(.drain)
        queue.end()
        queue.post(.drain)
        #expect(queue.count == 0)
        #expect(await queue.read { _ -> Int? in 1 } == nil)
    }
}
