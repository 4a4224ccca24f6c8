import Foundation
import Glibc
import ServiceAPI
import ServiceClient
import TestSupport
import Testing

/// What `penumbra doctor` says of a service.
@Suite(.serialized) struct DoctorTests {
    let farm: Farm

    init() throws {
        farm = try Farm()
        try farm.draw(1)
        try farm.writeManifest()
    }

    private func doctor() async throws -> Farm.Result {
        try await farm.penumbra("doctor", "--state-dir", farm.stateFolder, "--service-dir", farm.serviceFolder.path)
    }

    @Test func `a service that is well is reported with its database and its backup`() async throws {
        try await farm.start()
        #expect(try await farm.penumbra("submit", "night.yaml", "--wait", "--quiet").code == 0)
        try await farm.wait { farm.backups().count == 1 }
        let result = try await doctor()
        #expect(result.code == 0, "\(result.output)")
        #expect(
            result.output.contains("ok    service \(farm.serviceFolder.path): answers, process \(farm.processID)\n"))
        #expect(result.output.contains("ok    database \(farm.serviceFolder.database): whole\n"))
        #expect(result.output.contains("ok    backup of the service's database: 20"))
        try await farm.penumbra("queue", "drain")
        #expect(
            try await doctor().output.contains(
                "note  the service is drained: no job starts until 'penumbra queue undrain'\n"))
        try await farm.end()
    }

    @Test func `without a service nothing is said, and a stopped one is no failure`() async throws {
        let none = try await farm.run("\(Farm.programs)/penumbra", ["doctor", "--state-dir", farm.stateFolder])
        #expect(none.code == 0)
        #expect(!none.output.contains("service"))
        let missing = try await doctor()
        #expect(missing.code == 66)
        #expect(missing.output.contains("FAIL  \(farm.serviceFolder.path): there is no service folder\n"))
        try await farm.start()
        try await farm.end()
        let stopped = try await doctor()
        #expect(stopped.code == 0)
        #expect(
            stopped.output.contains(
                "note  service folder \(farm.serviceFolder.path): no service runs; 'penumbra serve' starts it\n"))
    }

    @Test func `the service that the settings name is asked, and its advice is not to start another one`() async throws
    {
        let none = try await farm.penumbra("doctor")
        #expect(none.code == 69)
        let socket = farm.serviceFolder.controlSocket
        #expect(
            none.output.contains(
                """
                FAIL  no service listens at \(socket) of PENUMBRA_SERVER
                   = start that service, or ask its administrator: 'systemctl start penumbra' starts the one of the package
                   = if it is elsewhere, correct 'server'

                """), "\(none.output)")
        try await farm.start()
        let there = try await farm.penumbra("doctor")
        #expect(there.code == 0, "\(there.output)")
        #expect(
            there.output.contains("ok    service \(socket) of PENUMBRA_SERVER: answers, process \(farm.processID)\n"))
        try await farm.end()
    }

    @Test func `the token of the settings is tried`() async throws {
        try await farm.start()
        let config = farm.folder.file("config/penumbra/penumbra.yaml")
        try farm.write("token_file: token\n", to: "config/penumbra/penumbra.yaml")
        let file = farm.folder.file("config/penumbra/token")
        let missing = try await farm.penumbra("doctor")
        #expect(missing.code == 64)
        #expect(
            missing.output.contains(
                """
                FAIL  \(config): cannot read the token's file \(file): No such file or directory
                   = write a token into this file, with mode 600: an administrator makes one with 'penumbra token add NAME'

                """), "\(missing.output)")
        // The folder of the service needs no token, so that the missing file is no matter.
        let added = try await farm.penumbra(
            "token", "add", "anna", "--scope", "submit", "--service-dir", farm.serviceFolder.path)
        let token = try #require(added.output.firstMatch(of: /pnb_[A-Za-z0-9_-]+/)).output
        try farm.write("\(token)\n", to: "config/penumbra/token")
        #expect(chmod(file, 0o644) == 0)
        let open = try await farm.penumbra("doctor")
        #expect(open.code == 64)
        #expect(
            open.output.contains("FAIL  \(config): others may read the token's file \(file)\n   = chmod 600 \(file)\n"))
        #expect(chmod(file, 0o600) == 0)
        let works = try await farm.penumbra("doctor")
        #expect(works.code == 0, "\(works.output)")
        #expect(works.output.contains("ok    token anna: accepted, scope submit, does not expire\n"), "\(works.output)")
        try farm.write("pnb_wrong\n", to: "config/penumbra/token")
        let wrong = try await farm.penumbra("doctor")
        #expect(wrong.code == 64, "\(wrong.output)")
        #expect(wrong.output.contains("FAIL  PENUMBRA_SERVER: "), "\(wrong.output)")
        try await farm.end()
    }

    @Test func `the database of a stopped service is examined`() async throws {
        try await farm.start()
        try await farm.end()
        let whole = try await doctor()
        #expect(whole.code == 0)
        #expect(whole.output.contains("ok    database \(farm.serviceFolder.database): whole\n"))
        try Data(String(repeating: "no database ", count: 1000).utf8).write(
            to: URL(filePath: farm.serviceFolder.database))
        let damaged = try await doctor()
        #expect(damaged.code == 74)
        #expect(damaged.output.contains("FAIL  \(farm.serviceFolder.database): the database is damaged: "))
    }

    @Test func `before the service starts, missing manifests of schedules and watched folders are found`() async throws
    {
        let (path, missing) = (farm.folder.file("night.yaml"), farm.folder.file("missing.yaml"))
        try farm.write(
            """
            service:
              schedules:
                - {name: nightly, cron: '0 2 * * *', submit: {manifest: \(path)}}
                - {name: weekly, cron: '0 2 * * 0', submit: {manifest: \(missing)}}
              watch:
                - {name: scans, submit: {manifest: \(farm.folder.file("photos"))}}

            """, to: "config/penumbra/penumbra.yaml")
        let result = try await farm.run("\(Farm.programs)/penumbra", ["doctor", "--state-dir", farm.stateFolder])
        #expect(result.code == 69)
        #expect(
            result.lines.filter { $0.hasPrefix("FAIL") } == [
                "FAIL  schedule 'weekly': \(missing): the manifest cannot be read: No such file or directory",
                "FAIL  watch 'scans': \(farm.folder.file("photos")): the manifest cannot be read: it is no regular file",
            ])
        #expect(result.output.contains("\n   = write the manifest, or correct its path in the config file\n"))
    }

    @Test func `mails that cannot be sent and schedules without jobs are failures`() async throws {
        let sendmail = farm.folder.file("sendmail")
        try farm.write(
            """
            on_failure: [{mail: ops@example.org}]
            notifications: {sendmail: \(sendmail)}
            service: {watch: [{name: scans, submit: {manifest: \(farm.folder.file("missing.yaml"))}}]}

            """, to: "config/penumbra/penumbra.yaml")
        try await farm.start()
        // The notice about the watched folder is the mail that fails.
        try await farm.wait {
            try farm.client.call(ClientRequest(.get, "/diagnosis"), as: ServiceDiagnosis.self).undelivered?.count == 1
        }
        try await farm.wait { farm.backups().count == 1 }
        let result = try await doctor()
        #expect(result.code == 69)
        #expect(result.output.contains("FAIL  \(sendmail) cannot be run, so no mail is sent\n"))
        #expect(result.output.contains("FAIL  a notice to mail ops@example.org could not be delivered: \(sendmail)"))
        #expect(result.output.contains("FAIL  watch 'scans': \(farm.folder.file("missing.yaml")): "))
        try await farm.end()
    }

    @Test func `a folder that others may enter, and missing backups, are failures`() async throws {
        try await farm.start()
        try await farm.wait { farm.backups().count == 1 }
        for backup in farm.backups() {
            try FileManager.default.removeItem(atPath: "\(farm.serviceFolder.path)/backups/\(backup)")
        }
        #expect(chmod(farm.serviceFolder.path, 0o755) == 0)
        let result = try await doctor()
        #expect(result.code == 74)
        #expect(
            result.output.contains(
                "FAIL  \(farm.serviceFolder.path): others may use it (mode 755); 'chmod 700' keeps them out\n"))
        #expect(result.output.contains("FAIL  no backup of the service's database; its log says why\n"))
        try await farm.end()
    }
}

extension Farm {
    /// The names of the copies of the service's database.
    fileprivate func backups() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(serviceFolder.path)/backups")) ?? []
        return names.filter { !$0.hasPrefix(".") }
    }
}
