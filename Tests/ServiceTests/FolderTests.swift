import Confinement
import Foundation
import Glibc
import Queueing
import ServiceAPI
import ServiceClient
import TestSupport
import Testing

/// Whether this machine's kernel can keep runs within folders.
let hasLandlock = if case .version = Landlock.support { true } else { false }

/// Jobs of a token that may use only the folder `team`. The kernel keeps their runs within it.
@Suite(.enabled(if: hasLandlock, "this kernel has no Landlock")) struct FolderTests {
    let farm: Farm
    private let top: String

    init() throws {
        farm = try Farm()
        top = farm.path
        try farm.draw(3, in: "team/photos")
        try farm.draw(2, in: "other")
        try writeManifest()
    }

    private func writeManifest(
        _ name: String = "night", inputs: String = "photos/*", filters: String = "[{gaussian: {radius: 3}}]",
        output: String = "out/{stem}.png", more: String = "", in folder: String = "team"
    ) throws {
        try farm.write(
            "job: \(name)\ninputs: \(inputs)\nfilters: \(filters)\noutput: \(output)\n\(more)",
            to: "\(folder)/\(name).yaml")
    }

    /// Starts the service.
    ///
    /// - Returns: a token with the folder `team`.
    private func start() async throws -> String {
        try await farm.start("--web-socket")
        let token = try await token("--scope", "submit", "--root", "\(top)/team")
        try #require(token.code == 0, "\(token.errors)")
        return token.output.trimmingCharacters(in: .newlines)
    }

    private func token(_ arguments: String...) async throws -> Farm.Result {
        try await farm.run(
            "\(Farm.programs)/penumbra", ["token", "add", "team"] + arguments,
            environment: ["PENUMBRA_SERVER": farm.serviceFolder.controlSocket])
    }

    /// Runs a command with the token.
    private func penumbra(_ token: String, _ arguments: String...) async throws -> Farm.Result {
        try await farm.run("\(Farm.programs)/penumbra", arguments, environment: variables(token))
    }

    private func variables(_ token: String) -> [String: String] {
        ["PENUMBRA_SERVER": farm.serviceFolder.webSocket, "PENUMBRA_TOKEN": token]
    }

    private func client(_ token: String) throws -> APIClient {
        APIClient(
            try ServiceAddress(socket: farm.serviceFolder.webSocket),
            token: try BearerToken.find(environment: variables(token), file: nil))
    }

    /// The status of an answer to the token, and its body.
    private func answer(_ token: String, _ path: String) throws -> (status: Int, text: String) {
        let client = try client(token)
        do {
            return (200, String(decoding: try client.send(ClientRequest(.get, path)).body, as: UTF8.self))
        } catch {
            return (try #require(error.status), error.message)
        }
    }

    private func expectUntouched() {
        #expect(farm.outputs(in: "other") == ["0.png", "1.png"])
    }

    // MARK: Runs

    @Test func `a job inside its folders renders as always`() async throws {
        let token = try await start()
        let result = try await penumbra(token, "submit", "team/night.yaml", "--wait", "--quiet")
        #expect(result.code == 0, "\(result.errors)\(farm.log)")
        #expect(farm.outputs(in: "team/out") == ["0.png", "1.png", "2.png"])
        // Nothing temporary is left.
        #expect(farm.outputs(in: "state/temporary").isEmpty)
        try await farm.end()
    }

    @Test func `an uploaded manifest runs inside its folders, and its folder is one of them`() async throws {
        let token = try await start()
        let result = try await penumbra(token, "submit", "team/night.yaml", "--upload", "--wait", "--quiet")
        #expect(result.code == 0, "\(result.errors)\(farm.log)")
        #expect(farm.outputs(in: "team/out") == ["0.png", "1.png", "2.png"])
        try writeManifest(in: "other")
        let outside = try await penumbra(token, "submit", "other/night.yaml", "--upload")
        #expect(outside.code == 64)
        #expect(
            outside.errors.hasPrefix(
                """
                \(top)/other/night.yaml: a path outside of the token's folders
                the manifest's folder: '\(top)/other' is outside of the token's folders: \(top)/team
                   = read from one of these folders, or ask an administrator for a token with '--root \(top)/other'
                """))
        try await farm.end()
    }

    @Test func `a job of a token with folders stays on this machine, and says so if others go to a cluster`()
        async throws
    {
        try farm.write("engine: slurm\n", to: "config/penumbra/penumbra.yaml")
        let token = try await start()
        let result = try await penumbra(token, "submit", "team/night.yaml", "--wait", "--quiet")
        #expect(result.code == 0, "\(result.errors)\(farm.log)")
        let log = try #require(farm.outputs(in: "service/logs").first)
        let note =
            "note: the run works on this machine, and not with the engine 'slurm': jobs of tokens with folders do not leave it"
        #expect(try farm.read("service/logs/\(log)").contains(note))
        try await farm.end()
    }

    @Test func `paths outside are refused, all of them and in words, and no job is made`() async throws {
        let token = try await start()
        try writeManifest("wide", inputs: "../other/*", output: "../other/{stem}-new.png")
        let result = try await penumbra(token, "submit", "team/wide.yaml")
        #expect(result.code == 64)
        #expect(
            result.errors == """
                \(top)/team/wide.yaml: 2 paths outside of the token's folders
                input '../other/*': '\(top)/other' is outside of the token's folders: \(top)/team
                   = read from one of these folders, or ask an administrator for a token with '--root \(top)/other'
                output '../other/{stem}-new.png': '\(top)/other' is outside of the token's folders: \(top)/team
                   = write to one of these folders, or ask an administrator for a token with '--root \(top)/other'

                """)
        #expect(try await farm.penumbra("queue", "--all", "--json").output.isEmpty)
        expectUntouched()
        try await farm.end()
    }

    @Test func `an override does not lead outside either`() async throws {
        let token = try await start()
        let result = try await penumbra(token, "submit", "team/night.yaml", "--set", "output=../other/{stem}-new.png")
        #expect(result.code == 64)
        #expect(result.errors.contains("a path outside of the token's folders"))
        expectUntouched()
        try await farm.end()
    }

    @Test func `a manifest outside is not read, and nothing of it is told`() async throws {
        let token = try await start()
        try farm.write("secret words: of others\n", to: "other/secret.yaml")
        symlink("../other/secret.yaml", "\(top)/team/link.yaml")
        for name in ["other/secret.yaml", "team/link.yaml"] {
            let result = try await penumbra(token, "submit", name)
            #expect(result.code == 64)
            #expect(result.errors.contains("is outside of the token's folders: \(top)/team"))
            #expect(!result.errors.contains("secret words"))
        }
        try await farm.end()
    }

    @Test func `a link that comes after the submission leads nowhere`() async throws {
        let token = try await start()
        #expect(try await penumbra(token, "submit", "team/night.yaml", "--hold").code == 0)
        symlink("../other", "\(top)/team/out")
        try await farm.penumbra("queue", "release", "1")
        // The run ends with 74, and the job waits for the next try.
        let job = try await farm.wait(for: 1) { $0.state == .waiting && $0.tries == 1 }
        #expect(job.waitingFor?.words.contains("\(top)/team/out: cannot open the folder: Permission denied") == true)
        expectUntouched()
        try await farm.penumbra("queue", "cancel", "1")
        try await farm.end()
    }

    @Test func `a folder that is exchanged for a link after the submission leads nowhere`() async throws {
        let token = try await start()
        #expect(try await penumbra(token, "submit", "team/night.yaml", "--hold").code == 0)
        #expect(rename("\(top)/team", "\(top)/gone") == 0)
        symlink("gone", "\(top)/team")
        let again = try await penumbra(token, "submit", "team/night.yaml")
        #expect(again.code == 64)
        #expect(again.errors.hasPrefix("a folder of the token is a symbolic link now, and leads to '\(top)/gone'\n"))
        try await farm.penumbra("queue", "release", "1")
        let job = try await farm.waitForEnd(of: 1)
        #expect(job.state == .failed && job.exitCode == 66)
        #expect(!farm.exists("gone/out"))
        try await farm.end()
    }

    @Test func `a retry keeps the folders of its job, also if an administrator asks for it`() async throws {
        let token = try await start()
        #expect(try await penumbra(token, "submit", "team/night.yaml", "--hold").code == 0)
        try await farm.penumbra("queue", "cancel", "1")
        try writeManifest(output: "../other/{stem}-new.png")
        #expect(try await farm.penumbra("queue", "retry", "1").code == 0)
        try await farm.wait(for: 2) { $0.state == .waiting && $0.tries == 1 }
        expectUntouched()
        try await farm.penumbra("queue", "cancel", "2")
        try await farm.end()
    }

    @Test func `a worker that outlives its killed coordinator is ended, and the run is resumed`() async throws {
        let gate = try await Gate(in: farm)
        try writeManifest(filters: "[\(Gate.filter)]", more: "timeout: 1h\nshard: frame\n")
        let token = try await start()
        try #require(try await penumbra(token, "submit", "team/night.yaml").code == 0)
        try gate.open(for: 1)
        try await farm.wait { farm.outputs(in: "team/out").count == 1 }
        let run = try #require(farm.openRuns().first)
        let workers = Self.processes().filter { $0.session == run && $0.number != run }.map(\.number)
        #expect(!workers.isEmpty)
        for process in workers { kill(process, SIGSTOP) }
        kill(run, SIGKILL)
        try gate.open(for: 10)
        let job = try await farm.waitForEnd(of: 1)
        #expect(job.state == .done && job.tries == 2)
        #expect(!Self.processes().contains { workers.contains($0.number) })
        try await farm.end()
    }

    /// All processes that have not ended.
    private static func processes() -> [(number: pid_t, session: pid_t)] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.compactMap { process in
            // Behind the name in parentheses: the state, the parent, the group and the session.
            guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
                let end = text.lastIndex(of: ")"),
                case let values = text[text.index(after: end)...].split(separator: " "), values.count > 3,
                values[0] != "Z", let session = pid_t(values[3])
            else { return nil }
            return (process, session)
        }
    }

    // MARK: Tokens

    @Test func `a token sees its own jobs and runs alone`() async throws {
        let token = try await start()
        try writeManifest("others", inputs: "'*.png'", in: "other")
        #expect(try await farm.penumbra("submit", "other/others.yaml", "--wait", "--quiet").code == 0)
        #expect(try await penumbra(token, "submit", "team/night.yaml", "--wait", "--quiet").code == 0)
        #expect(try await penumbra(token, "queue", "--all", "--json").lines.count == 1)
        #expect(try answer(token, "/jobs/1").status == 404)
        #expect(try answer(token, "/jobs/1/log").status == 404)
        #expect(try answer(token, "/jobs/2").status == 200)
        let (foreign, own) = (try #require(try farm.job(1).run), try #require(try farm.job(2).run))
        let runs = try answer(token, "/runs")
        #expect(runs.status == 200 && runs.text.contains(own) && !runs.text.contains(foreign))
        #expect(try answer(token, "/runs/\(foreign)/frames").status == 404)
        #expect(try answer(token, "/runs/\(own)/frames").status == 200)
        try await farm.end()
    }

    /// What an event is about.
    private struct About: Decodable {
        struct Job: Decodable { let state: String }
        struct Run: Decodable { let run: String }

        let id: Int?
        let job: Job?
        let run: String?
        let state: String?
        let runs: [Run]?

        init(_ event: ServerEvent) throws { self = try JSONDecoder().decode(Self.self, from: Data(event.data.utf8)) }
    }

    @Test func `a token follows its own jobs and runs, and hears nothing of others`() async throws {
        let gate = try await Gate(in: farm)
        let waiting = "timeout: 1h\nshard: frame\n"
        try writeManifest(filters: "[\(Gate.filter)]", more: waiting)
        try writeManifest("others", inputs: "'*.png'", filters: "[\(Gate.filter)]", more: waiting, in: "other")
        let token = try await start()
        #expect(try await farm.penumbra("submit", "other/others.yaml", "--hold").code == 0)
        try #require(try await penumbra(token, "submit", "team/night.yaml", "--hold").code == 0)
        var (jobs, runs, names): (Set<Int>, Set<String>, Set<String>) = ([], [], [])
        var (isOpen, isDone, hasEnded) = (false, false, false)
        for try await event in try client(token).events("/events", after: "another-17") {
            if event.name == "reset" {
                try await farm.penumbra("queue", "release", "1")
                let foreign = try #require(try await farm.wait(for: 1) { $0.state == .running }.run)
                // Others hear of that run.
                for try await other in try farm.client.events("/events?run=\(foreign)") where other.name == "run" {
                    break
                }
                try gate.open(for: 2)
                #expect(try await farm.waitForEnd(of: 1).state == .done)
                try await farm.penumbra("queue", "release", "2")
                continue
            }
            let about = try About(event)
            names.insert(event.name)
            jobs.formUnion([about.id].compactMap { $0 })
            runs.formUnion([about.run].compactMap { $0 } + (about.runs ?? []).map(\.run))
            if event.name == "run", !isOpen {
                isOpen = true
                try gate.open(for: 3)
            }
            isDone = isDone || about.job?.state == "done"
            hasEnded = hasEnded || about.state == "ended"
            if isDone, hasEnded { break }
        }
        #expect(jobs == [2])
        #expect(runs == [try #require(try farm.job(2).run)])
        #expect(names.isSuperset(of: ["job", "run", "frames"]))
        try await farm.end()
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl"), "curl is not installed"))
    func `an address that nobody has judged for such tokens is closed`() async throws {
        let token = try await start()
        let result = try await farm.run(
            "/usr/bin/curl",
            [
                "--silent", "--unix-socket", farm.serviceFolder.webSocket, "--header", "Authorization: Bearer \(token)",
                "http://localhost/metrics",
            ])
        #expect(result.output.contains(#""type":"/problems/folders""#))
        #expect(result.output.contains("Ask an administrator for a token without folders."))
        try await farm.end()
    }

    @Test func `a job cannot need a job of somebody else`() async throws {
        let token = try await start()
        try writeManifest("others", inputs: "'*.png'", in: "other")
        #expect(try await farm.penumbra("submit", "other/others.yaml", "--hold").code == 0)
        let result = try await penumbra(token, "submit", "team/night.yaml", "--after", "1")
        #expect(result.code == 64)
        #expect(result.errors == "after: there is no job 1\n   = 'penumbra queue --all' lists all jobs\n")
        try await farm.end()
    }

    @Test func `folders with files that programs or plugins read are refused`() async throws {
        try farm.write("", to: "team/model.bin")
        try farm.write("sandbox_read: [\(top)/team/model.bin]\n", to: "config/penumbra/penumbra.yaml")
        try await farm.start("--web-socket")
        let result = try await token("--scope", "submit", "--root", "\(top)/team")
        #expect(result.code == 64)
        #expect(
            result.errors == """
                the folder \(top)/team: jobs of the token could change '\(top)/team/model.bin', which belongs to the service
                   = name a folder that neither holds it nor lies in it

                """)
        try await farm.end()
    }

    @Test func `folders with something of the service are refused`() async throws {
        _ = try await start()
        let result = try await token("--scope", "submit", "--root", top)
        #expect(result.code == 64)
        #expect(
            result.errors == """
                the folder \(top): jobs of the token could change '\(top)/service', which belongs to the service
                   = name a folder that neither holds it nor lies in it

                """)
        let missing = try await token("--scope", "submit", "--root", "\(top)/nowhere")
        #expect(missing.errors.hasPrefix("the folder \(top)/nowhere cannot be used: No such file or directory\n"))
        let admin = try await token("--scope", "admin", "--root", "\(top)/team")
        #expect(
            admin.errors.hasPrefix("roots: an administrator has no folders, because he could make a token without\n"))
        try await farm.end()
    }
}
