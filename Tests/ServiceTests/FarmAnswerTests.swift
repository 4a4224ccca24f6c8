import Foundation
import Queueing
import ServiceAPI
import ServiceClient
import TestSupport
import Testing

/// What a real service says of manifests, plans, workers, errors and outputs.
@Suite(.serialized) struct FarmAnswerTests {
    let farm: Farm

    init() throws {
        farm = try Farm()
        try farm.draw(3)
        try farm.writeManifest()
    }

    private func answer(_ method: ClientRequest.Method, _ path: String, _ body: String? = nil) throws -> String {
        String(
            decoding: try farm.client.send(ClientRequest(method, path, body: body.map { Array($0.utf8) })).body,
            as: UTF8.self)
    }

    private func lines(_ text: String) throws -> [[String: Any]] {
        try text.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    /// A call that is refused, in the words of the command line.
    private func refusal(_ method: ClientRequest.Method, _ path: String, _ body: String? = nil) throws -> String {
        do {
            return "answered: \(try answer(method, path, body))"
        } catch let error as ServiceError {
            return error.message
        }
    }

    @Test func `a manifest is checked and planned, by its path or its text, and nothing is kept`() async throws {
        try await farm.start()
        let path = #"{"manifest": "\#(farm.path)/night.yaml"}"#
        #expect(try answer(.post, "/check", path).contains(#""job":"night","warnings":[]"#))
        let text = "job: other\\ninputs: photos/*\\nfilters: [{gaussian: {radius: 3}}]\\noutput: else/{stem}.png"
        for body in [path, #"{"text": "\#(text)", "folder": "\#(farm.path)"}"#] {
            let plan = try lines(try answer(.post, "/plan", body))
            #expect(plan.first?["program"] as? String == "penumbra")
            #expect(plan.count { $0["event"] as? String == "plan" } == 3)
            #expect(plan.last?["toRender"] as? Int == 3)
        }
        #expect(farm.outputs().isEmpty && farm.outputs(in: "else").isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: farm.serviceFolder.manifests).isEmpty)
        #expect(try await farm.penumbra("queue", "--all", "--json").lines.isEmpty)
        try await farm.end()
    }

    @Test(arguments: [nil, "shown"])
    func `a plan of a text is the plan of the job that it would be`(name: String?) async throws {
        try await farm.start()
        let request = SubmitRequest(.text(try farm.read("night.yaml"), folder: farm.path, name: name))
        let body = try StrictJSON.encode(request)
        _ = try farm.client.send(ClientRequest(.post, "/jobs", body: body))
        #expect(try await farm.waitForEnd(of: 1).state == .done)
        let plan = try lines(try answer(.post, "/plan", String(decoding: body, as: UTF8.self)))
        let frames = plan.filter { $0["event"] as? String == "plan" }
        #expect(frames.count == 3)
        #expect(!"\(frames)".contains("published by the job"), "\(frames)")
        #expect(plan.last?["skipped"] as? Int == 3 && plan.last?["kept"] as? Int == 0, "\(plan.last ?? [:])")
        try await farm.end()
    }

    @Test func `a plan says that the outputs could not be written`() async throws {
        try await farm.start()
        try Data("a letter".utf8).write(to: URL(filePath: "\(farm.path)/out"))
        let plan = try lines(try answer(.post, "/plan", #"{"manifest": "\#(farm.path)/night.yaml"}"#))
        #expect(plan.count { $0["event"] as? String == "plan" } == 3)
        let problem = try #require(plan.first { $0["event"] as? String == "problem" })
        #expect((problem["message"] as? String)?.contains("/out: cannot create the folder: Not a directory") == true)
        #expect(plan.last?["toRender"] as? Int == 3 && plan.last?["exitCode"] as? Int == 1)
        try await farm.end()
    }

    @Test func `what is wrong with a manifest is told before a plan is made`() async throws {
        try await farm.start()
        try farm.write("job: x\ninput: y\n", to: "wrong.yaml")
        for path in ["/check", "/plan"] {
            let words = try refusal(.post, path, #"{"manifest": "\#(farm.path)/wrong.yaml"}"#)
            #expect(words.contains("the job has no key 'input'"), "\(words)")
            #expect(
                try refusal(.post, path, #"{"manifest": "/no/such.yaml"}"#).contains(
                    "/no/such.yaml: the manifest cannot be read"))
        }
        try FileManager.default.removeItem(atPath: farm.folder.file("photos"))
        let words = try refusal(.post, "/plan", #"{"manifest": "\#(farm.path)/night.yaml"}"#)
        #expect(words.contains("photos"), "\(words)")
        try await farm.end()
    }

    @Test func `filters, formats and the schema are those of the commands`() async throws {
        try await farm.start()
        func json(_ text: String) throws -> NSObject? {
            try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSObject
        }
        #expect(try json(answer(.get, "/filters")) == json(try await farm.penumbra("filters", "--json").output))
        #expect(try json(answer(.get, "/formats")) == json(try await farm.penumbra("formats", "--json").output))
        #expect(try json(answer(.get, "/schema")) == json(try await farm.penumbra("schema").output))
        try await farm.end()
    }

    @Test func `workers are told with what they do and their processes`() async throws {
        let gate = try await Gate(in: farm)
        try farm.writeManifest(filters: "[\(Gate.filter)]", more: "timeout: 1h\n")
        try await farm.start()
        try await farm.penumbra("submit", "night.yaml")
        let run = try #require(try await farm.wait(for: 1) { $0.state == .running }.run)
        struct Answer: Decodable {
            struct Run: Decodable {
                let run: String
                let slots: [Slot]
                let processes: [Process]
            }
            struct Slot: Decodable { let task: String }
            struct Process: Decodable {
                let pid: Int
                let resident: Int?
            }
            let runs: [Run]
        }
        var found: Answer.Run?
        try await farm.wait {
            found = try farm.client.call(ClientRequest(.get, "/workers"), as: Answer.self).runs.first
            return found?.slots.count == 2
        }
        let working = try #require(found)
        #expect(working.run == run)
        #expect(working.slots.allSatisfy { $0.task.contains(/\/(probe|frame|tile-\d+)$/) }, "\(working.slots)")
        #expect(working.processes.count >= 2)
        #expect(working.processes.allSatisfy { $0.resident ?? 0 > 1 << 20 })
        try gate.open(for: 10)
        try await farm.waitForEnd(of: 1)
        #expect(try answer(.get, "/workers") == #"{"runs":[]}"#)
        try await farm.end()
    }

    @Test func `failed frames are grouped, of one run and of all`() async throws {
        for name in ["a", "b"] { try farm.write("not a picture", to: "photos/\(name).png") }
        try await farm.start()
        #expect(try answer(.get, "/errors") == #"{"errors":[],"frames":0,"repaired":0,"runs":[],"total":0}"#)
        try await farm.penumbra("submit", "night.yaml", "--wait", "--quiet")
        let run = try #require(try farm.job(1).run)
        let errors = try answer(.get, "/runs/\(run)/errors")
        #expect(errors.contains(#""cause":"broken or unreadable picture","count":2,"#), "\(errors)")
        #expect(
            errors.replacing(/"started":"[^"]+"/, with: "STARTED").hasSuffix(
                #""frames":2,"repaired":0,"runs":[{"job":1,"manifest":"\#(farm.path)/night.yaml","name":"night","run":"\#(run)",STARTED}],"#
                    + #""total":1}"#), "\(errors)")
        #expect(try answer(.get, "/errors") == errors)
        #expect(try refusal(.get, "/runs/none/errors").contains("no run is called 'none'"))
        try await farm.end()
    }

    private struct Errors: Decodable {
        struct Group: Decodable {
            let id: String
            let count: Int
            let repaired: Int
        }
        struct Run: Decodable {
            struct Obstacle: Decodable { let detail: String }
            let run: String
            let job: Int?
            let obstacle: Obstacle?
        }
        let errors: [Group]
        let repaired: Int
        let runs: [Run]
    }

    @Test func `the line of a group leaves out exactly its pictures`() async throws {
        let odd = [
            "a b: #1.png", "star*.png", "what?.png", "set[1].png", "choice{a,b}.png", "}{.png", "back\\slash.png",
            "-dash.png", "!bang.png", "quote\"s.png", "new\nline.png", "true", "\u{202e}gnp.png",
        ]
        for name in odd { try farm.write("not a picture", to: "photos/\(name)") }
        // Each of them would be left out by a pattern that is not escaped.
        for name in ["starlight.png", "whats.png", "set1.png", "choicea.png", "choiceb.png"] {
            try farm.write("not a picture of another kind", to: "photos/\(name)")
        }
        try await farm.start()
        try await farm.penumbra("submit", "night.yaml", "--wait", "--quiet")
        let run = try #require(try farm.job(1).run)
        // All are of one group. Those that would match by mistake are pictures from now on.
        try farm.draw(3)
        let photo = try Data(contentsOf: URL(filePath: farm.folder.file("photos/1.png")))
        for name in ["starlight.png", "whats.png", "set1.png", "choicea.png", "choiceb.png"] {
            try photo.write(to: URL(filePath: farm.folder.file("photos/\(name)")))
        }
        try await farm.penumbra("submit", "night.yaml", "--wait", "--quiet")
        let errors = try farm.client.call(ClientRequest(.get, "/runs/\(run)/errors"), as: Errors.self)
        #expect(errors.errors.map(\.count).reduce(0, +) == odd.count + 5 && errors.repaired == 5)
        struct Exclusion: Decodable {
            let line: String
            let pictures: Int
            let unnamed: [String]
        }
        // Messages show odd characters in their own way, so these pictures may be groups of their own.
        let exclusions = try errors.errors.map { group in
            try farm.client.call(
                ClientRequest(.get, "/runs/\(run)/errors/\(group.id)/exclude"), as: Exclusion.self)
        }
        #expect(exclusions.map(\.pictures).reduce(0, +) == odd.count)
        #expect(
            exclusions.allSatisfy { $0.unnamed.isEmpty && $0.line.hasPrefix("exclude: [") && $0.line.hasSuffix("]") })
        let entries = exclusions.map { $0.line.dropFirst("exclude: [".count).dropLast() }.joined(separator: ", ")
        try farm.write(try farm.read("night.yaml") + "exclude: [\(entries)]\n", to: "night.yaml")
        let plan = try lines(try answer(.post, "/plan", #"{"manifest": "\#(farm.path)/night.yaml"}"#))
        let inputs = plan.filter { $0["event"] as? String == "plan" }.compactMap { $0["input"] as? String }
        #expect(inputs.count == 8, "\(inputs)")
        #expect(try refusal(.get, "/runs/\(run)/errors/none/exclude").contains("no failed pictures of this group"))
        try await farm.end()
    }

    @Test func `errors say which runs can be retried, and which frames a later job has repaired`() async throws {
        try farm.write("not a picture", to: "photos/a.png")
        try await farm.penumbra("run", "night.yaml", "--run", "by-hand", "--state-dir", farm.stateFolder)
        try await farm.start()
        try await farm.penumbra("submit", "night.yaml", "--force", "--wait", "--quiet")
        let run = try #require(try farm.job(1).run)
        func errors() throws -> Errors { try farm.client.call(ClientRequest(.get, "/errors"), as: Errors.self) }
        let before = try errors()
        #expect(before.runs.map(\.run) == ["by-hand", run] && before.runs.map(\.job) == [nil, 1])
        #expect(before.runs.map { $0.obstacle?.detail } == ["by-hand: no job of the service has this run", nil])
        #expect(before.errors.map(\.count) == [2] && before.repaired == 0)
        let failed = try lines(answer(.get, "/runs/\(run)/frames?state=failed")).first
        let number = try #require((failed?["frames"] as? [[String: Any]])?.first?["frame"] as? Int)
        #expect(try !answer(.get, "/runs/\(run)/frames/\(number)").contains("repaired"))
        try FileManager.default.removeItem(atPath: farm.folder.file("photos/a.png"))
        try FileManager.default.copyItem(
            atPath: farm.folder.file("photos/1.png"), toPath: farm.folder.file("photos/a.png"))
        _ = try answer(.post, "/runs/\(run)/retry")
        try await farm.waitForEnd(of: 2)
        let after = try errors()
        #expect(after.runs.map { $0.obstacle?.detail }.last == "job 1 was retried as job 2")
        #expect(after.errors.map(\.repaired) == [2] && after.repaired == 2)
        let frame = try answer(.get, "/runs/\(run)/frames/\(number)")
        let repair = try #require(try farm.job(2).run)
        #expect(frame.contains(#""repaired":{"job":2,"run":"\#(repair)"}"#), "\(frame)")
        #expect(frame.contains(#""explanation":"Penumbra cannot read this file as a picture"#), "\(frame)")
        try await farm.end()
    }

    @Test func `outputs of a run are verified, and damage is told`() async throws {
        try await farm.start()
        try await farm.penumbra("submit", "night.yaml", "--wait", "--quiet")
        let run = try #require(try farm.job(1).run)
        func states() throws -> [String] {
            try lines(try answer(.post, "/runs/\(run)/verify")).filter { $0["event"] as? String == "verified" }
                .compactMap {
                    $0["state"] as? String
                }
        }
        #expect(try states() == Array(repeating: "as published", count: 3))
        try farm.write("damaged", to: "out/1.png")
        #expect(try states().count { $0 == "as published" } == 2)
        let sample = try lines(try answer(.post, "/runs/\(run)/verify", #"{"sample": 1}"#))
        #expect(sample.count { $0["event"] as? String == "verified" } == 1)
        #expect(try refusal(.post, "/runs/\(run)/verify", #"{"sample": 0}"#).contains("0 is no number of outputs"))
        try await farm.end()
    }

    @Test func `a run that was begun by hand is retried by hand`() async throws {
        try farm.write("not a picture", to: "photos/broken.png")
        #expect(
            try await farm.penumbra("run", "night.yaml", "--run", "by-hand", "--state-dir", farm.stateFolder).code == 1)
        try await farm.start()
        #expect(
            try refusal(.post, "/runs/by-hand/retry") == """
                by-hand: no job of the service has this run
                   = 'penumbra retry by-hand' renders its failed frames again
                """)
        try await farm.penumbra("submit", "night.yaml", "--force", "--wait", "--quiet")
        let run = try #require(try farm.job(1).run)
        #expect(try answer(.post, "/runs/\(run)/retry").contains(#""retry_of":1"#))
        try await farm.end()
    }

    @Test func `changes are told to administrators, the newest first`() async throws {
        try await farm.start()
        try await farm.penumbra("submit", "night.yaml", "--hold")
        try await farm.penumbra("queue", "cancel", "1")
        let first = try answer(.get, "/audit?limit=1")
        #expect(first.contains(#""action":"cancel""#) && first.contains(#""before":2"#), "\(first)")
        #expect(first.contains(#""detail":"night: held to cancelled""#), "\(first)")
        let second = try answer(.get, "/audit?before=2")
        #expect(second.contains(#""action":"submit""#) && !second.contains("before"), "\(second)")
        try await farm.penumbra("submit", "night.yaml", "--hold", "--label", "show=night")
        try await farm.penumbra("queue", "priority", "2", "--to", "90")
        try await farm.penumbra("queue", "label", "--set", "show=moon", "--filter", "label=show", "--expect", "1")
        let changes = try answer(.get, "/audit?limit=2")
        #expect(changes.contains(#""detail":"night: priority 50 to 90""#), "\(changes)")
        #expect(changes.contains(#""detail":"set_label show: 'moon': 1 changed (2)""#), "\(changes)")
        try await farm.end()
    }

    @Test func `a token with folders gets no plans, no checks of outputs and no runs of others`() async throws {
        try await farm.start("--web-socket")
        try await farm.penumbra("submit", "night.yaml", "--wait", "--quiet")
        let run = try #require(try farm.job(1).run)
        let created = try answer(
            .post, "/tokens", #"{"name": "bot", "scope": "submit", "roots": ["\#(farm.path)/photos"]}"#)
        let token = try #require(try lines(created).first?["token"] as? String)
        func ask(_ method: String, _ path: String) async throws -> String {
            try await farm.run(
                "/usr/bin/curl",
                [
                    "-sS", "--unix-socket", farm.serviceFolder.webSocket, "-H", "Authorization: Bearer \(token)", "-X",
                    method,
                    "http://localhost/api/v1\(path)",
                ]
            ).output
        }
        for path in ["/plan", "/runs/\(run)/verify"] {
            let refused = try await ask("POST", path)
            #expect(refused.contains(#""type":"/problems/folders""#), "\(path): \(refused)")
        }
        for path in ["/runs/\(run)/errors", "/events?run=\(run)"] {
            #expect(try await ask("GET", path).contains(#""type":"/problems/no-run""#), "\(path)")
        }
        #expect(try await ask("GET", "/events?job=1").contains(#""type":"/problems/no-job""#))
        // Jobs of others are not counted, either.
        #expect(try await ask("GET", "/status").contains(#""done":0,"#))
        #expect(try answer(.get, "/status").contains(#""done":1,"#))
        #expect(try await ask("GET", "/errors") == #"{"errors":[],"frames":0,"repaired":0,"runs":[],"total":0}"#)
        #expect(try await ask("GET", "/audit").contains(#""type":"/problems/scope""#))
        try await farm.end()
    }
}
