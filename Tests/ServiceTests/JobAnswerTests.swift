import Foundation
import Queueing
import ServiceAPI
import TestSupport
import Testing

/// What a real service answers about jobs, to a program that sends plain HTTP.
@Suite(.serialized) struct JobAnswerTests {
    let farm: Farm

    init() throws {
        farm = try Farm()
        try farm.draw(2)
        try farm.writeManifest()
    }

    private struct Answer {
        let status: Int
        let headers: [String: String]
        let body: String
    }

    private func send(
        _ method: String, _ path: String, _ body: String? = nil, headers: [String] = []
    ) async throws -> Answer {
        // A stream of events would never end.
        var arguments = [
            "-sS", "-i", "--max-time", "60", "--unix-socket", farm.serviceFolder.controlSocket, "-X", method,
        ]
        arguments += headers.flatMap { ["-H", $0] } + (body.map { ["-d", $0] } ?? [])
        let result = try await farm.run("/usr/bin/curl", arguments + ["http://localhost/api/v1\(path)"])
        let parts = result.output.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        let lines = (parts.first ?? "").split(separator: "\r\n")
        let status = try #require(lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) }, "\(result)")
        let fields = lines.dropFirst().map { $0.split(separator: ":", maxSplits: 1) }.filter { $0.count == 2 }
        return Answer(
            status: status,
            headers: Dictionary(fields.map { ($0[0].lowercased(), $0[1].trimmingCharacters(in: .whitespaces)) }) { $1 },
            body: parts.count == 2 ? String(parts[1]) : "")
    }

    private func job(_ answer: Answer) throws -> QueueEntry {
        try JSONDecoder().decode(QueueEntry.self, from: Data(answer.body.utf8))
    }

    private func submit(_ more: String = "") async throws -> Answer {
        try await send("POST", "/jobs", #"{"manifest": "\#(farm.path)/night.yaml"\#(more)}"#)
    }

    @Test func `a waiting job is 304 until its place or its reason changes, and can be changed with any of its tags`()
        async throws
    {
        try await farm.start()
        try await farm.penumbra("queue", "drain")
        #expect(try await submit().status == 201)
        #expect(try await submit().status == 201)
        let first = try await send("GET", "/jobs/2")
        #expect(try job(first).position == 2)
        let tag = try #require(first.headers["etag"])
        let same = try await send("GET", "/jobs/2", headers: ["If-None-Match: \(tag)"])
        #expect(same.status == 304 && same.body.isEmpty)
        #expect(try await send("POST", "/jobs/1/cancel").status == 200)
        let moved = try await send("GET", "/jobs/2", headers: ["If-None-Match: \(tag)"])
        #expect(moved.status == 200)
        #expect(try job(moved).position == 1)
        #expect(moved.headers["etag"] != tag)
        // Nobody has changed the job itself.
        #expect(
            try await send("PATCH", "/jobs/2", #"{"priority": 60}"#, headers: ["If-Match: \(tag)"]).status == 200)
        #expect(
            try await send("PATCH", "/jobs/2", #"{"priority": 70}"#, headers: ["If-Match: \(tag)"]).status == 412)
        try await farm.end()
    }

    @Test func `a job that has ended says when it was started`() async throws {
        try await farm.start()
        let submitted = try job(try await submit())
        #expect(submitted.started == nil)
        let ended = try await farm.waitForEnd(of: 1)
        let (started, end) = (try #require(ended.started), try #require(ended.ended))
        #expect(submitted.submitted <= started && started <= end)
        #expect(try await farm.penumbra("queue", "show", "1").output.contains("\nstarted"))
        try await farm.end()
    }

    @Test func `a change with a parameter that nobody knows changes nothing`() async throws {
        try await farm.start()
        try await farm.penumbra("queue", "drain")
        let refused = try await send("POST", "/jobs?hold=true", #"{"manifest": "\#(farm.path)/night.yaml"}"#)
        #expect(refused.status == 422)
        #expect(
            refused.body.contains(
                #""detail":"there is no parameter 'hold'","remedy":"This address has no parameters.""#))
        #expect(try await submit().status == 201)
        #expect(try await send("POST", "/jobs/1/cancel?dry_run=true").status == 422)
        #expect(try job(try await send("GET", "/jobs/1")).state == .waiting)
        try await farm.end()
    }

    @Test func `a retry of many jobs that is repeated does nothing twice`() async throws {
        try await farm.start()
        try await farm.penumbra("queue", "drain")
        #expect(try await submit(#", "labels": {"show": "night"}"#).status == 201)
        #expect(try await send("POST", "/jobs/1/cancel").status == 200)
        let action = #"{"action": "retry", "filter": "label=show=n*&state=cancelled", "expect": 1}"#
        #expect(try await send("POST", "/jobs/actions", action).body == #"{"changed":[],"refused":[],"submitted":[2]}"#)
        #expect(
            try await send("POST", "/jobs/actions", action).body
                == #"{"changed":[],"refused":[{"detail":"job 1 was retried as job 2","job":1,"#
                + #""remedy":"retry job 2 if it does not succeed"}],"submitted":[]}"#)
        // Nobody relies on a key that would be ignored.
        let keyed = try await send("POST", "/jobs/actions", action, headers: ["Idempotency-Key: again"])
        #expect(keyed.status == 422 && keyed.body.contains("Idempotency-Key: this address takes none"))
        try await farm.end()
    }

    @Test func `what does not exist is 404, and not an endless silence or an empty list`() async throws {
        try await farm.start()
        #expect(try await submit().status == 201)
        let run = try #require(try await farm.waitForEnd(of: 1).run)
        for path in [
            "/events?job=99", "/events?run=night-7", "/runs/\(run)/frames/0/attempts", "/runs/\(run)/frames/3/attempts",
        ] {
            #expect(try await send("GET", path).status == 404, "\(path)")
        }
        #expect(try await send("GET", "/runs/\(run)/frames/2/attempts").status == 200)
        try await farm.end()
    }

    @Test func `a schedule with a wrong manifest is refused when it is made, and not at night`() async throws {
        try await farm.start()
        func schedule(_ name: String) -> String {
            #"{"name": "nightly", "cron": "0 2 * * *", "submit": {"manifest": "\#(farm.path)/\#(name)"}}"#
        }
        let missing = try await send("POST", "/schedules", schedule("nihgt.yaml"))
        #expect(missing.status == 422 && missing.body.contains(#""type":"/problems/no-manifest""#))
        try farm.write("job: x\ninput: y\n", to: "wrong.yaml")
        let wrong = try await send("POST", "/schedules", schedule("wrong.yaml"))
        #expect(wrong.status == 422 && wrong.body.contains(#""errors":["#))
        #expect(try await send("GET", "/schedules").body == #"{"schedules":[],"unreadable":[]}"#)
        #expect(try await send("POST", "/schedules", schedule("night.yaml")).status == 201)
        try await farm.end()
    }

    @Test func `a job that waits for a job that does not exist is refused as a wrong request`() async throws {
        try await farm.start()
        let unknown = try await submit(#", "after": [99999]"#)
        #expect(unknown.status == 422)
        #expect(unknown.body.contains(#""detail":"after: there is no job 99999""#))
        let twice = try await submit(#", "after": [1, 1]"#)
        #expect(twice.status == 422 && twice.body.contains(#""detail":"after: job 1 is there twice""#))
        try await farm.end()
    }
}
