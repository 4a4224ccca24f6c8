import Foundation
import Queueing
import Runs
import Supervision
import Testing

/// Workers that open runs may use.
@Suite struct ShareTests {
    let farm: TestFarm

    init() throws { farm = try TestFarm(workers: 8) }

    @Test func `a run that has all workers to itself gets no limit`() async throws {
        let (_, run) = try await farm.begin()
        try farm.runs.report(run, wants: 100)
        await farm.look()
        #expect(farm.runs.limit(of: run) == nil)
    }

    @Test func `runs of one priority share the workers, and one that is left has all of them at the next look`()
        async throws
    {
        let first = try await farm.begin()
        try farm.runs.report(first.run, wants: 100)
        let second = try await farm.begin()
        try farm.runs.report(second.run, wants: 100)
        await farm.look()
        #expect(farm.runs.limit(of: first.run) == 4)
        #expect(farm.runs.limit(of: second.run) == 4)
        try farm.runs.end(first.run, code: 0)
        await farm.look()
        #expect(farm.runs.limit(of: second.run) == 8)
    }

    @Test func `a more urgent run takes all workers that it can use, and gives them back`() async throws {
        let low = try await farm.begin(priority: 10)
        try farm.runs.report(low.run, wants: 100)
        await farm.look()
        let high = try await farm.begin(priority: 90)
        try farm.runs.report(high.run, wants: 100)
        await farm.look()
        #expect(farm.runs.limit(of: low.run) == 0)
        #expect(farm.runs.limit(of: high.run) == nil)
        try farm.runs.report(high.run, wants: 3)
        await farm.look()
        #expect(farm.runs.limit(of: low.run) == 5)
        #expect(farm.runs.limit(of: high.run) == 3)
        try farm.runs.report(high.run, wants: 100, isPaused: true)
        await farm.look()
        #expect(farm.runs.limit(of: low.run) == 8)
    }

    @Test func `a priority that is changed while runs go on changes their shares`() async throws {
        let first = try await farm.begin()
        let second = try await farm.begin()
        for run in [first.run, second.run] { try farm.runs.report(run, wants: 100) }
        await farm.look()
        _ = try await farm.supervisor.change(second.job, by: .init(owner: .user(0)), action: "change") { job, _, _ in
            try job.set(Priority(60))
        }
        await farm.look()
        #expect(farm.runs.limit(of: first.run) == 0)
        #expect(farm.runs.limit(of: second.run) == 8)
    }

    @Test func `a limit is written again before its run forgets it, also after the clock was set back`() async throws {
        let first = try await farm.begin()
        let second = try await farm.begin()
        for run in [first.run, second.run] { try farm.runs.report(run, wants: 100) }
        await farm.look()
        #expect(farm.runs.limit(of: first.run) == 4)
        for time in [Duration.seconds(10), .seconds(-3600)] {
            try "7".write(toFile: farm.runs.folder(first.run).path + "/workers", atomically: true, encoding: .utf8)
            await farm.look()
            #expect(farm.runs.limit(of: first.run) == 7)
            farm.advance(by: time)
            await farm.look()
            #expect(farm.runs.limit(of: first.run) == 4)
        }
    }

    @Test func `a run that is resumed gets its limit after its new process reports, which takes an earlier one back`()
        async throws
    {
        let first = try await farm.begin()
        let second = try await farm.begin()
        for run in [first.run, second.run] { try farm.runs.report(run, wants: 100) }
        await farm.look()
        farm.runs.exit(second.run, code: 137)
        await farm.look()
        #expect(farm.runs.limit(of: first.run) == 8)
        farm.advance(by: .seconds(5))
        await farm.look()
        await farm.look()
        try farm.runs.begin(second.run)
        await farm.look()
        #expect(farm.runs.limit(of: second.run) == nil)
        try farm.runs.report(second.run, done: 1, wants: 100)
        await farm.look()
        #expect(farm.runs.limit(of: first.run) == 4)
        #expect(farm.runs.limit(of: second.run) == 4)
    }

    @Test func `a run that searches its inputs takes no workers from others`() async throws {
        let searching = try await farm.begin()
        farm.advance(by: .seconds(3))
        let working = try await farm.begin()
        try farm.runs.report(working.run, wants: 100)
        await farm.look()
        #expect(farm.runs.limit(of: working.run) == nil)
        #expect(farm.runs.limit(of: searching.run) == nil)
    }
}
