import Engines
import Scheduling
import Synchronization
import Testing

@Suite struct EventRelayTests {
    @Test func `events that come before there is a listener reach it first, in their order`() {
        let relay = EventRelay()
        let heard = Mutex<[Int]>([])
        func post(_ number: Int) { relay.post(.published(FrameID(number))) }
        post(1)
        post(2)
        relay.connect { event in if case .published(let frame) = event { heard.withLock { $0.append(frame.number) } } }
        post(3)
        #expect(heard.withLock { $0 } == [1, 2, 3])
    }

    @Test func `a million events take no more of the stack than one`() {
        let relay = EventRelay()
        let count = Mutex(0)
        relay.connect { _ in count.withLock { $0 += 1 } }
        for number in 1...1_000_000 { relay.post(.published(FrameID(number))) }
        #expect(count.withLock { $0 } == 1_000_000)
    }
}
