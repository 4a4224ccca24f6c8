import NoticeDelivery
import QueueStorage
import Queueing
import TestSupport
import Testing

@Suite struct EndNoticeTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private func targets(_ job: Submission, _ rules: NoticeRules) -> [String] {
        fixture.messages(of: job, rules).map(\.target)
    }

    @Test func `all ends are told to on_end, and failures to on_failure, too`() throws {
        let rules = NoticeRules(onEnd: [.hook], onFailure: [.ops])
        let done = try fixture.end(code: 0, rules)
        #expect(targets(done, rules) == ["webhook:https://example.org/hook"])
        let failed = try fixture.end(code: 1, rules)
        #expect(targets(failed, rules) == ["webhook:https://example.org/hook", "mail:ops@example.org"])
    }

    @Test func `a target of both lists is told once`() throws {
        let rules = NoticeRules(onEnd: [.ops], onFailure: [.ops, .ops])
        #expect(targets(try fixture.end(code: 1, rules), rules) == ["mail:ops@example.org"])
    }

    @Test func `a job that has not ended is not told`() throws {
        #expect(targets(try fixture.submit(), NoticeRules(onEnd: [.ops])) == [])
    }

    @Test func `a job that waits for a person is told once, and so is its end, to the same targets`() throws {
        let rules = NoticeRules(onFailure: [.ops])
        var job = try fixture.submit()
        for _ in 0..<3 {
            try job.start(run: "run-1", at: fixture.now)
            try job.processEnded(
                code: 74, leaving: .none, text: "/srv/out: Permission denied", progressed: false, at: fixture.now)
            try fixture.store.update(job, messages: fixture.messages(of: job, rules), at: fixture.now)
            fixture.pass(3600)
        }
        let told = try fixture.store.dueMessages(at: fixture.now, limit: 10)
        #expect(told.count == 1)
        #expect(told.first?.message.event.hasPrefix("farm-job-1-delay-") == true)
        #expect(told.first?.message.body.contains("/srv/out: Permission denied") == true)
        try job.start(run: "run-1", at: fixture.now)
        try job.processEnded(code: 0, leaving: .ended, text: "", progressed: true, at: fixture.now)
        #expect(targets(job, rules) == ["mail:ops@example.org"])
        #expect(targets(try fixture.end(code: 0, rules), rules) == [])
    }

    @Test(arguments: [75, 137])
    func `a job that goes on by itself is not told`(code: Int) throws {
        var job = try fixture.submit()
        try job.start(run: "run-1", at: fixture.now)
        try job.processEnded(code: code, leaving: .none, text: "", progressed: false, at: fixture.now)
        #expect(targets(job, NoticeRules(onEnd: [.hook], onFailure: [.ops])) == [])
    }

    @Test func `the same end has the same names, and the secret's file is in none of them`() throws {
        let rules = NoticeRules(onEnd: [.hook])
        let job = try fixture.end(code: 0, rules)
        let messages = fixture.messages(of: job, rules)
        #expect(messages == fixture.messages(of: job, rules))
        #expect(messages.allSatisfy { $0.event.hasPrefix("farm-job-1-end-") && $0.event.utf8.count < 100 })
        #expect(!"\(messages)".contains("/etc/secret"))
    }

    @Test func `a cancelled job says who did it, and how to look`() throws {
        let rules = NoticeRules(onEnd: [.hook])
        var job = try fixture.submit()
        try job.cancel(by: .user(5), at: fixture.now)
        let body = try #require(fixture.messages(of: job, rules).first?.body)
        #expect(body.contains(#""command":"penumbra queue show 1""#))
        #expect(body.contains(#""reason":"cancelled by uid:5""#))
        #expect(body.contains(#""job":"night""#))
    }

    @Test func `commands name the folders of a service that is not at its usual place`() throws {
        let rules = NoticeRules(onEnd: [.hook])
        var origin = fixture.origin
        (origin.serviceOption, origin.stateOption) = (" --service-dir /srv/q", " --state-dir /srv/s")
        let notices = EndNotices(rules, origin, stateFolder: fixture.folder.file("state"))
        let job = try fixture.end(code: 66, rules)
        let bodies =
            notices.messages(of: job)
            + notices.messages(ofSchedule: "nightly", problem: "no job", exitCode: 66, at: .noon)
        for (body, command) in zip(bodies.map(\.body), ["show 1", "schedules"]) {
            #expect(body.contains(#""command":"penumbra queue \#(command) --service-dir /srv/q""#))
        }
    }

    @Test func `a schedule that submits no job is told as a failure, the same problem once a day`() throws {
        let notices = EndNotices(
            NoticeRules(onEnd: [.hook], onFailure: [.ops]), fixture.origin, stateFolder: fixture.folder.file("state"))
        let message = { (problem: String, time: WallTime) in
            notices.messages(ofSchedule: "nightly", problem: problem, exitCode: 66, at: time)
        }
        let first = message("no job", .noon)
        #expect(first.map(\.target) == ["webhook:https://example.org/hook", "mail:ops@example.org"])
        let body = try #require(first.first?.body)
        #expect(body.contains(#""job":"nightly""#) && body.contains(#""reason":"no job""#))
        #expect(body.contains(#""command":"penumbra queue schedules""#))
        #expect(message("no job", .noon + .seconds(3600)).map(\.event) == first.map(\.event))
        #expect(message("no job", .noon + .seconds(86_400)).map(\.event) != first.map(\.event))
        #expect(message("another", .noon).map(\.event) != first.map(\.event))
    }

    @Test func `a service keeps its name, and another one has another`() throws {
        let first = try NoticeOrigin.of(fixture.store, host: "render1", random: 1 << 40)
        #expect(try NoticeOrigin.of(fixture.store, host: "render1", random: 7) == first)
        #expect(try NoticeOrigin.of(Fixture().store, host: "render1", random: 7) != first)
    }
}
