import JobModel
import Queueing
import ServiceAPI
import Testing

@Suite struct ScheduleBodyTests {
    private func read(_ text: String) throws(BodyError) -> ScheduleRequest {
        try StrictJSON.decode(ScheduleRequest.self, from: Array(text.utf8))
    }

    private func message(_ text: String) -> String? {
        #expect(throws: BodyError.self) { try read(text) }?.message
    }

    @Test func `a schedule has times, and usual rules unless it names others`() throws {
        let request = try read(
            #"{"name": "nightly", "cron": "0  2 * * *", "submit": {"manifest": "/srv/a/night.yaml", "priority": 70}}"#)
        let cron = try CronExpression("0 2 * * *")
        #expect(request.trigger == .times(cron, zone: nil, missed: .once, overlap: .queue))
        #expect(request.isEnabled)
        #expect(request.job.source == .file(path: "/srv/a/night.yaml"))
        #expect(request.job.priority?.value == 70)
    }

    @Test func `a watch has times of quiet`() throws {
        let request = try read(
            #"{"name": "scans", "watch": {"min_age": 30}, "submit": {"manifest": "/srv/a/scans.yaml"}}"#)
        #expect(request.trigger == .changes(quiet: .seconds(1), minAge: .seconds(30)))
    }

    @Test(arguments: [
        #"{"name": "a", "cron": "@daily", "zone": "Europe/Berlin", "missed": "skip", "overlap": "skip", "enabled": false, "submit": {"manifest": "/a"}}"#,
        #"{"name": "b.c", "watch": {"quiet": 0.5, "min_age": 0}, "submit": {"text": "job: a", "folder": "/srv", "set": ["x=1"], "force": true}}"#,
    ])
    func `what is written is read back as it was`(text: String) throws {
        let request = try read(text)
        #expect(try StrictJSON.decode(ScheduleRequest.self, from: StrictJSON.encode(request)) == request)
        let entry = ScheduleEntry(
            request, origin: .api, last: .earliest, next: .latest, lastJob: 7, submitted: 3, problem: "none")
        #expect(
            try StrictJSON.decode(ScheduleEntry.self, from: StrictJSON.encode(entry), unknownKeys: .ignored) == entry)
    }

    @Test(arguments: [
        (
            #"{"name": "a", "submit": {"manifest": "/a"}}"#,
            """
            a schedule has either 'cron' or 'watch'
               = 'cron' has times: {"cron": "0 2 * * *"}; with 'watch' it waits for changes in the folders of its manifest's \
            inputs: {"watch": {}}
            """
        ),
        (
            #"{"name": "a", "watch": {}, "zone": "UTC", "submit": {"manifest": "/a"}}"#,
            "zone: it belongs to 'cron', and the schedule has 'watch'"
        ),
        (
            #"{"name": "a", "watch": {"folder": "/srv"}, "submit": {"manifest": "/a"}}"#,
            "watch: there is no key 'folder'\n   = the keys are min_age, quiet"
        ),
        (
            #"{"name": "a", "watch": {"quiet": 0}, "submit": {"manifest": "/a"}}"#,
            "watch.quiet: 0.0 is not a number of seconds from 0.1 to 3600.0"
        ),
        (
            #"{"name": "a", "cron": "@daily", "missed": "never", "submit": {"manifest": "/a"}}"#,
            "missed: 'never' is none of its words\n   = the words are once, skip"
        ),
        (
            #"{"name": "a", "cron": "@daily", "submit": {"manifest": "/a", "hold": true}}"#,
            "submit: the job of a schedule has no 'after', 'hold' or 'not_before'\n   = leave them out: the schedule says when "
                + "the job comes"
        ),
        (
            // No path of the API would lead to it.
            #"{"name": "a/b", "cron": "@daily", "submit": {"manifest": "/a"}}"#,
            "schedule: 'a/b' is no name of a schedule\n   = a name has 1 to 63 letters (a-z, A-Z), digits, '.', '_' and '-', and begins with "
                + "a letter or digit"
        ),
        (
            #"{"name": "a", "cron": "0 25 * * *", "submit": {"manifest": "/a"}}"#,
            "schedule: the hour is 0 to 23, not '25' (in '0 25 * * *')\n   = '*' stands for all values; lists are written as "
                + "'1,5', ranges as '1-5'"
        ),
    ])
    func `a wrong schedule is told`(text: String, words: String) { #expect(message(text) == words) }
}
