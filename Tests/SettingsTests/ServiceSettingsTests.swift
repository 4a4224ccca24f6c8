import Foundation
import JobModel
import Settings
import Testing

@Suite struct ServiceSettingsTests {
    private func settings(_ text: String) throws -> Settings {
        try Settings(
            Settings.Flags(),
            Settings.LaunchEnvironment(
                environment: [:], currentFolder: "/work", programFolder: "/opt/penumbra/bin", cores: 8,
                memory: 10_000_000_000, homeFolder: "/home/ada"
            ) { $0 == "/etc/penumbra/penumbra.yaml" ? .bytes(Array(text.utf8)) : .nothing })
    }

    private func problem(_ text: String) -> String? {
        #expect(throws: Settings.LoadError.self) { try settings(text) }?.message
    }

    @Test func `a config file without the block sets nothing of the service`() throws {
        let settings = try settings("workers: 2\n")
        #expect(settings.service.value == ServiceSettings())
        #expect(settings.service.origin == .standard)
    }

    @Test func `limits and addresses are read`() throws {
        let service = try settings(
            """
            service:
              max_runs: 2
              aging: 1/10min
              listen: [127.0.0.1:8642, '[::1]:8642']
              hosts: farm.example.org
              behind_proxy: true
              web_socket: false

            """
        ).service.value
        #expect((service.maxRuns, service.aging) == (2, AgingRate(text: "1/10min")))
        #expect(service.aging.map { [$0.points, $0.seconds] } == [1, 600])
        #expect(service.listen == ["127.0.0.1:8642", "[::1]:8642"])
        #expect(service.hosts == ["farm.example.org"])
        #expect((service.isBehindProxy, service.hasWebSocket) == (true, false))
        #expect(try settings("service: {aging: off}\n").service.value.aging == nil)
    }

    @Test func `a schedule has times, rules and a job`() throws {
        let service = try settings(
            """
            service:
              schedules:
                - name: nightly
                  cron: 0  2 * * mon-fri
                  zone: Europe/Berlin
                  missed: skip
                  overlap: skip
                  submit:
                    manifest: jobs/night.yaml
                    priority: 70
                    labels: {show: night}
                    set: ['filters[0].gaussian.radius=3']
                    force: true
                    strict: true
                    deadline: 6h
                - {name: short, cron: '@daily', submit: {manifest: /srv/short.yaml}}

            """
        ).service.value
        var job = ConfiguredSchedule.Job(manifest: "/etc/penumbra/jobs/night.yaml")
        (job.priority, job.labels, job.overrides) = (70, ["show": "night"], ["filters[0].gaussian.radius=3"])
        (job.isForced, job.isStrict, job.deadline) = (true, true, 21_600)
        #expect(
            service.schedules == [
                ConfiguredSchedule(
                    name: "nightly",
                    trigger: .times(cron: "0 2 * * mon-fri", zone: "Europe/Berlin", missed: .skip, overlap: .skip),
                    job: job),
                ConfiguredSchedule(
                    name: "short", trigger: .times(cron: "@daily", zone: nil, missed: .once, overlap: .queue),
                    job: .init(manifest: "/srv/short.yaml")),
            ])
    }

    @Test func `a watch has the times of '--watch' unless it names others`() throws {
        let service = try settings(
            """
            service:
              watch:
                - {name: scans, submit: {manifest: scans.yaml}}
                - {name: slow, quiet: 1m, min_age: 30s, submit: {manifest: slow.yaml}}

            """
        ).service.value
        #expect(
            service.schedules.map(\.trigger) == [
                .changes(quiet: .seconds(1), minAge: .seconds(2)), .changes(quiet: .seconds(60), minAge: .seconds(30)),
            ])
    }

    @Test func `a wrong time of cron is told with its caret`() {
        #expect(
            problem("service: {schedules: {name: a, cron: '0 25 * * *', submit: {manifest: a.yaml}}}\n") == """
                /etc/penumbra/penumbra.yaml:1:38: error: schedule: the hour is 0 to 23, not '25'
                1 | service: {schedules: {name: a, cron: '0 25 * * *', submit: {manifest: a.yaml}}}
                  |                                      ^^^^^^^^^^^^
                  = '*' stands for all values; lists are written as '1,5', ranges as '1-5'
                """)
    }

    @Test func `two schedules of one name are refused, also if one is a watch`() {
        #expect(
            problem(
                """
                service:
                  schedules: {name: a, cron: '@daily', submit: {manifest: a.yaml}}
                  watch: {name: a, submit: {manifest: b.yaml}}

                """) == """
                    /etc/penumbra/penumbra.yaml:3:10: error: there are two schedules or watched folders with the name 'a'
                    3 |   watch: {name: a, submit: {manifest: b.yaml}}
                      |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
                      = give each a name of its own
                    """)
    }

    @Test func `labels are a mapping or a list`() throws {
        for text in ["{show: night, camera: a7}", "['show=night', 'camera=a7']"] {
            let service = try settings("service: {watch: {name: a, submit: {manifest: a, labels: \(text)}}}\n").service
            #expect(service.value.schedules.map(\.job.labels) == [["show": "night", "camera": "a7"]])
        }
    }

    @Test func `the commented block of the shipped config file is right`() throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../config/penumbra.yaml")
            .path
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        let block = lines.drop { $0 != "#service:" }.prefix { !$0.isEmpty }.map { $0.dropFirst() }
        let service = try settings(block.joined(separator: "\n") + "\n").service.value
        #expect(service.schedules.map(\.name) == ["nightly", "scans"])
        #expect(service.maxRuns == 4)
    }

    @Test(arguments: [
        ("{aging: fast}", "'aging' needs a rate of aging, and 'fast' is none"),
        ("{listen: '8642'}", "'listen' needs an address and a port, and '8642' is none"),
        ("{watch: {name: -a, submit: {manifest: a}}}", "'name' needs a name of a schedule, and '-a' is none"),
        (
            "{watch: {name: a, folder: /srv, submit: {manifest: a}}}", "a watch has no 'folder'"
        ),
        (
            "{watch: {name: a, submit: {manifest: a, labels: {_x: y}}}}", "'_x' is no name of a label"
        ),
    ])
    func `a wrong value is told`(text: String, message: String) {
        let found = problem("service: \(text)\n") ?? ""
        #expect(found.contains("error: \(message)"), "\(found)")
    }
}
