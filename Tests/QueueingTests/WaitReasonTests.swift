import FoundationEssentials
import Queueing
import Testing

@Suite struct WaitReasonTests {
    private func words(
        _ jobs: [Submission], _ limits: Limits = .usual, wants: [JobID: Int] = [:], at now: WallTime = .noon
    ) -> [Int: String] {
        let standings = JobQueue(jobs).standings(limits, wants: wants, at: now)
        return Dictionary(uniqueKeysWithValues: standings.map { ($0.key.number, $0.value.reason.words) })
    }

    @Test func `a job says which jobs it needs`() throws {
        let jobs = try (1...7).map { try Submission.running(JobID($0)) }
        func needing(_ count: Int) throws -> String? {
            words(jobs + [try .make(20, needs: (1...count).map { Need(JobID($0)) })])[20]
        }
        #expect(try needing(1) == "needs job 1")
        #expect(try needing(2) == "needs jobs 1 and 2")
        #expect(try needing(3) == "needs jobs 1, 2 and 3")
        #expect(try needing(7) == "needs jobs 1, 2, 3, 4, 5 and 2 more")
    }

    @Test func `a job whose need failed is skipped soon`() throws {
        #expect(words([try .ended(1, code: 1), try .make(2, needs: [Need(1)])]) == [2: "job 1 did not succeed"])
    }

    @Test func `a job says what time it waits for`() throws {
        #expect(
            words([try .make(1, notBefore: .noon(plus: 90))]) == [1: "not before 2026-11-25T12:01:30Z"])
    }

    @Test func `a job says which lock it waits for, and what went wrong`() throws {
        #expect(
            words([
                try .ended(1, code: 75, text: "job night in /srv/a is running"), try .ended(2, code: 75),
                try .ended(3, code: 74, text: "/srv/a: no space left"), try .ended(4, code: nil),
            ]) == [
                1: "job night in /srv/a is running; try again at 2026-11-25T12:00:02Z",
                2: "another run has its lock; try again at 2026-11-25T12:00:02Z",
                3: "/srv/a: no space left; try again at 2026-11-25T12:00:30Z",
                4: "its process was gone; try again at 2026-11-25T12:00:05Z",
            ])
    }

    @Test func `a job says whether it waits for its turn, for workers or for an end of drain`() throws {
        let jobs = [try Submission.running(1, priority: 50), try .make(2, priority: 50), try .make(3, priority: 10)]
        let busy: [JobID: Int] = [1: 100]
        #expect(words(jobs, wants: busy) == [2: "starts now", 3: "workers in use by jobs 1 and 2"])
        #expect(
            words(jobs, Limits(workers: 8, maxRuns: 1), wants: busy)
                == [2: "1 run is open (max_runs)", 3: "1 run is open (max_runs)"])
        #expect(
            words(jobs, Limits(workers: 8, maxRuns: 2), wants: busy)
                == [2: "starts now", 3: "2 runs are open (max_runs)"])
        #expect(
            words(jobs, Limits(workers: 8, isDrained: true), wants: busy)
                == [2: "the service is drained", 3: "the service is drained"])
        #expect(words([jobs[1]], Limits(workers: 0)) == [2: "no workers"])
        var obstructed = Limits.usual
        obstructed.obstacle = "a.yaml:19:1: unknown key"
        #expect(
            words([jobs[1]], obstructed) == [2: "until the config file is corrected: a.yaml:19:1: unknown key"])
    }

    @Test func `a job says which one has a run of its manifest`() throws {
        let jobs = [
            try Submission.running(1, manifest: .shared), try .make(2, manifest: .shared), try .make(3),
            try .make(4, manifest: .own(of: 3)),
        ]
        #expect(
            words(jobs) == [
                2: "waits for job 1, which runs the same manifest", 3: "starts now",
                4: "waits for job 3, which runs the same manifest",
            ])
    }

    @Test func `only waiting jobs wait, and each has its place`() throws {
        let queue = JobQueue([
            try .make(1), try .make(2, isHeld: true), try .running(3), try .make(4, priority: 90),
            try .make(5, priority: 50, needs: [Need(4)]),
        ])
        let standings = queue.standings(.usual, at: .noon)
        #expect(standings.mapValues(\.position) == [4: 1, 1: 2, 5: 3])
    }

    @Test(arguments: [
        (WaitReason.needs([17, 18]), #"{"jobs":[17,18],"kind":"needs","words":"needs jobs 17 and 18"}"#),
        (.skippedSoon(because: 3), #"{"jobs":[3],"kind":"skipped_soon","words":"job 3 did not succeed"}"#),
        (
            .notBefore(.noon),
            #"{"kind":"not_before","time":"2026-11-25T12:00:00Z","words":"not before 2026-11-25T12:00:00Z"}"#
        ),
        (
            .lock(text: "x", again: .noon),
            #"{"kind":"lock","text":"x","time":"2026-11-25T12:00:00Z","words":"x; try again at 2026-11-25T12:00:00Z"}"#
        ),
        (
            .backoff(text: "", again: .noon),
            #"{"kind":"backoff","text":"","time":"2026-11-25T12:00:00Z","words":"its process was gone; try again at 2026-11-25T12:00:00Z"}"#
        ),
        (.config("x"), #"{"kind":"config","text":"x","words":"until the config file is corrected: x"}"#),
        (.drained, #"{"kind":"drained","words":"the service is drained"}"#),
        (.startsNow, #"{"kind":"starts_now","words":"starts now"}"#),
        (
            .sameManifest(3),
            #"{"jobs":[3],"kind":"same_manifest","words":"waits for job 3, which runs the same manifest"}"#
        ),
        (.maxRuns(4), #"{"count":4,"kind":"max_runs","words":"4 runs are open (max_runs)"}"#),
        (.workers(by: [3]), #"{"jobs":[3],"kind":"workers","words":"workers in use by job 3"}"#),
        (.workers(by: []), #"{"kind":"workers","words":"no workers"}"#),
    ])
    func `a reason has a form in JSON, and can be read again`(reason: WaitReason, json: String) throws {
        #expect(try StoredForm.text(of: reason) == json)
        #expect(try JSONDecoder().decode(WaitReason.self, from: Data(json.utf8)) == reason)
    }
}
