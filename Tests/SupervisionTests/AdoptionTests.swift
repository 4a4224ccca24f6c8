import Foundation
import QueueStorage
import Queueing
import Runs
import SafeFiles
import ServiceAPI
import Supervision
import TestSupport
import Testing

/// Runs whose service was killed, and what the next service makes of them.
@Suite struct AdoptionTests {
    let farm: TestFarm

    init() throws { farm = try TestFarm() }

    @Test func `a run whose process lives is followed to its end`() async throws {
        let (id, run) = try await farm.begin()
        try farm.restart()
        for _ in 0..<3 { await farm.look() }
        #expect(try await farm.state(id) == .running)
        try farm.runs.report(run, wants: 5)
        await farm.look()
        try farm.runs.end(run, code: 3)
        await farm.look()
        #expect(try await farm.state(id) == .workLeft)
        #expect(farm.runs.orders.count == 1)
    }

    @Test func `a run that has ended meanwhile gives its job its end`() async throws {
        let (id, run) = try await farm.begin()
        try farm.restart { _ in try farm.runs.end(run, code: 1) }
        await farm.look()
        #expect(try await farm.state(id) == .failed)
        #expect(try await farm.job(id).state.tries == 1)
        #expect(!farm.exists(farm.lockPath(run)))
    }

    @Test func `a run that was killed meanwhile is resumed`() async throws {
        let (id, run) = try await farm.begin()
        try farm.restart { _ in farm.runs.exit(run, code: 137) }
        await farm.look()
        #expect(try await farm.reason(id)?.hasPrefix("its process was gone; try again at ") == true)
        farm.advance(by: .seconds(5))
        await farm.look()
        #expect(farm.runs.orders.map(\.run) == [run, run])
    }

    @Test func `a process that was gone before it began a run is followed by another one`() async throws {
        let id = try await farm.submit()
        await farm.look()
        let run = try await farm.run(id)
        try farm.restart { _ in farm.runs.exit(run, code: 69, saying: "no worker") }
        await farm.look()
        #expect(try await farm.reason(id)?.hasPrefix("no worker; try again at ") == true)
        farm.advance(by: .seconds(5))
        await farm.look()
        #expect(farm.runs.orders.count == 2)
    }

    @Test
    func `a job whose service was killed before there was a process starts at once, with the name that its run has`()
        async throws
    {
        let id = try await farm.submit()
        try farm.restart { store in
            var job = try #require(try store.job(id))
            try job.start(run: "job-1-as-named", at: farm.now)
            try store.update(job, at: farm.now)
        }
        #expect(try await farm.state(id) == .starting)
        await farm.look()
        await farm.look()
        #expect(farm.runs.orders.map(\.run) == ["job-1-as-named"])
        #expect(try await farm.job(id).state.tries == 1)
    }

    @Test func `the same of a run that was to be resumed, which counts as no failure`() async throws {
        let (id, run) = try await farm.begin()
        farm.runs.exit(run, code: 137)
        await farm.look()
        try farm.restart { store in
            var job = try #require(try store.job(id))
            try job.start(run: "another", at: farm.now)
            try store.update(job, at: farm.now)
        }
        await farm.look()
        await farm.look()
        #expect(farm.runs.orders.map(\.run) == [run, run])
        #expect(try await farm.job(id).state.tries == 2)
    }

    @Test func `a job that was cancelled before there was a process is cancelled`() async throws {
        let id = try await farm.submit()
        try farm.restart { store in
            var job = try #require(try store.job(id))
            try job.start(run: "job-1-as-named", at: farm.now)
            try job.cancel(by: .user(0), at: farm.now)
            try store.update(job, at: farm.now)
        }
        await farm.look()
        #expect(try await farm.state(id) == .cancelled)
        #expect(farm.runs.orders.isEmpty)
    }

    @Test func `a process whose lock somebody has removed is not taken for gone`() async throws {
        let (id, run) = try await farm.begin()
        FileSystem.remove(farm.lockPath(run))
        try farm.restart()
        for _ in 0..<3 { await farm.look() }
        #expect(try await farm.state(id) == .running)
        #expect(farm.runs.orders.count == 1)
        try farm.runs.end(run, code: 0)
        await farm.look()
        #expect(try await farm.state(id) == .done)
    }

    @Test func `a run that a person has resumed by hand is followed, and not started again`() async throws {
        let (id, run) = try await farm.begin()
        let byHand = "by hand"
        try farm.restart { _ in
            farm.runs.exit(run, code: 137)
            try farm.runs.add(byHand, lockPath: farm.folder.file("another.lock"))
            try farm.runs.begin(run, as: byHand)
        }
        for _ in 0..<3 { await farm.look() }
        #expect(try await farm.state(id) == .running)
        try farm.runs.end(run, code: 0, as: byHand)
        await farm.look()
        #expect(try await farm.state(id) == .done)
        #expect(farm.runs.orders.count == 1)
    }

    @Test func `a run that a person cancels by hand cancels its job`() async throws {
        let (id, run) = try await farm.begin()
        try farm.runs.end(run, code: 130)
        await farm.look()
        guard case .ended(let ended) = try await farm.job(id).state else {
            Issue.record("the job has not ended")
            return
        }
        #expect(ended.end == .cancelled(by: nil))
        #expect(ended.end.exitCode == 130)
    }

    @Test func `a job whose interrupted run another run of its manifest has given up gets a new run`() async throws {
        let (id, run) = try await farm.begin()
        farm.runs.exit(run, code: 137)
        await farm.look()
        try farm.runs.end(run, code: 137)
        farm.advance(by: .seconds(5))
        await farm.look()
        #expect(farm.runs.open == [run])
        farm.runs.exit(run, code: 64, saying: "\(run): a run of this name has ended")
        await farm.look()
        #expect(try await farm.state(id) == .waiting)
        farm.advance(by: .seconds(10))
        await farm.look()
        let next = try await farm.run(id)
        #expect(next != run)
        try farm.runs.begin(next)
        try farm.runs.end(next, code: 0)
        await farm.look()
        #expect(try await farm.state(id) == .done)
    }

    @Test func `a cancellation reaches a run after a restart`() async throws {
        let (id, run) = try await farm.begin()
        try await farm.cancel(id)
        try farm.restart()
        await farm.look()
        #expect(farm.runs.folder(run).isAsked(.cancel))
    }

    @Test func `a service that stops asks its runs to end, starts nothing, and the next one resumes them`() async throws
    {
        let first = try await farm.begin()
        let second = try await farm.begin()
        await farm.supervisor.stop()
        #expect(farm.runs.terminated == [first.run, second.run].sorted())
        try await farm.submit()
        await farm.look()
        #expect(farm.supervisor.openRuns == 2)
        for run in [first.run, second.run] { farm.runs.exit(run, code: 143) }
        await farm.look()
        #expect(farm.supervisor.openRuns == 0)
        #expect(farm.runs.orders.count == 2)
        try farm.restart()
        await farm.look()
        #expect(farm.runs.orders.map(\.job) == [1, 2, 1, 2, 3])
        #expect(Set(farm.runs.orders.prefix(4).map(\.run)) == [first.run, second.run])
    }
}
