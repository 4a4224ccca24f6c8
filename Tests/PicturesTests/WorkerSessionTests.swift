import Engines
import JobModel
import Pictures
import Scheduling
import Testing
import WorkerProtocol

@Suite struct WorkerSessionTests {
    private var session = WorkerSession(at: .start)
    private let worker = WorkerID(1, slot: SlotID(1))
    private let next = WorkerID(2, slot: SlotID(1))
    private let task = TaskSpec.compare(DigestTask(files: []))

    /// What a test sees of an action.
    private func shown(_ actions: [WorkerSession.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .command(.start(let lease)): "start \(lease.id.number) on \(lease.worker.number)"
            case .command(.kill(let worker)): "kill \(worker.number)"
            case .command(.recycle(let worker)): "recycle \(worker.number)"
            case .command: "another command"
            case .conclude(.done): "done"
            case .conclude(.failed(let failure)): "failed: \(failure.message)"
            case .conclude(.crashed(let words)): "crashed: the worker \(words)"
            case .conclude(.ended(let words)): "ended: the worker \(words)"
            }
        }
    }

    private mutating func send(_ event: Event, at now: Timestamp = .start) -> [String] {
        shown(session.handle(event, at: now))
    }

    private mutating func begin(at now: Timestamp = .start) -> [String] { shown(session.begin(task, at: now)) }

    private mutating func tick(_ second: Int) -> [String] { shown(session.tick(at: seconds(second))) }

    /// Ticks every second, and a sign of life with each, if the worker gives one.
    private mutating func wait(from first: Int, to last: Int, alive: WorkerID? = nil) -> [String] {
        var found: [String] = []
        for second in first...last {
            if let alive { found += send(.report(alive, .alive), at: seconds(second)) }
            found += tick(second)
        }
        return found
    }

    private func finished(_ lease: Int) -> Event { .report(worker, .finished(LeaseID(lease), .compare([]))) }

    // MARK: Work

    @Test mutating func `a worker does one task after the other`() {
        #expect(!session.isIdle)
        #expect(begin() == [])
        #expect(send(.workerReady(worker)) == [])
        #expect(session.isIdle)
        #expect(begin() == ["start 1 on 1"])
        #expect(!session.isIdle)
        #expect(begin() == [])
        #expect(send(finished(1)) == ["done"])
        #expect(begin() == ["start 2 on 1"])
        #expect(
            send(.report(worker, .failed(LeaseID(2), TaskFailure(.data, "a.png: cut off")))) == [
                "failed: a.png: cut off"
            ])
        #expect(session.isIdle)
    }

    @Test mutating func `a worn worker is replaced after its task`() {
        _ = send(.workerReady(worker))
        _ = begin()
        #expect(send(.report(worker, .worn(LeaseID(1)))) == [])
        #expect(send(finished(1)) == ["recycle 1", "done"])
        #expect(!session.isIdle)
        #expect(send(.workerLost(worker, Death(.byOrder))) == [])
        #expect(send(.workerReady(next)) == [])
        #expect(session.isIdle)
    }

    @Test mutating func `a worker without work for thirty seconds ends`() {
        _ = send(.workerReady(worker))
        #expect(wait(from: 1, to: 29) == [])
        #expect(!session.isOver)
        #expect(tick(30) == [])
        #expect(session.isOver)
        #expect(session.failure == nil)
    }

    @Test mutating func `work begins the thirty seconds anew`() {
        _ = send(.workerReady(worker))
        _ = wait(from: 1, to: 20)
        _ = begin(at: seconds(20))
        _ = send(finished(1), at: seconds(21))
        _ = wait(from: 21, to: 50)
        #expect(!session.isOver)
        _ = tick(51)
        #expect(session.isOver)
    }

    // MARK: Deaths

    @Test mutating func `a picture that crashes the worker ends, and the next worker goes on`() {
        _ = send(.workerReady(worker))
        _ = begin()
        #expect(send(.workerLost(worker, Death(.signal(11)))) == ["crashed: the worker died of signal 11"])
        #expect(send(.workerReady(next)) == [])
        #expect(begin() == ["start 2 on 2"])
    }

    @Test mutating func `a worker that somebody kills does its task once more, and only once`() {
        _ = send(.workerReady(worker))
        _ = begin()
        #expect(send(.workerLost(worker, Death(.killed))) == [])
        #expect(send(.workerReady(next)) == ["start 2 on 2"])
        #expect(send(.workerLost(next, Death(.killed))) == ["ended: the worker was killed"])
    }

    @Test mutating func `too little memory is the picture's fault at once`() {
        _ = send(.workerReady(worker))
        _ = begin()
        #expect(
            send(.workerLost(worker, Death(.outOfMemory))) == ["crashed: the worker needed more memory than there is"])
    }

    @Test mutating func `an idle worker that dies is replaced`() {
        _ = send(.workerReady(worker))
        #expect(send(.workerLost(worker, Death(.signal(9)))) == [])
        #expect(!session.isIdle)
        _ = send(.workerReady(next))
        #expect(session.isIdle)
    }

    @Test mutating func `three workers in a row that do not start are enough`() {
        let death = Death(.failedToStart("/opt/penumbra-worker: no such file"))
        #expect(send(.workerLost(worker, death)) == [])
        #expect(send(.workerLost(next, death)) == [])
        #expect(!session.isOver)
        #expect(send(.workerLost(WorkerID(3), death)) == [])
        #expect(session.failure == "could not be started: /opt/penumbra-worker: no such file")
    }

    @Test mutating func `a worker that starts makes good for those that did not`() {
        let death = Death(.exited(69))
        for number in 1...2 { _ = send(.workerLost(WorkerID(number), death)) }
        _ = send(.workerReady(WorkerID(3)))
        _ = send(.workerLost(WorkerID(3), death))
        for number in 4...5 { _ = send(.workerLost(WorkerID(number), death)) }
        #expect(!session.isOver)
    }

    @Test mutating func `starts that somebody kills are tried longer`() {
        for number in 1...19 { _ = send(.workerLost(WorkerID(number), Death(.killed))) }
        #expect(!session.isOver)
        _ = send(.workerLost(WorkerID(20), Death(.killed)))
        #expect(session.failure == "was killed")
    }

    @Test mutating func `a task that waits for a worker ends with the last start`() {
        _ = send(.workerReady(worker))
        _ = begin()
        _ = send(.workerLost(worker, Death(.killed)))
        for number in 2...3 { _ = send(.workerLost(WorkerID(number), Death(.exited(1)))) }
        #expect(send(.workerLost(WorkerID(4), Death(.exited(1)))) == ["ended: the worker left with exit code 1"])
        #expect(session.isOver)
    }

    // MARK: Watching

    @Test mutating func `a silent worker is killed after a minute`() {
        _ = send(.workerReady(worker))
        _ = begin()
        #expect(wait(from: 1, to: 59) == [])
        #expect(tick(60) == ["kill 1", "ended: the worker was silent for 60.0 seconds"])
        #expect(send(.workerLost(worker, Death(.byOrder))) == [])
        _ = send(.workerReady(next), at: seconds(61))
        #expect(session.isIdle)
    }

    @Test mutating func `a task that takes longer than five minutes is ended`() {
        _ = send(.workerReady(worker))
        _ = begin()
        #expect(wait(from: 1, to: 299, alive: worker) == [])
        #expect(
            wait(from: 300, to: 300, alive: worker) == [
                "kill 1", "ended: the worker was not done within 300.0 seconds",
            ])
    }

    @Test mutating func `a session may give its tasks more time`() {
        session = WorkerSession(at: .start, timeLimit: .seconds(400))
        _ = send(.workerReady(worker))
        _ = begin()
        #expect(wait(from: 1, to: 399, alive: worker) == [])
        #expect(
            wait(from: 400, to: 400, alive: worker) == [
                "kill 1", "ended: the worker was not done within 400.0 seconds",
            ])
    }

    @Test mutating func `time in which the service itself did not listen is nobody's fault`() {
        _ = send(.workerReady(worker))
        _ = begin()
        #expect(wait(from: 1, to: 10, alive: worker) == [])
        // The machine slept.
        #expect(tick(5000) == [])
        #expect(tick(5001) == [])
        #expect(send(finished(1), at: seconds(5001)) == ["done"])
    }

    // MARK: Odd messages

    @Test mutating func `an answer to another task ends the worker`() {
        _ = send(.workerReady(worker))
        _ = begin()
        #expect(
            send(.report(worker, .finished(LeaseID(1), .check)))
                == ["kill 1", "ended: the worker sent the receipt of another kind of task"])
        _ = send(.workerReady(next))
        _ = begin()
        #expect(
            send(.report(next, .finished(LeaseID(7), .compare([]))))
                == ["kill 2", "ended: the worker answered what it was not asked"])
    }

    @Test mutating func `messages of workers that are gone mean nothing`() {
        _ = send(.workerReady(worker))
        _ = begin()
        #expect(send(.report(next, .finished(LeaseID(1), .compare([])))) == [])
        #expect(send(.workerLost(next, Death(.signal(11)))) == [])
        #expect(send(finished(1)) == ["done"])
        #expect(send(finished(1)) == [])
        #expect(session.isIdle)
    }
}
