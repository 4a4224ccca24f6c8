import Foundation
import JobModel
import JobStorage
import Runs
import Testing

/// A stored request of a run.
@Suite struct RunRequestTests {
    private func whole() -> RunRequest {
        var request = RunRequest(
            manifests: [
                RunRequest.Manifest(path: "job.yaml"), RunRequest.Manifest(path: "/site/upload.yaml", text: "job: x\n"),
            ], folder: "/home/photos")
        request.overrides = ["save.quality=90"]
        (request.only, request.limit, request.filesFrom) = (["a*"], 7, "list.txt")
        (request.inputs, request.leftOf) = (["/in/1.png"], "20261125T000000Z-abcdef")
        request.repair = RunRequest.Repair(
            job: "night",
            outputs: [.init(path: "/out/1.png", found: Digest(high: 1, low: 2)), .init(path: "/out/2.png", found: nil)])
        (request.isForced, request.allowsEmpty, request.allowsGone, request.isStrict) = (true, true, true, true)
        request.triesBroken = true
        (request.orphans, request.lockWait, request.deadline) = (.allRemoved, 30, 3000.5)
        (request.isWatching, request.isDetached) = (true, true)
        (request.engine, request.slurmArguments, request.workers) = (.slurm, ["--constraint=fast"], 3)
        (request.configFile, request.stateFolder, request.scratch) = ("c.yaml", "/state", "/scratch")
        (request.reportPage, request.metricsFile) = ("report.html", "metrics.prom")
        (request.isQuiet, request.printsJSON) = (true, true)
        return request
    }

    @Test func `every value comes back from its text`() throws {
        #expect(RunRequest(text: whole().text) == whole())
        // A new value has to be read, too.
        let stored = try #require(
            try JSONSerialization.jsonObject(with: Data(whole().text.utf8)) as? [String: Any])
        #expect(stored.count == Mirror(reflecting: whole()).children.count - 1)
    }

    @Test func `the same request has the same text`() {
        #expect(whole().text == whole().text)
        var other = whole()
        other.limit = 8
        #expect(other.text != whole().text)
    }

    @Test func `a request that tries no broken pictures again has the text that earlier versions have stored`() {
        let request = RunRequest(manifests: [RunRequest.Manifest(path: "job.yaml")], folder: "/in")
        #expect(!request.triesBroken && !request.text.contains("roken"))
        var other = request
        other.triesBroken = true
        #expect(other.text.contains(#""retryBroken":true"#))
        other.triesBroken = false
        #expect(other.text == request.text)
    }

    @Test func `what is not there has its default`() throws {
        let request = try #require(RunRequest(text: #"{"version":2,"folder":"/in","manifests":[{"path":"job.yaml"}]}"#))
        #expect(request == RunRequest(manifests: [RunRequest.Manifest(path: "job.yaml")], folder: "/in"))
        #expect(!request.isRetry && request.isKnown)
    }

    /// The form of Penumbra 0.1.
    @Test func `a command line of version 1 is read`() throws {
        let request = try #require(
            RunRequest(
                text:
                    #"{"arguments":["job.yaml","--limit","3"],"folder":"/home/photos","inputs":["/in/1.png"],"leftOf":"x"}"#
            ))
        #expect(request.version == 1)
        #expect(request.arguments == ["job.yaml", "--limit", "3"])
        #expect(request.folder == "/home/photos")
        #expect(request.inputs == ["/in/1.png"])
        #expect(request.leftOf == "x")
        #expect(request.isRetry && request.isKnown)
    }

    @Test func `a request of a later version is known as one`() {
        #expect(RunRequest(text: #"{"version":3,"folder":"/","manifests":[],"shape":"round"}"#)?.isKnown == false)
        #expect(RunRequest(text: #"{"version":2,"folder":7}"#) == nil)
        #expect(RunRequest(text: "no JSON") == nil)
    }
}

/// Runs that render everything again, in parts that end at deadlines.
@Suite struct FullRerunTests {
    private let rerun = FullRerun(only: ["a*"], limit: nil, list: nil)
    private let day: Int64 = 86_400 * 1_000_000_000

    private func run(_ outcome: RunOutcome, ended: Int64, of rerun: FullRerun?) -> RunRecord {
        var counts = RunCounts()
        counts.rerun = rerun
        return RunRecord(
            name: "run-\(ended)", job: "night", manifest: "/night.yaml", epoch: 1,
            state: .ended(at: ended, exitCode: outcome.number, reason: "x"), started: ended - 5, workers: 2,
            request: "{}",
            counts: counts)
    }

    @Test func `it began with the first of the parts that deadlines have ended`() {
        let runs = [
            run(.workLeft, ended: 300, of: rerun), run(.storage, ended: 200, of: rerun),
            run(.workLeft, ended: 100, of: rerun),
            run(.done, ended: 50, of: rerun), run(.workLeft, ended: 20, of: rerun),
        ]
        #expect(rerun.begin(in: runs, now: 400) == 95)
        #expect(rerun.begin(in: [], now: 400) == nil)
    }

    @Test(arguments: [RunOutcome.done, .someFailed, .interrupted])
    func `nothing is left to continue after a run that came to its end, or that a person ended`(outcome: RunOutcome) {
        let runs = [run(outcome, ended: 300, of: rerun), run(.workLeft, ended: 100, of: rerun)]
        #expect(rerun.begin(in: runs, now: 400) == nil)
    }

    @Test func `runs of other frames are no parts of it`() {
        let other = FullRerun(only: [], limit: nil, list: nil)
        #expect(
            rerun.begin(in: [run(.workLeft, ended: 300, of: other), run(.workLeft, ended: 200, of: nil)], now: 400)
                == nil)
    }

    @Test func `a part that is older than a week is forgotten`() {
        #expect(rerun.begin(in: [run(.workLeft, ended: 300, of: rerun)], now: 300 + 7 * day - 1) == 295)
        #expect(rerun.begin(in: [run(.workLeft, ended: 300, of: rerun)], now: 300 + 7 * day) == nil)
    }

    @Test func `counts keep it under its stored name`() throws {
        var counts = RunCounts()
        counts.rerun = rerun
        let stored = try #require(try JSONSerialization.jsonObject(with: Data(counts.json.utf8)) as? [String: Any])
        #expect(stored["remaking"] != nil && stored["rerun"] == nil)
        #expect(RunCounts(json: counts.json) == counts)
        #expect(RunCounts(json: #"{"frames":-1,"work":0}"#) == RunCounts())
    }
}
