import Foundation
import Queueing
import ServiceAPI
import ServiceClient
import TestSupport
import Testing

/// Jobs that are handed in to a real service, by the real commands.
@Suite struct SubmissionTests {
    let farm: Farm

    init() throws {
        farm = try Farm()
        try farm.draw(3)
        try farm.writeManifest()
    }

    @Test func `a job runs once, and its outputs are published`() async throws {
        try await farm.start()
        let submitted = try await farm.penumbra("submit", "night.yaml")
        #expect(submitted.code == 0)
        #expect(submitted.output == "job 1 (night): waiting\n")
        let job = try await farm.waitForEnd(of: 1)
        #expect(job.state == .done)
        #expect(job.exitCode == 0)
        #expect(job.tries == 1)
        #expect(farm.outputs() == ["0.png", "1.png", "2.png"])
        let run = try #require(job.run)
        let status = try await farm.penumbra("status", "--json", "--state-dir", farm.stateFolder)
        #expect(status.output.contains("\"run\":\"\(run)\""))
        #expect(try await farm.end() == 0)
    }

    @Test func `with --wait a command ends as the run does`() async throws {
        try await farm.start()
        #expect(try await farm.penumbra("submit", "night.yaml", "--wait", "--quiet").code == 0)
        try farm.write("no picture", to: "photos/broken.png")
        let failed = try await farm.penumbra("submit", "night.yaml", "--wait", "--quiet")
        #expect(failed.code == 1)
        #expect(failed.errors.hasPrefix("job 2 (night): failed with exit code 1"))
        try await farm.end()
    }

    @Test func `the same key is the same job, and another request with it is refused`() async throws {
        try await farm.start()
        for _ in 0..<3 { #expect(try await farm.penumbra("submit", "night.yaml", "--key", "night-7").code == 0) }
        let again = try await farm.penumbra("submit", "night.yaml", "--key", "night-7", "--wait")
        #expect(again.code == 0)
        let other = try await farm.penumbra("submit", "night.yaml", "--key", "night-7", "--priority", "90")
        #expect(other.code == 64)
        #expect(
            other.errors == """
                job 1 has the key 'night-7', and was another request
                   = use a new key for a new job

                """)
        #expect(try await farm.penumbra("queue", "--all", "--json").lines.count == 1)
        try await farm.end()
    }

    @Test func `a manifest with mistakes is refused with all of them, and no job is made`() async throws {
        try await farm.start()
        try farm.write("job: wrong\ninputs: photos/*\nfilters: [{gausian: {radius: 3}}]\n", to: "wrong.yaml")
        let refused = try await farm.penumbra("submit", "wrong.yaml")
        #expect(refused.code == 65)
        #expect(refused.errors.contains("line 3, column 12: "))
        #expect(refused.errors.contains("gaussian"))
        let missing = try await farm.penumbra("submit", "missing.yaml")
        #expect(missing.code == 64 || missing.code == 66)
        #expect(missing.errors.contains("the manifest cannot be read"))
        #expect(try await farm.penumbra("queue", "--all", "--json").output.isEmpty)
        try await farm.end()
    }

    @Test func `without a service a command says how to start one`() async throws {
        let result = try await farm.penumbra("submit", "night.yaml")
        #expect(result.code == 69)
        #expect(
            result.errors
                == "no service listens at \(farm.serviceFolder.controlSocket)\n   = start one: penumbra serve\n")
    }

    @Test func `an uploaded manifest runs in its folder, without a file there`() async throws {
        try await farm.start()
        try FileManager.default.moveItem(
            atPath: farm.folder.file("night.yaml"), toPath: farm.folder.file("uploaded.yaml"))
        let result = try await farm.penumbra("submit", "uploaded.yaml", "--upload", "--hold")
        #expect(result.output == "job 1 (uploaded): held\n")
        try FileManager.default.removeItem(atPath: farm.folder.file("uploaded.yaml"))
        // It may start at once.
        #expect(try await farm.penumbra("queue", "release", "1").output.hasPrefix("job 1 (uploaded): "))
        #expect(try await farm.waitForEnd(of: 1).state == .done)
        #expect(farm.outputs() == ["0.png", "1.png", "2.png"])
        try await farm.end()
    }

    @Test func `a second service on the folder is refused, and names the first`() async throws {
        try await farm.start()
        let second = try await farm.run(
            "\(Farm.programs)/penumbra-service",
            ["--service-dir", farm.serviceFolder.path, "--state-dir", farm.stateFolder])
        #expect(second.code == 75)
        #expect(
            second.errors.hasPrefix(
                "\(farm.serviceFolder.path): a service has this folder already (process \(farm.processID))\n"))
        // A folder of its own does not help it: both would begin and resume the runs of one state folder.
        let third = try await farm.run(
            "\(Farm.programs)/penumbra-service",
            ["--service-dir", farm.folder.file("other"), "--state-dir", farm.stateFolder])
        #expect(third.code == 75)
        #expect(
            third.errors == """
                \(farm.stateFolder): the runs of this state folder belong to another service \
                (process \(farm.processID), folder \(farm.serviceFolder.path))
                   = hand jobs in there, or give this service another --state-dir

                """)
        #expect(try await farm.penumbra("submit", "night.yaml", "--wait", "--quiet").code == 0)
        try await farm.end()
    }
}
