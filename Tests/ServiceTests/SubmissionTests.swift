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

    @Test func `jobs are waited for by their numbers, also before they have a run`() async throws {
        try await farm.start()
        try await farm.penumbra("queue", "drain")
        try await farm.penumbra("submit", "night.yaml")
        let unknown = try await farm.penumbra("queue", "wait", "1", "7")
        #expect((unknown.code, unknown.errors.hasPrefix("there is no job 7")) == (66, true))
        let queue = { (action: String) in
            "'\(Farm.programs)/penumbra' queue \(action) --server '\(farm.serviceFolder.controlSocket)'"
        }
        let result = try await farm.run(
            "/bin/bash", ["-c", "\(queue("wait 1")) & \(queue("undrain")) > undrained; wait $!"])
        #expect((result.code, result.output) == (0, "job 1 (night): done\n"))
        try farm.write("no picture", to: "photos/broken.png")
        try await farm.penumbra("submit", "night.yaml")
        #expect(try await farm.penumbra("queue", "wait", "1", "2", "--quiet").code == 1)
        try await farm.end()
    }

    @Test func `the log has requests that change something or are refused, and no reads`() async throws {
        try await farm.start()
        try await farm.penumbra("queue")
        try await farm.penumbra("submit", "night.yaml", "--hold")
        #expect(try await farm.penumbra("queue", "show", "7").code == 66)
        // The line is written after the answer. The end of the service waits for it.
        try await farm.end()
        #expect(farm.log.contains("method=POST path=/api/v1/jobs "))
        #expect(farm.log.contains("method=GET path=/api/v1/jobs/7 "))
        #expect(farm.log.matches(of: /method=GET/).count == 1)
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
        let missing = farm.folder.file("missing.yaml")
        let reasons = [
            (
                "missing.yaml",
                "\(missing): the manifest cannot be read: No such file or directory\n   = look for a misspelt name"
            ),
            ("photos", "\(farm.path)/photos: the manifest cannot be read: it is a folder\n   = name a file"),
        ]
        for (path, words) in reasons {
            let refused = try await farm.penumbra("submit", path)
            #expect(refused.code == 66)
            #expect(refused.errors.contains(words), "\(refused.errors)")
        }
        try farm.write(String(repeating: "#", count: 1 << 21), to: "large.yaml")
        let large = try await farm.penumbra("submit", "large.yaml")
        #expect(large.code == 65)
        #expect(large.errors.contains("the manifest cannot be read: it has more than 1 MB\n   = "), "\(large.errors)")
        #expect(try await farm.penumbra("queue", "--all", "--json").output.isEmpty)
        try await farm.end()
    }

    @Test func `of several manifests none is submitted if one of them is wrong`() async throws {
        try await farm.start()
        try farm.writeManifest("day")
        try farm.write("job: wrong\ninputs: photos/*\nfilters: [{gausian: {radius: 3}}]\n", to: "wrong.yaml")
        let refused = try await farm.penumbra("submit", "night.yaml", "missing.yaml", "wrong.yaml", "day.yaml")
        #expect(refused.code != 0)
        #expect(refused.output.isEmpty)
        // All problems are reported.
        #expect(refused.errors.contains("missing.yaml: "))
        #expect(refused.errors.contains("gaussian"))
        #expect(refused.errors.hasSuffix("no job was submitted\n"))
        #expect(try await farm.penumbra("queue", "--all", "--json").output.isEmpty)
        let right = try await farm.penumbra("submit", "night.yaml", "day.yaml", "--hold")
        #expect(right.output == "job 1 (night): held\njob 2 (day): held\n")
        try await farm.end()
    }

    @Test func `a command that would be refused again later does not say that the service is busy`() async throws {
        try await farm.start()
        #expect(try await farm.penumbra("submit", "night.yaml", "--after", "999999").code == 64)
        try await farm.penumbra("submit", "night.yaml", "--hold")
        try await farm.penumbra("queue", "cancel", "1")
        let needs = try await farm.penumbra("submit", "night.yaml", "--after", "1")
        #expect(needs.code == 64)
        #expect(needs.errors.hasPrefix("the job would never start: it needs the success of job 1, which has ended: "))
        #expect(try await farm.penumbra("queue", "cancel", "1").code == 64)
        #expect(try await farm.penumbra("queue", "hold", "999999").code == 66)
        try await farm.end()
    }

    @Test func `a list that a filter leaves empty says so`() async throws {
        try await farm.start()
        #expect(try await farm.penumbra("queue").output == "no jobs; 'penumbra submit MANIFEST' submits one\n")
        let found = try await farm.penumbra("queue", "--filter", "name=nosuch")
        #expect(found.output == "no job matches; --all looks at jobs that have ended, too\n")
        #expect(try await farm.penumbra("queue", "--all", "--filter", "name=nosuch").output == "no job matches\n")
        #expect(try await farm.penumbra("queue", "--filter", "state=failed").output == "no job matches\n")
        try await farm.end()
    }

    @Test func `a queue without open jobs says how many have ended`() async throws {
        try await farm.start()
        for job in 1...2 {
            #expect(try await farm.penumbra("submit", "night.yaml", "--hold").code == 0)
            #expect(try await farm.penumbra("queue", "cancel", "\(job)").code == 0)
            let queue = try await farm.penumbra("queue")
            #expect(queue.output == "no open jobs; --all lists \(job) ended \(job == 1 ? "job" : "jobs")\n")
        }
        try await farm.end()
    }

    @Test func `a command whose service does not answer says who can start it, and not to start another one`()
        async throws
    {
        let socket = farm.serviceFolder.controlSocket
        let named = try await farm.penumbra("submit", "night.yaml")
        #expect(named.code == 69)
        #expect(
            named.errors == """
                no service listens at \(socket) of PENUMBRA_SERVER
                   = start that service, or ask its administrator: 'systemctl start penumbra' starts the one of the package
                   = if it is elsewhere, correct 'server'

                """)
        let flag = try await farm.penumbra("queue", "--server", socket)
        #expect(flag.code == 69)
        #expect(
            flag.errors == """
                no service listens at \(socket) of --server
                   = start that service, or ask its administrator: 'systemctl start penumbra' starts the one of the package
                   = if it is elsewhere, correct --server

                """)
        let (program, config) = ("\(Farm.programs)/penumbra", "config/penumbra/penumbra.yaml")
        try farm.write("server: \(socket)\n", to: config)
        #expect(
            try await farm.run(program, ["queue"]).errors == """
                no service listens at \(socket) of \(farm.folder.file(config))
                   = start that service, or ask its administrator: 'systemctl start penumbra' starts the one of the package
                   = if it is elsewhere, correct 'server'

                """)
    }

    @Test func `without a service in the folder a command says how to start one`() async throws {
        let result = try await farm.penumbra("queue", "--service-dir", farm.serviceFolder.path)
        #expect(result.code == 69)
        #expect(
            result.errors
                == "no service listens at \(farm.serviceFolder.controlSocket)\n   = start one: 'penumbra serve'\n")
    }

    @Test func `a command that guessed the service says how to name another one`() async throws {
        let result = try await farm.run("\(Farm.programs)/penumbra", ["queue"])
        #expect(result.code == 69)
        #expect(
            result.errors == """
                no service listens at \(farm.folder.file("home/penumbra-service/control.sock"))
                   = start one: 'penumbra serve'
                   = or name a service that somebody else has started: 'server' in a config file, PENUMBRA_SERVER, or --server

                """)
    }

    @Test func `a config file names the service, and flags override it`() async throws {
        try await farm.start()
        let program = "\(Farm.programs)/penumbra"
        try farm.write("server: \(farm.serviceFolder.controlSocket)\n", to: "config/penumbra/penumbra.yaml")
        #expect(try await farm.run(program, ["queue"]).output.hasPrefix("no jobs; "))
        let other = try await farm.run(program, ["queue", "--state-dir", farm.folder.file("other")])
        #expect(other.code == 69)
        #expect(
            other.errors == """
                no service listens at \(farm.folder.file("other-service/control.sock"))
                   = start one: 'penumbra serve'

                """)
        try farm.write("server: nowhere\n", to: "config/penumbra/penumbra.yaml")
        let wrong = try await farm.run(program, ["queue"])
        #expect(wrong.code == 64)
        #expect(
            wrong.errors.hasPrefix(
                "\(farm.folder.file("config/penumbra/penumbra.yaml")): 'nowhere' is no address of a service\n"))
        try await farm.end()
    }

    @Test func `an uploaded manifest runs in its folder, without a file there`() async throws {
        try await farm.start()
        try FileManager.default.moveItem(
            atPath: farm.folder.file("night.yaml"), toPath: farm.folder.file("uploaded.yaml"))
        let result = try await farm.penumbra("submit", "uploaded.yaml", "--upload", "--hold")
        // The queue, the run and the notices have the name of the manifest's job.
        #expect(result.output == "job 1 (night): held\n")
        #expect(try farm.job(1).manifest == farm.folder.file("uploaded.yaml"))
        #expect(try await farm.penumbra("queue", "--json", "--filter", "name=night").lines.count == 1)
        try FileManager.default.removeItem(atPath: farm.folder.file("uploaded.yaml"))
        // It may start at once.
        #expect(try await farm.penumbra("queue", "release", "1").output.hasPrefix("job 1 (night): "))
        #expect(try await farm.waitForEnd(of: 1).state == .done)
        #expect(farm.outputs() == ["0.png", "1.png", "2.png"])
        let waited = try await farm.penumbra("wait", "night", "--state-dir", farm.stateFolder)
        #expect(waited.code == 0 && waited.output == "night: done; 3 frames: 3 published\n")
        try await farm.end()
    }

    @Test func `a job whose outputs belong to another one says that it has kept them, each time`() async throws {
        try await farm.start()
        let text = try farm.read("night.yaml")
        func submit(_ name: String, _ text: String) throws -> SubmitResponse {
            let request = SubmitRequest(.text(text, folder: farm.path, name: name))
            return try farm.client.call(
                ClientRequest(.post, "/jobs", body: StrictJSON.encode(request)), as: SubmitResponse.self)
        }
        _ = try submit("one", text)
        #expect(try await farm.waitForEnd(of: 1).result == "done")
        let changed = text.replacingOccurrences(of: "radius: 3", with: "radius: 4")
        for number in 2...3 {
            _ = try submit("two", changed)
            let job = try await farm.waitForEnd(of: number)
            #expect(job.state == .done && job.exitCode == 0)
            #expect(job.result == "done; 3 frames kept as they were")
            let reasons = try #require(job.keptByReason)
            #expect(Array(reasons.values) == [3])
            #expect(reasons.keys.allSatisfy { $0.hasPrefix("published by the job 'night' of ") }, "\(reasons)")
            let shown = try await farm.penumbra("queue", "show", "\(number)")
            #expect(shown.output.contains("\nkept: 3 frames: published by the job 'night' of "), "\(shown.output)")
            let log = String(
                decoding: try farm.client.send(ClientRequest(.get, "/jobs/\(number)/log")).body, as: UTF8.self)
            #expect(
                log.contains("night: 3 outputs are left as they are: published by the job 'night' of "), "\(log)")
        }
        // Under its own name it renders them.
        _ = try submit("one", changed)
        #expect(try await farm.waitForEnd(of: 4).result == "done")
        let runs = try await farm.penumbra("wait", "night", "--state-dir", farm.stateFolder)
        #expect(runs.output == "night: done; 3 frames: 3 published\n")
        try await farm.end()
    }

    @Test func `a retry tries pictures again that are still broken, and another submission does not`() async throws {
        try farm.write("no picture", to: "photos/broken.png")
        try await farm.start()
        #expect(try await farm.penumbra("submit", "night.yaml", "--wait", "--quiet").code == 1)
        let again = try await farm.penumbra("submit", "night.yaml", "--wait")
        #expect(again.code == 0)
        #expect(again.output == "job 2 (night): done; 1 frame still broken\n")
        // A job that is done and has left a broken picture can be retried as well as a failed one.
        for (job, retry) in [(1, 3), (2, 4)] {
            #expect(
                try await farm.penumbra("queue", "retry", "\(job)").output == "job \(retry) (night): waiting\n")
            let ended = try await farm.waitForEnd(of: retry)
            #expect(ended.state == .failed && ended.exitCode == 1)
            #expect(ended.result?.hasPrefix("failed with exit code 1: night: 1 frame failed: ") == true)
        }
        try FileManager.default.removeItem(atPath: farm.folder.file("photos/broken.png"))
        try await farm.penumbra("queue", "retry", "3", "--deadline", "1h")
        #expect(try await farm.waitForEnd(of: 5).result == "done")
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
                   = submit jobs there, or give this service another --state-dir

                """)
        #expect(try await farm.penumbra("submit", "night.yaml", "--wait", "--quiet").code == 0)
        try await farm.end()
    }
}
