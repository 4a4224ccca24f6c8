import Foundation
import Glibc
import Queueing
import ServiceAPI
import Testing

/// Services, coordinators and workers that are killed, by a real SIGKILL.
@Suite(.serialized) struct RestartTests {
    let farm: Farm

    init() throws {
        farm = try Farm()
        try farm.draw(4)
    }

    private func names(_ count: Int) -> [String] { (0..<count).map { "\($0).png" } }

    /// The number of runs that the state folder knows.
    private func runs() async throws -> Int {
        try await farm.penumbra("status", "--all", "--json", "--state-dir", farm.stateFolder).lines.count {
            $0.contains("\"event\":\"run\"")
        }
    }

    @Test(arguments: ["submitted", "named", "launched", "begun", "running", "exited", "ended"])
    func `a service that is killed between two steps of a start runs the job once`(step: String) async throws {
        let gate = try await Gate(in: farm)
        try farm.writeManifest(filters: "[\(Gate.filter)]", more: "timeout: 1h\n")
        // A run that could end at once might never be seen at its beginning.
        let isLater = ["begun", "running"].contains(step)
        if !isLater { try gate.open(for: 4) }
        try await farm.start(environment: ["PENUMBRA_SERVICE_DIE_AFTER": step])
        // The answer may be lost together with the service.
        let submitted = try await farm.penumbra("submit", "night.yaml", "--key", "once")
        #expect([0, 69].contains(submitted.code))
        #expect(try await farm.exitCode() == 128 + SIGKILL)
        if isLater { try gate.open(for: 4) }
        try await farm.start()
        let again = try await farm.penumbra("submit", "night.yaml", "--key", "once", "--wait", "--quiet")
        #expect(again.code == 0, "\(again.errors)\(farm.log)")
        #expect(farm.outputs() == names(4))
        #expect(try await farm.penumbra("queue", "--all", "--json").lines.count == 1)
        #expect(try await runs() == 1)
        try await farm.end()
    }

    @Test func `a run goes on while the service is away, and the next service hears of its end`() async throws {
        let gate = try await Gate(in: farm)
        try farm.writeManifest(filters: "[\(Gate.filter)]", more: "timeout: 1h\n")
        try await farm.start()
        try await farm.penumbra("submit", "night.yaml")
        try await farm.wait(for: 1) { $0.state == .running }
        try await farm.end(SIGKILL)
        let run = try #require(farm.openRuns().first)
        try gate.open(for: 2)
        try await farm.start()
        #expect(farm.openRuns() == [run])
        #expect(try farm.job(1).state == .running)
        try gate.open(for: 2)
        let job = try await farm.waitForEnd(of: 1)
        #expect(job.state == .done && job.tries == 1)
        #expect(farm.outputs() == names(4))
        try await farm.end()
    }

    @Test func `a run whose lock somebody removes while the service is away is neither lost nor started twice`()
        async throws
    {
        let gate = try await Gate(in: farm)
        try farm.writeManifest(filters: "[\(Gate.filter)]", more: "timeout: 1h\nshard: frame\n")
        try await farm.start()
        try await farm.penumbra("submit", "night.yaml")
        try await farm.wait(for: 1) { $0.state == .running }
        try await farm.end(SIGKILL)
        let run = try #require(farm.openRuns().first)
        let locks = farm.serviceFolder.locks
        for name in try FileManager.default.contentsOfDirectory(atPath: locks) {
            try FileManager.default.removeItem(atPath: "\(locks)/\(name)")
        }
        try await farm.start()
        try gate.open(for: 2)
        try await farm.wait { farm.outputs().count == 2 }
        #expect(farm.openRuns() == [run])
        #expect(try farm.job(1).state == .running)
        try gate.open(for: 2)
        let job = try await farm.waitForEnd(of: 1)
        #expect(job.state == .done && job.tries == 1)
        #expect(try await runs() == 1)
        try await farm.end()
    }

    @Test func `files of runs that have ended are removed`() async throws {
        try farm.writeManifest()
        try await farm.start()
        #expect(try await farm.penumbra("submit", "night.yaml", "--upload", "--wait", "--quiet").code == 0)
        try await farm.end(SIGKILL)
        try farm.write("", to: "service/runs/job-9-of-a-killed-service.lock")
        try await farm.start()
        try await farm.wait {
            try [farm.serviceFolder.locks, farm.serviceFolder.manifests].allSatisfy {
                try FileManager.default.contentsOfDirectory(atPath: $0).isEmpty
            }
        }
        try await farm.end()
    }

    @Test func `a run that is killed is resumed under its name`() async throws {
        let gate = try await Gate(in: farm)
        try farm.writeManifest(filters: "[\(Gate.filter)]", more: "timeout: 1h\nshard: frame\n")
        try await farm.start()
        try await farm.penumbra("submit", "night.yaml")
        try gate.open(for: 1)
        try await farm.wait { farm.outputs().count == 1 }
        let run = try #require(farm.openRuns().first)
        kill(run, SIGKILL)
        try gate.open(for: 10)
        let job = try await farm.waitForEnd(of: 1)
        #expect(job.state == .done)
        #expect(job.tries == 2)
        #expect(try await runs() == 1)
        #expect(farm.outputs() == names(4))
        try await farm.end()
    }

