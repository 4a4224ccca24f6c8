import Foundation
import Glibc
import Queueing
import Runs
import ServiceAPI
import ServiceClient
import TestSupport
import Testing

/// Commands about runs that ask a service, and print what they would print on the state folder.
@Suite(.serialized) struct RemoteRunTests {
    let farm: Farm

    init() throws {
        farm = try Farm()
        try farm.draw(3)
    }

    private var server: String { farm.serviceFolder.controlSocket }

    private func remote(_ command: String) async throws -> Farm.Result { try await run(command, "--server", server) }

    private func local(_ command: String) async throws -> Farm.Result {
        try await run(command, "--state-dir", farm.stateFolder)
    }

    private func run(_ command: String, _ option: String, _ value: String) async throws -> Farm.Result {
        try await farm.run(
            "\(Farm.programs)/penumbra", command.split(separator: " ").map(String.init) + [option, value])
    }

    @Test func `commands print the same by the service as on the state folder`() async throws {
        try farm.writeManifest()
        try farm.writeManifest("damaged", inputs: "damaged/*", output: "damaged-out/{stem}.png")
        try farm.draw(1, in: "damaged")
        try farm.write("no picture", to: "damaged/broken.png")
        try await farm.start()
        #expect(try await farm.penumbra("submit", "night.yaml", "--wait", "--quiet").code == 0)
        #expect(try await farm.penumbra("submit", "damaged.yaml", "--wait", "--quiet").code == 1)
        // The second run of the job does not try the broken picture again.
        #expect(try await farm.penumbra("submit", "damaged.yaml", "--wait", "--quiet").code == 0)
        let names = try await local("status --json").lines.compactMap { line in
            line.firstMatch(of: /"run":"([^"]+)"/).map { String($0.output.1) }
        }
        #expect(names.count == 3)
        let runs = ["", " night", " damaged"] + names.map { " \($0)" }
        let commands =
            [
                "status", "status --all", "status --json", "status --follow", "pause", "cancel", "logs night 1",
                "logs night 1/frame --json",
            ]
            + runs.flatMap {
                [
                    "show\($0)", "show\($0) --json", "show\($0) --map", "show\($0) --map --json", "wait\($0)",
                    "wait\($0) --json",
                ]
            }
            + runs.dropFirst().flatMap {
                ["logs\($0)", "logs\($0) --json", "cancel\($0)", "pause\($0)", "resume\($0)"]
            }
        for command in commands {
            let (there, here) = (try await remote(command), try await local(command))
            #expect(there.code == here.code, "\(command)")
            #expect(there.output == here.output, "\(command)")
            #expect(there.errors == here.errors, "\(command)")
        }
        #expect(try await remote("show night").output.contains("frames    3: 3 published"))
        #expect(try await remote("show damaged").output.contains("still broken\n"))
        try await farm.end()
    }

    @Test func `a run is paused, resumed, cancelled and waited for by the service`() async throws {
        let gate = try await Gate(in: farm)
        // More than go through before the run reads that it is cancelled.
        try farm.draw(300)
        try farm.writeManifest(filters: "[\(Gate.filter)]", more: "timeout: 1h\nshard: frame\n")
        try await farm.start()
        try await farm.penumbra("submit", "night.yaml")
        let run = try #require(try await farm.wait(for: 1) { $0.state == .running }.run).description
        let paused = try await remote("pause")
        #expect(paused.output == "\(run): paused; 'penumbra resume --server \(server)' continues it\n")
        #expect(paused.errors == "")
        let status = try await remote("status").output
        #expect(status.contains("paused"))
        let resumed = try await remote("resume night")
        #expect(resumed.output == "\(run): resumed\n")
        #expect(try await remote("resume").output == "no run is paused\n")
        #expect(try await remote("wait --timeout 1s").code == 75)
        #expect(
            try await remote("cancel").output
                == "\(run): its coordinator was asked to end it; 'penumbra wait' waits for the end\n")
        try await gate.open(untilEndOf: 1, in: farm)
        #expect(try await remote("wait \(run)").code == 130)
        // The job is cancelled, and not only its run: it does not begin again.
        #expect(try await farm.waitForEnd(of: 1).state == .cancelled)
        let retried = try await remote("retry \(run)")
        #expect(retried.output == "job 2 (night): waiting\n")
        #expect(try farm.job(2).retryOf?.number == 1)
        try gate.open(for: 300)
        #expect(try await farm.waitForEnd(of: 2).state == .done)
        try await farm.end()
    }

    @Test func `followers of runs wait for a service that is started again`() async throws {
        let gate = try await Gate(in: farm)
        try farm.writeManifest(filters: "[\(Gate.filter)]", more: "timeout: 1h\n")
        try await farm.start()
        try await farm.penumbra("submit", "night.yaml")
        let run = try #require(try await farm.wait(for: 1) { $0.state == .running }.run)
        let follow = "'\(Farm.programs)/penumbra' status --follow --server '\(server)' > told 2>&1"
        _ = try await farm.run(
            "/bin/bash", ["-c", "(\(follow); echo $? > code.new; mv code.new code) > log 2>&1 < /dev/null &"])
        try await farm.wait { ((try? farm.read("told")) ?? "").contains(run) }
        // Its run is interrupted, and the next service resumes it.
        try await farm.end()
        try await farm.start()
        try gate.open(for: 3)
        try await farm.wait { farm.exists("code") }
        let told = try farm.read("told")
        #expect(try farm.read("code") == "0\n", "\(told)")
        #expect(try await farm.waitForEnd(of: 1).state == .done)
        try await farm.end()
    }

    @Test func `a run whose coordinator was killed is waited for if the service resumes it`() async throws {
        let gate = try await Gate(in: farm)
        try farm.writeManifest(filters: "[\(Gate.filter)]", more: "timeout: 1h\n")
        try await farm.start()
        try await farm.penumbra("submit", "night.yaml")
        let run = try #require(try await farm.wait(for: 1) { $0.state == .running }.run)
        kill(try #require(farm.openRuns().first), SIGKILL)
        try gate.open(for: 9)
        let waited = try await local("wait \(run)")
        #expect(waited.code == 0, "\(waited.errors)")
        #expect(waited.output.hasPrefix("night: done; "))
        #expect(try farm.job(1).tries == 2)
        try await farm.end()
    }

    @Test func `a new job is answered with its tag and its place in the queue`() async throws {
        try farm.writeManifest()
        try await farm.start()
        try await farm.penumbra("queue", "drain")
        let body = try StrictJSON.encode(SubmitRequest(.file(path: farm.folder.file("night.yaml"))))
        let answer = try farm.client.send(ClientRequest(.post, "/jobs", body: body))
        let job = try farm.client.decode(SubmitResponse.self, from: answer).job
        #expect(job.position == 1)
        #expect(job.waitingFor?.words == "the service is drained")
        let tag = try #require(answer.etag)
        let change = try StrictJSON.encode(JobChange(priority: try Priority(70)))
        _ = try farm.client.send(ClientRequest(.patch, "/jobs/1", body: change, condition: tag))
        #expect(throws: ServiceError.self) {
            try farm.client.send(ClientRequest(.patch, "/jobs/1", body: change, condition: tag))
        }
        try await farm.end()
    }

    @Test func `a run that was begun by hand is shown, and is not retried or resumed by the service`() async throws {
        try farm.writeManifest()
        try await farm.start()
        #expect(try await local("run night.yaml --quiet").code == 0)
        #expect(try await remote("wait night").output == "night: done; 3 frames: 3 published\n")
        let retried = try await remote("retry night")
        #expect(retried.code == 64)
        #expect(retried.errors.contains("was not begun by the service, so it has no job to retry\n   = "))
        try await farm.end()
    }

    @Test(arguments: [
        (
            "status --state-dir a",
            "--state-dir is for runs of this machine, and --server asks a service; give one of them."
        ),
        ("status --service-dir a", "--service-dir and --server both name a service; give one of them."),
        ("show --run-dir a", "--run-dir is for runs of this machine, and --server asks a service; give one of them."),
        ("wait --config a", "--config is for runs of this machine, and --server asks a service; give one of them."),
        ("retry --frames 1", "--frames cannot be used with --server."),
        ("retry --deadline 1.5", "--deadline takes whole seconds here, at least one."),
        ("resume --workers 2", "--workers cannot be used with --server."),
    ])
    func `options that a service has no use for are refused`(command: String, words: String) async throws {
        let result = try await remote(command)
        #expect(result.code == 64)
        #expect(result.errors.contains(words))
    }

    @Test func `the folder of a service names it, too`() async throws {
        try farm.writeManifest()
        try await farm.start()
        #expect(try await farm.penumbra("submit", "night.yaml", "--wait", "--quiet").code == 0)
        for command in ["status", "show night", "wait night", "logs night 1"] {
            let named = try await run(command, "--service-dir", farm.serviceFolder.path)
            let wanted = try await remote(command)
            #expect((named.code, named.output) == (wanted.code, wanted.output), "\(command): \(named.errors)")
        }
        let refused = try await run("status --state-dir a", "--service-dir", farm.serviceFolder.path)
        #expect(refused.code == 64)
        #expect(
            refused.errors.contains(
                "--state-dir is for runs of this machine, and --service-dir asks a service; give one of them."))
        try await farm.end()
    }

    @Test func `the environment does not change what a command about runs asks`() async throws {
        let result = try await farm.penumbra("status", "--state-dir", farm.stateFolder)
        #expect(result.output == "nothing has run yet\n")
        #expect(result.code == 0)
    }

    @Test func `frames and attempts come in pages that leave nothing out`() async throws {
        try farm.writeManifest()
        try await farm.start()
        #expect(try await farm.penumbra("submit", "night.yaml", "--wait", "--quiet").code == 0)
        let run = try #require(try farm.job(1).run).description
        var (frames, place, pages) = ([StoredFrameLine](), String?.none, 0)
        repeat {
            let after = place.map { "&after=\($0)" } ?? ""
            let page = try farm.client.call(
                ClientRequest(.get, "/runs/\(run)/frames?limit=1\(after)"), as: FramePage.self)
            #expect(page.frames.count == 1)
            (frames, place, pages) = (frames + page.frames, page.after, pages + 1)
        } while place != nil && pages < 10
        #expect(frames.map(\.name) == ["1", "2", "3"])
        #expect(frames.allSatisfy { $0.published != nil && $0.state == "published" })
        var attempts: [AttemptLine] = []
        (place, pages) = (nil, 0)
        repeat {
            let after = place.map { "&after=\($0)" } ?? ""
            let page = try farm.client.call(
                ClientRequest(.get, "/runs/\(run)/attempts?limit=2\(after)"), as: AttemptPage.self)
            (attempts, place, pages) = (attempts + page.attempts, page.after, pages + 1)
        } while place != nil && pages < 20
        let all = try farm.client.call(ClientRequest(.get, "/runs/\(run)/attempts"), as: AttemptPage.self)
        #expect(attempts == all.attempts)
        #expect(Set(attempts.map { $0.task.prefix(1) }) == ["1", "2", "3"])
        for wrong in ["after=1p0", "after=x", "limit=0", "limit=1001", "state=good", "page=2"] {
            let error = #expect(throws: ServiceError.self) {
                _ = try farm.client.send(ClientRequest(.get, "/runs/\(run)/frames?\(wrong)"))
            }
            #expect(error?.status == 422, "\(wrong)")
        }
        try await farm.end()
    }
}
