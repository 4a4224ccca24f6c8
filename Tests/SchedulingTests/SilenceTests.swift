import JobModel
import Scheduling
import Testing
import WorkerProtocol

/// Workers that are stopped, and a coordinator that was stopped.
@Suite struct SilenceTests {
    /// One worker; it may be silent for 30 s, and a task may take 1000 s.
    private func farm(_ job: JobSpec = .make(), workers: Int = 1) -> Farm {
        var farm = Farm(.make(job, workers: workers, time: .seconds(1000), silence: .seconds(30)))
        farm.begin(workers: workers)
        return farm
    }

    @Test func `a worker that says nothing is killed, and its task is given to the next one`() throws {
        var farm = farm()
        let first = try #require(farm.running.first)
        farm.send(.tick, at: .seconds(29))
        #expect(farm.killed.isEmpty)
        farm.send(.tick, at: .seconds(30))
        #expect(farm.killed == [first.worker])
        farm.die(first, .byOrder, replacement: 2)
        farm.send(.tick, at: .seconds(31))
        #expect(farm.running.map(\.attempt) == [2])
        farm.finishAll()
        #expect(farm.published.count == 1)
    }

    @Test func `a heartbeat is a sign of life, and so is every other report`() throws {
        var farm = farm(.make(filters: ["invert"]))
        let lease = try #require(farm.running.first)
        farm.send(.report(lease.worker, .alive), at: .seconds(25))
        farm.send(.report(lease.worker, .inPlugins(lease.id, ["invert"])), at: .seconds(50))
        farm.send(.tick, at: .seconds(79))
        #expect(farm.killed.isEmpty)
        farm.send(.tick, at: .seconds(80))
        #expect(farm.killed == [lease.worker])
    }

    @Test func `an idle worker that says nothing is killed`() {
        var farm = Farm(.make(workers: 2, silence: .seconds(30)))
        farm.send(.tick)
        farm.send(.workerReady(WorkerID(1)))
        farm.send(.tick, at: .seconds(30))
        #expect(farm.killed == [WorkerID(1)])
        farm.send(.tick, at: .seconds(90))
        #expect(farm.killed == [WorkerID(1)])
    }

    @Test func `a worker that was let go and does not go is killed`() throws {
        var farm = farm(.make(verify: .audit))
        farm.finishAll()
        #expect(farm.recycled == [WorkerID(1)])
        farm.send(.tick, at: .seconds(30))
        #expect(farm.killed == [WorkerID(1)])
    }

    @Test func `a task under which two workers fall silent is set aside with its picture`() throws {
        var farm = farm()
        for (time, replacement) in [(30.0, 2), (70.0, 3)] {
            farm.send(.tick, at: .seconds(time))
            farm.die(try #require(farm.running.first), .byOrder, replacement: replacement)
            farm.send(.tick, at: .seconds(time + 1))
        }
        let expected = FrameFailure(
            .silent,
            "the worker was silent for 30 s in 2 attempts, and the picture is set aside; look for what stops processes: "
                + "SIGSTOP, a debugger, a frozen container")
        #expect(farm.outcomes == [FrameID(1): .failed(expected)])
    }

    @Test func `a worker that died by itself before it could be killed is told by its own death`() throws {
        var farm = farm()
        for (time, replacement) in [(30.0, 2), (70.0, 3)] {
            farm.send(.tick, at: .seconds(time))
            farm.die(try #require(farm.running.first), .signal(11), replacement: replacement)
            farm.send(.tick, at: .seconds(time + 1))
        }
        guard case .failed(let failure) = farm.outcomes[FrameID(1)] else {
            Issue.record("the frame goes on")
            return
        }
        #expect(failure.cause == .crash)
    }

    @Test func `a plugin is not to blame for a process that is stopped inside it`() throws {
        var farm = Farm(
            .make(.make(filters: ["invert"]), workers: 1, frames: 4, time: .seconds(1e6), silence: .seconds(30)))
        farm.begin(workers: 1, frames: 4)
        var time = 0.0
        while farm.finished == nil {
            let lease = try #require(farm.running.first)
            farm.send(.report(lease.worker, .inPlugins(lease.id, ["invert"])))
            time += 60
            farm.send(.tick, at: .seconds(time))
            farm.die(lease, .byOrder, replacement: farm.leases.count + 100)
            time += 20
            farm.send(.tick, at: .seconds(time))
        }
        #expect(farm.finished == .some(nil))
        #expect(farm.outcomes.count == 4)
    }

    @Test func `when the coordinator itself was stopped nobody is killed, and every limit is moved`() throws {
        var farm = Farm(.make(workers: 1, time: .seconds(10), silence: .seconds(30)))
        farm.begin(workers: 1)
        farm.send(.tick, at: .seconds(4))
        farm.send(.stalled(.seconds(5000)), at: .seconds(5004))
        farm.send(.tick)
        #expect(farm.killed.isEmpty)
        farm.send(.tick, at: .seconds(5009))
        #expect(farm.killed.isEmpty)
        farm.send(.tick, at: .seconds(5010))
        #expect(farm.killed == [WorkerID(1)])
    }

    @Test func `a silence goes on after the coordinator was stopped`() {
        var farm = farm()
        farm.send(.tick, at: .seconds(20))
        farm.send(.stalled(.seconds(3600)), at: .seconds(3620))
        farm.send(.tick, at: .seconds(3629))
        #expect(farm.killed.isEmpty)
        farm.send(.tick, at: .seconds(3630))
        #expect(farm.killed == [WorkerID(1)])
    }

    @Test func `a coordinator that hears nothing for over two seconds was stopped`() {
        var watch = StallWatch()
        #expect(watch.gap(at: Timestamp(.milliseconds(100))) == nil)
        #expect(watch.gap(at: Timestamp(.milliseconds(2100))) == nil)
        #expect(watch.gap(at: Timestamp(.milliseconds(5100))) == .seconds(3))
        #expect(watch.gap(at: Timestamp(.milliseconds(5200))) == nil)
    }
}
