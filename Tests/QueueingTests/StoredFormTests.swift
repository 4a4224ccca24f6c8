import FoundationEssentials
import Queueing
import Testing

enum StoredForm {
    static func text(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    static func value<Value: Decodable>(_ type: Value.Type = Value.self, of text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }
}

/// Databases have these texts, so they never change.
@Suite struct StoredFormTests {
    private static func states() throws -> [(JobState, String)] {
        var cancelled = try Submission.running()
        try cancelled.cancel(by: .token("7"), at: .noon)
        var stopping = try Submission.starting()
        stopping.stop()
        var resumed = try Submission.ended(code: nil)
        try resumed.start(run: "other", waited: .seconds(2), at: .noon)
        func ended(_ end: JobState.End, run: String? = nil) -> JobState {
            .ended(.init(end: end, time: .noon, run: run, tries: 2))
        }
        let time = #""since":"2026-11-25T12:00:00Z""#
        return [
            (try Submission.make().state, #"{\#(time),"state":"waiting","tries":0}"#),
            (try Submission.make(isHeld: true).state, #"{\#(time),"state":"held","tries":0}"#),
            (
                try Submission.ended(code: nil, text: "x").state,
                #"{"pause":{"cause":"vanished","text":"x","until":"2026-11-25T12:00:05Z"},"resumes":"run-17","#
                    + #""setback":{"cause":"vanished","count":1},\#(time),"state":"waiting","tries":1}"#
            ),
            (
                try Submission.starting().state,
                #"{"resumed":false,"run":"run-17",\#(time),"state":"starting","tries":1}"#
            ),
            (
                resumed.state,
                #"{"resumed":true,"run":"run-17","setback":{"cause":"vanished","count":1},\#(time),"state":"starting","#
                    + #""tries":2,"waited":2000}"#
            ),
            (
                stopping.state,
                #"{"resumed":false,"run":"run-17",\#(time),"state":"starting","stopping":true,"tries":1}"#
            ),
            (try Submission.running().state, #"{"run":"run-17",\#(time),"state":"running","tries":1}"#),
            (
                cancelled.state,
                #"{"cancelled_by":"token:7","run":"run-17",\#(time),"state":"running","tries":1}"#
            ),
            (ended(.done, run: "r"), #"{"run":"r",\#(time),"state":"done","tries":2}"#),
            (
                .ended(.init(end: .done, time: .noon, run: "r", tries: 2, started: .noon)),
                #"{"run":"r",\#(time),"started":"2026-11-25T12:00:00Z","state":"done","tries":2}"#
            ),
            (ended(.doneWithWorkLeft), #"{\#(time),"state":"work_left","tries":2}"#),
            (ended(.failed(code: 65, text: "x")), #"{"code":65,\#(time),"state":"failed","text":"x","tries":2}"#),
            (ended(.stopped(text: "x")), #"{\#(time),"state":"stopped","text":"x","tries":2}"#),
            (ended(.cancelled(by: nil)), #"{\#(time),"state":"cancelled","tries":2}"#),
            (ended(.cancelled(by: .user(5))), #"{"by":"uid:5",\#(time),"state":"cancelled","tries":2}"#),
            (ended(.skipped(because: 3)), #"{"because":3,\#(time),"state":"skipped","tries":2}"#),
            (
                .ended(
                    .init(
                        end: .done, time: .noon, run: "r", tries: 1, leftovers: .init(kept: 2, stillBroken: 1))),
                #"{"kept":2,"run":"r",\#(time),"state":"done","still_broken":1,"tries":1}"#
            ),
        ]
    }

    @Test func `states are stored as flat objects, and can be read again`() throws {
        for (state, text) in try Self.states() {
            #expect(try StoredForm.text(of: state) == text)
            #expect(try StoredForm.value(JobState.self, of: text) == state)
        }
    }

    @Test(arguments: [
        #"{"since":"2026-11-25T12:00:00Z","state":"starting","tries":1}"#,
        #"{"since":"2026-11-25T12:00:00Z","state":"failed","tries":1}"#,
        #"{"since":"2026-11-25T12:00:00Z","state":"asleep","tries":1}"#,
        #"{"since":"noon","state":"waiting","tries":1}"#,
    ])
    func `a state without what exists in it is no state`(text: String) {
        #expect(throws: DecodingError.self) { try StoredForm.value(JobState.self, of: text) }
    }

    @Test func `options are stored by the names of the API, and are arguments of a command`() throws {
        let options = try RunOptions(overrides: ["a=1", "b=2"], isForced: true, deadline: 60)
        #expect(try StoredForm.text(of: options) == #"{"deadline":60,"force":true,"set":["a=1","b=2"],"version":1}"#)
        #expect(try StoredForm.value(of: StoredForm.text(of: options)) == options)
        #expect(options.arguments == ["--set", "a=1", "--set", "b=2", "--force", "--deadline", "60s"])
        #expect(try StoredForm.text(of: RunOptions()) == #"{"version":1}"#)
        #expect(RunOptions().arguments == [])
        #expect(try StoredForm.value(RunOptions.self, of: "{}") == RunOptions())
    }

    @Test func `a strict job is stored as one, and its retry is strict, too`() throws {
        var options = RunOptions()
        options.isStrict = true
        #expect(try StoredForm.text(of: options) == #"{"strict":true,"version":1}"#)
        #expect(try StoredForm.value(of: StoredForm.text(of: options)) == options)
        #expect(options.arguments == ["--strict"])
        var job = try Submission(
            id: 17, owner: .user(1000), digest: "d", name: "night",
            manifest: ManifestSource(.file(path: "/srv/a/night.yaml"), digest: "m"), options: options, at: .noon,
            known: { _ in nil })
        try job.cancel(by: .user(0), at: .noon)
        let retry = try job.retry(as: 30, by: .token("7"), digest: "d2", at: .noon, known: { _ in nil })
        #expect(retry.options.arguments == ["--strict", "--retry-broken"])
    }

    @Test func `a retry tries broken pictures again, which is stored with it`() throws {
        var options = RunOptions()
        options.triesBroken = true
        #expect(try StoredForm.text(of: options) == #"{"retry_broken":true,"version":1}"#)
        #expect(try StoredForm.value(of: StoredForm.text(of: options)) == options)
        #expect(options.arguments == ["--retry-broken"])
    }

    @Test(arguments: [
        (JobState.Leftovers(), "done"), (.init(kept: 1), "done; 1 frame kept as it was"),
        (.init(kept: 2, stillBroken: 1), "done; 2 frames kept as they were; 1 frame still broken"),
        (.init(stillBroken: 3), "done; 3 frames still broken"),
    ])
    func `a job says what its run has not rendered`(leftovers: JobState.Leftovers, words: String) throws {
        var job = try Submission.running()
        try job.processEnded(
            code: 0, leaving: .ended, text: "", progressed: true, leftovers: leftovers, at: .noon)
        #expect(QueueEntry(job).result == words)
    }

    @Test func `a job says why frames were kept, with the most frequent reasons`() throws {
        var job = try Submission.running()
        let reasons = ["edited": 5, "other job": 4, "not published": 3, "a": 2, "b": 1]
        try job.processEnded(
            code: 0, leaving: .ended, text: "", progressed: true, leftovers: .init(kept: 15, by: reasons), at: .noon)
        #expect(QueueEntry(job).keptByReason == ["edited": 5, "other job": 4, "not published": 3, "a": 2])
        #expect(try StoredForm.value(of: StoredForm.text(of: job.state)) == job.state)
        #expect(QueueEntry(try Submission.ended()).keptByReason == nil)
    }

    @Test(arguments: [(nil, "/srv/a/night.yaml"), ("shown", "/srv/a/shown.yaml")] as [(String?, String)])
    func `an uploaded manifest has a path in its folder`(fileName: String?, path: String) throws {
        let manifest = ManifestSource(.uploaded(text: "", folder: "/srv/a"), digest: "m", fileName: fileName)
        #expect(QueueEntry(try Submission.make(manifest: manifest)).manifest == path)
    }

    @Test func `the folders of a job are stored with it, and none is not the same as all`() throws {
        var options = RunOptions()
        options.roots = ["/srv/a"]
        #expect(try StoredForm.text(of: options) == #"{"roots":["/srv/a"],"version":1}"#)
        #expect(try StoredForm.value(of: StoredForm.text(of: options)) == options)
        // The kernel keeps a run within them. They are no option of `penumbra run`.
        #expect(options.arguments == [])
        options.roots = []
        #expect(try StoredForm.value(RunOptions.self, of: #"{"roots":[]}"#) == options)
        #expect(throws: DecodingError.self) { try StoredForm.value(RunOptions.self, of: #"{"roots":"/srv/a"}"#) }
    }

    @Test func `a retry keeps the folders of its job`() throws {
        var options = RunOptions()
        options.roots = ["/srv/a"]
        var job = try Submission(
            id: 1, owner: .token("t"), digest: "d", name: "night",
            manifest: ManifestSource(.file(path: "/srv/a/night.yaml"), digest: "m"), options: options, at: .noon,
            known: { _ in nil })
        try job.cancel(by: .user(0), at: .noon)
        let retry = try job.retry(as: 2, by: .user(0), digest: "e", at: .noon, known: { _ in nil })
        #expect(retry.options.roots == ["/srv/a"])
    }

    @Test(arguments: [
        (
            #"{"forced":true}"#,
            "options: there is no option 'forced'\n   = the options are set, force, strict and deadline"
        ),
        (#"{"version":2}"#, "options: version 2 is of a later Penumbra\n   = this one knows version 1"),
    ])
    func `unknown options are refused`(text: String, message: String) {
        #expect {
            try StoredForm.value(RunOptions.self, of: text)
        } throws: { error in
            guard case .dataCorrupted(let context) = error as? DecodingError else { return false }
            return context.debugDescription == message
        }
    }

    @Test func `a job of a list has the names of the API`() throws {
        let needed = try Submission.make(1)
        let job = try Submission.make(
            2, key: "k", manifest: .shared, labels: ["show": "a"], needs: [Need(1)], notBefore: .noon(plus: 60),
            retryOf: 1)
        let standing = JobQueue([needed, job]).standings(.usual, at: .noon)[2]
        let text = try StoredForm.text(of: QueueEntry(job, standing: standing))
        #expect(
            text
                == #"{"after":[{"job":1,"on":"success"}],"id":2,"key":"k","labels":{"show":"a"},"manifest":"/srv/a/night.yaml","#
                + #""name":"night","not_before":"2026-11-25T12:01:00Z","owner":"uid:1000","position":2,"priority":50,"#
                + #""retry_of":1,"state":"waiting","submitted":"2026-11-25T12:00:00Z","tries":0,"#
                + #""waiting_for":{"jobs":[1],"kind":"needs","words":"needs job 1"}}"#)
        #expect(try StoredForm.value(of: text) == QueueEntry(job, standing: standing))
    }

    @Test func `an ended job of a list says how it ended`() throws {
        let entry = QueueEntry(try .ended(2, code: 65, text: "x"))
        #expect(entry.state == .failed)
        #expect(entry.exitCode == 65)
        #expect(entry.result == "failed with exit code 65: x")
        #expect(entry.ended == .noon)
        #expect(entry.run == "run-2")
        var job = try Submission.running()
        #expect(QueueEntry(job).cancelling == nil)
        #expect(QueueEntry(job).started == .noon)
        try job.runNext(at: .noon(plus: 5))
        #expect(QueueEntry(job).runNext == .noon(plus: 5))
        try job.cancel(by: .user(0), at: .noon)
        #expect(QueueEntry(job).cancelling == true)
    }

    @Test(arguments: [
        (JobState.End.done, 0), (.doneWithWorkLeft, 3), (.failed(code: 66, text: ""), 66), (.stopped(text: ""), 143),
        (.cancelled(by: .user(0)), 130), (.skipped(because: 1), 1),
    ])
    func `who waits for a job exits as its run did`(end: JobState.End, code: Int) {
        #expect(end.exitCode == code)
    }
}