    @Test func `a service that is asked to end leaves its run to the next one`() async throws {
        let gate = try await Gate(in: farm)
        try farm.writeManifest(filters: "[\(Gate.filter)]", more: "timeout: 1h\nshard: frame\n")
        try await farm.start()
        try await farm.penumbra("submit", "night.yaml")
        try gate.open(for: 1)
        try await farm.wait { farm.outputs().count == 1 }
        #expect(try await farm.end() == 0)
        #expect(farm.openRuns().isEmpty)
        try gate.open(for: 10)
        try await farm.start()
        let job = try await farm.waitForEnd(of: 1)
        #expect(job.state == .done)
        #expect(try await runs() == 1)
        #expect(farm.outputs() == names(4))
        try await farm.end()
    }

    @Test func `a paused run is paused after a restart, too, and ends when somebody resumes it`() async throws {
        let gate = try await Gate(in: farm)
        try farm.writeManifest(filters: "[\(Gate.filter)]", more: "timeout: 1h\nshard: frame\n")
        try await farm.start()
        try await farm.penumbra("submit", "night.yaml")
        try gate.open(for: 1)
        try await farm.wait { farm.outputs().count == 1 }
        #expect(try await farm.penumbra("pause", "night", "--state-dir", farm.stateFolder).code == 0)
        try await farm.wait(for: 1) { $0.paused == true }
        // Also if the run itself is killed.
        for isKilled in [false, true] {
            if isKilled { kill(try #require(farm.openRuns().first), SIGKILL) } else { try await farm.end() }
            if !isKilled { try await farm.start() }
            try await farm.wait(for: 1) { $0.tries == (isKilled ? 3 : 2) && $0.paused == true }
        }
        try gate.open(for: 10)
        #expect(try await farm.penumbra("resume", "night", "--state-dir", farm.stateFolder).code == 0)
        #expect(try await farm.waitForEnd(of: 1).state == .done)
        #expect(farm.outputs() == names(4))
        try await farm.end()
    }

    @Test func `a run that somebody cancels beside the queue cancels its job`() async throws {
        let gate = try await Gate(in: farm)
        // More than go through before the run reads that it is cancelled.
        try farm.draw(300)
        try farm.writeManifest(filters: "[\(Gate.filter)]", more: "timeout: 1h\nshard: frame\n")
        try await farm.start()
        try await farm.penumbra("submit", "night.yaml")
        try await farm.wait(for: 1) { $0.state == .running }
        try gate.open(for: 1)
        try await farm.wait { farm.outputs().count == 1 }
        #expect(try await farm.penumbra("cancel", "night", "--state-dir", farm.stateFolder).code == 0)
        try await gate.open(untilEndOf: 1, in: farm)
        let job = try await farm.waitForEnd(of: 1)
        #expect(job.state == .cancelled)
        #expect(job.exitCode == 130)
        try await farm.end()
    }

    @Test func `two jobs of a manifest run one after the other, without a process that finds the lock held`()
        async throws
    {
        let gate = try await Gate(in: farm)
        try farm.writeManifest(filters: "[\(Gate.filter)]", more: "timeout: 1h\nshard: frame\n")
        try await farm.start()
        for _ in 0..<2 { try await farm.penumbra("submit", "night.yaml") }
        try await farm.wait(for: 1) { $0.state == .running }
        #expect(try farm.job(2).waitingFor?.words == "waits for job 1, which runs the same manifest")
        try gate.open(for: 10)
        let second = try await farm.waitForEnd(of: 2)
        #expect(second.state == .done && second.tries == 1)
        try await farm.end()
    }

    @Test func `a config file with a relative path is the same for the runs, and a mistake in it makes jobs wait`()
        async throws
    {
        try farm.writeManifest()
        try farm.write("nice: 1\n", to: "farm.yaml")
        try await farm.start("--config", "farm.yaml", environment: ["PENUMBRA_SCRATCH": "scratch"])
        #expect(try await farm.penumbra("submit", "night.yaml", "--wait", "--quiet").code == 0)
        try farm.write("nice: 1\nservce: 1\n", to: "farm.yaml")
        #expect(try await farm.penumbra("submit", "night.yaml").code == 0)
        try await farm.wait(for: 2) { $0.waitingFor?.kind == .config }
        let reason = try #require(try farm.job(2).waitingFor?.words)
        #expect(reason.hasPrefix("until the config file is corrected: \(farm.path)/farm.yaml:2"))
        #expect(try farm.job(2).tries == 0)
        try farm.write("nice: 1\n", to: "farm.yaml")
        #expect(try await farm.waitForEnd(of: 2).state == .done)
        try await farm.end()
    }

    @Test func `a job that is cancelled ends, and what needs it is skipped`() async throws {
        let gate = try await Gate(in: farm)
        // More than go through before the run reads that it is cancelled.
        try farm.draw(300)
        try farm.writeManifest(filters: "[\(Gate.filter)]", more: "timeout: 1h\nshard: frame\n")
        try farm.writeManifest("after", inputs: "photos/1.png", output: "after/{stem}.png")
        try await farm.start()
        try await farm.penumbra("submit", "night.yaml")
        try await farm.penumbra("submit", "after.yaml", "--after", "1")
        try await farm.penumbra("submit", "after.yaml", "--after", "1:end", "--hold")
        #expect(try farm.job(2).waitingFor?.words == "needs job 1")
        try await farm.wait(for: 1) { $0.state == .running }
        try await farm.penumbra("queue", "cancel", "1")
        try await gate.open(untilEndOf: 1, in: farm)
        #expect(try farm.job(1).state == .cancelled)
        let skipped = try await farm.waitForEnd(of: 2)
        #expect(skipped.result == "skipped, because job 1 did not succeed")
        #expect(try await farm.penumbra("queue", "release", "3").code == 0)
        #expect(try await farm.waitForEnd(of: 3).state == .done)
        try await farm.end()
    }
}
