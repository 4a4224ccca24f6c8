import Foundation
import Queueing
import ServiceAPI
import ServiceClient
import TestSupport
import Testing

/// What followers of a real service hear of real runs.
@Suite(.serialized) struct EventTests {
    /// An event's data, as far as these tests read it.
    private struct Told: Decodable {
        struct Frames: Decodable {
            let run: String
            let counts: [String: Int]
            let changes: [Change]?
        }

        /// `[first, count, letter]`
        struct Change: Decodable {
            let first: Int
            let count: Int
            let letter: String

            init(from decoder: any Decoder) throws {
                var values = try decoder.unkeyedContainer()
                first = try values.decode(Int.self)
                count = try values.decode(Int.self)
                letter = try values.decode(String.self)
            }
        }

        struct Live: Decodable { let frames: Int }

        let id: Int?
        let run: String?
        let state: String?
        let live: Live?
        let runs: [Frames]?

        init(_ event: ServerEvent) throws { self = try JSONDecoder().decode(Told.self, from: Data(event.data.utf8)) }
    }

    private func map(_ run: String, _ client: APIClient) throws -> [Character] {
        struct Map: Decodable { let states: String }
        return Array(try client.call(ClientRequest(.get, "/runs/\(run)/map"), as: Map.self).states)
    }

    /// What a follower of a run knows who does what docs/reference/events.md says: he reads the map when he is told to, and makes the changes
    /// otherwise, until the run has ended.
    private struct FollowedRun {
        var letters: [Character] = []
        var counts: [String: Int] = [:]
        var hasLive = false
    }

    private func follow(
        _ run: String, _ client: APIClient, _ act: (FollowedRun) async throws -> Void
    ) async throws -> FollowedRun {
        var followed = FollowedRun()
        for try await event in client.events("/events?run=\(run)") {
            let told = try Told(event)
            if event.name == "run" {
                #expect(told.run == run)
                followed.hasLive = followed.hasLive || told.live?.frames == 3
                if told.state == "ended" { break }
            }
            for frames in told.runs ?? [] {
                #expect(frames.run == run)
                followed.counts = frames.counts
                guard let changes = frames.changes else {
                    followed.letters = try map(run, client)
                    continue
                }
                for change in changes {
                    for index in change.first..<change.first + change.count {
                        followed.letters[index] = Character(change.letter)
                    }
                }
                #expect(frames.counts["published"] == followed.letters.count { $0 == "p" })
            }
            try await act(followed)
        }
        return followed
    }

    @Test func `a follower of a run makes its whole map from events, and hears of its end after that`() async throws {
        let farm = try Farm()
        let gate = try await Gate(in: farm)
        try farm.draw(3)
        try farm.writeManifest(filters: "[\(Gate.filter)]", more: "timeout: 1h\n")
        try await farm.start()
        try await farm.penumbra("submit", "night.yaml")
        let run = try #require(try await farm.wait(for: 1) { $0.state == .running }.run)
        let client = try farm.client
        var opened = 0
        let followed = try await follow(run, client) { followed in
            // A picture, and when it is there, the others.
            if opened == 0, followed.letters.count == 3 {
                try gate.open(for: 1)
                opened = 1
            } else if opened == 1, followed.letters.contains("p") {
                try gate.open(for: 10)
                opened = 11
            }
        }
        #expect(followed.hasLive)
        #expect(opened == 11)
        #expect(followed.letters == ["p", "p", "p"])
        #expect(followed.counts["published"] == 3)
        #expect(try await farm.waitForEnd(of: 1).state == .done)
        #expect(try map(run, client) == ["p", "p", "p"])
        try await farm.end()
    }

    @Test func `a follower of a run that is cancelled knows of each frame that it was left`() async throws {
        let farm = try Farm()
        let gate = try await Gate(in: farm)
        // More than go through before the run reads that it is cancelled.
        try farm.draw(300)
        try farm.writeManifest(filters: "[\(Gate.filter)]", more: "timeout: 1h\nshard: frame\n")
        try await farm.start()
        try await farm.penumbra("submit", "night.yaml")
        let run = try #require(try await farm.wait(for: 1) { $0.state == .running }.run)
        let client = try farm.client
        var isCancelled = false
        let followed = try await follow(run, client) { followed in
            guard followed.letters.count == 300, !isCancelled else { return }
            isCancelled = true
            _ = try client.send(ClientRequest(.post, "/jobs/1/cancel"))
            // The pictures that workers have go through. The events wait meanwhile.
            try await gate.open(untilEndOf: 1, in: farm)
        }
        let letters = try map(run, client)
        #expect(letters.contains("l"))
        #expect(followed.letters == letters)
        #expect(followed.counts["left"] == letters.count { $0 == "l" })
        try await farm.end()
    }

    @Test func `a follower of one job hears of no other, and first of events that are lost`() async throws {
        let farm = try Farm()
        try farm.draw(1)
        try farm.writeManifest()
        try await farm.start()
        for _ in 0..<2 { try await farm.penumbra("submit", "night.yaml", "--hold") }
        let client = try farm.client
        var events: [String] = []
        for try await event in client.events("/events?job=2", after: "another-17") {
            events.append(event.name)
            guard event.name == "reset" else {
                #expect(try Told(event).id == 2)
                break
            }
            for job in 1...2 {
                _ = try client.send(ClientRequest(.patch, "/jobs/\(job)", body: Array(#"{"priority": 70}"#.utf8)))
            }
        }
        #expect(events == ["reset", "job"])
        try await farm.end()
    }
}
