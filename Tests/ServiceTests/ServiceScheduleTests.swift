import Foundation
import Queueing
import ServiceAPI
import ServiceClient
import TestSupport
import Testing

/// Schedules and watched folders of a real service, from its config file to published pictures.
@Suite struct ServiceScheduleTests {
    let farm: Farm

    init() throws {
        farm = try Farm()
        try farm.draw(2)
        try farm.writeManifest()
    }

    private func configure(_ service: String) throws {
        try farm.write("service: \(service)\n", to: "config/penumbra/penumbra.yaml")
    }

    private func schedules() throws -> [ScheduleEntry] {
        try farm.client.call(ClientRequest(.get, "/schedules"), as: ScheduleList.self).schedules
    }

    @Test func `a time of the config file's schedule renders its pictures once`() async throws {
        try configure(
            "{schedules: {name: nightly, cron: '30 2 * * *', zone: UTC, submit: {manifest: \(farm.folder.file("night.yaml")), "
                + "labels: {show: night}}}}")
        try await farm.start()
        #expect(try schedules().map(\.submitted) == [0])
        let next = try #require(try schedules().first?.next)
        let listed = try await farm.penumbra("queue", "schedules", environment: ["TZ": "UTC"])
        #expect(listed.code == 0)
        // Times for people are local.
        let day = "\(next)".prefix(10)
        #expect(listed.output.contains("nightly") && listed.output.contains("next \(day) 02:30:00 +00:00"))
        try await farm.end()
        // A day later, in three services of which each is killed.
        for _ in 0..<3 {
            try await farm.start(environment: ["PENUMBRA_SERVICE_CLOCK_AHEAD": "86400"])
            let job = try await farm.waitForEnd(of: 1)
            #expect(job.state == .done)
            #expect((job.owner, job.key) == (.schedule("nightly"), "schedule:nightly:\(next)"))
            #expect(job.labels.texts == ["show=night"])
            try await farm.end(SIGKILL)
        }
        #expect(farm.outputs() == ["0.png", "1.png"])
        try await farm.start(environment: ["PENUMBRA_SERVICE_CLOCK_AHEAD": "86400"])
        #expect(try await farm.penumbra("queue", "--all", "--json").lines.count == 1)
        try await farm.end()
    }

    @Test func `a service that is killed between the steps of a submission submits once`() async throws {
        try configure(
            "{schedules: {name: nightly, cron: '@daily', submit: {manifest: \(farm.folder.file("night.yaml"))}}}")
        try await farm.start()
        try await farm.end()
        try await farm.start(environment: [
            "PENUMBRA_SERVICE_CLOCK_AHEAD": "172800", "PENUMBRA_SERVICE_DIE_AFTER": "submitted",
        ])
        #expect(try await farm.exitCode() == 128 + SIGKILL)
        try await farm.start(environment: ["PENUMBRA_SERVICE_CLOCK_AHEAD": "172800"])
        #expect(try await farm.waitForEnd(of: 1).state == .done)
        #expect(try schedules().map(\.submitted) == [1])
        #expect(try await farm.penumbra("queue", "--all", "--json").lines.count == 1)
        try await farm.end()
    }

    @Test func `new pictures in a watched folder are rendered`() async throws {
        try configure(
            "{watch: {name: scans, quiet: 0.3s, min_age: 0s, submit: {manifest: \(farm.folder.file("night.yaml"))}}}")
        try await farm.start()
        let first = try await farm.waitForEnd(of: 1)
        #expect((first.state, first.owner) == (.done, .watch("scans")))
        #expect(farm.outputs() == ["0.png", "1.png"])
        try farm.draw(4)
        try await farm.wait { farm.outputs().count == 4 }
        try await farm.end()
    }

    @Test func `a schedule is disabled and enabled by the command line`() async throws {
        try configure("{watch: {name: scans, submit: {manifest: \(farm.folder.file("missing.yaml"))}}}")
        try await farm.start()
        let disabled = try await farm.penumbra("queue", "schedule", "disable", "scans")
        #expect(disabled.output == "scans: disabled\n")
        #expect(try await farm.penumbra("queue", "schedule", "enable", "scans").output == "scans: watching\n")
        let unknown = try await farm.penumbra("queue", "schedule", "enable", "gone")
        #expect(unknown.code != 0)
        #expect(unknown.errors == "there is no schedule 'gone'\n   = 'penumbra queue schedules' lists them\n")
        // The manifest does not exist, which is told.
        try await farm.wait { try schedules().first?.problem != nil }
        let problem = try #require(try schedules().first?.problem)
        #expect(problem.hasPrefix("watch 'scans': \(farm.folder.file("missing.yaml")): "), "\(problem)")
        try await farm.end()
    }

    @Test func `the config file's limits hold, unless flags say otherwise`() async throws {
        try configure("{max_runs: 2}")
        try await farm.start()
        #expect(try farm.client.call(ClientRequest(.get, "/status"), as: ServiceStatus.self).maxRuns == 2)
        try await farm.end()
        try await farm.start("--max-runs", "3")
        #expect(try farm.client.call(ClientRequest(.get, "/status"), as: ServiceStatus.self).maxRuns == 3)
        try await farm.end()
    }

    @Test func `a service that cannot start changes no schedule`() async throws {
        try configure(
            "{schedules: {name: nightly, cron: '@daily', submit: {manifest: \(farm.folder.file("night.yaml"))}}}")
        try await farm.start()
        try await farm.end()
        try configure("{max_runs: 2}")
        try await farm.start("--listen", "0.0.0.0:0")
        #expect(try await farm.exitCode() == 69)
        #expect(!farm.log.contains("nightly"))
        try await farm.start()
        #expect(farm.log.contains("schedule 'nightly' is not in the config file any more, so it is disabled"))
        try await farm.end()
    }

    @Test(arguments: ["bad host/x", "farm.example.org:443", "", "http://farm"])
    func `a host that is no name is refused`(host: String) async throws {
        try await farm.start("--host", host)
        #expect(try await farm.exitCode() == 64)
        #expect(
            farm.log.hasPrefix("Error: --host takes a name without a port, as in farm.example.org, not '\(host)'.\n"))
        #expect(farm.log.hasSuffix("See 'penumbra serve --help' for more information.\n"))
        try configure("{hosts: ['\(host.isEmpty ? "a b" : host)']}")
        try await farm.start()
        #expect(try await farm.exitCode() == 65)
        #expect(farm.log.contains("the config file: service: hosts takes names without ports"))
    }

    @Test func `a zone that does not exist ends the start with its words`() async throws {
        try configure("{schedules: {name: a, cron: '@daily', zone: Mars/Olympus, submit: {manifest: night.yaml}}}")
        try await farm.start()
        #expect(try await farm.exitCode() == 65)
        #expect(farm.log.contains("the config file: schedule 'a': schedule: there is no time zone 'Mars/Olympus'"))
    }
}
