import Queueing
import ServiceAPI
import Testing

/// The requests as JSON, and what is refused.
@Suite struct RequestTests {
    private func text(_ value: some Encodable) throws -> String {
        String(decoding: try StrictJSON.encode(value), as: UTF8.self)
    }

    private func value<Value: Decodable>(_ text: String) throws -> Value {
        try StrictJSON.decode(from: Array(text.utf8))
    }

    private func message<Value: Decodable>(_ type: Value.Type, _ text: String) -> String? {
        do throws(BodyError) {
            _ = try StrictJSON.decode(type, from: Array(text.utf8))
            return nil
        } catch {
            return error.message
        }
    }

    // MARK: Submissions

    @Test func `a submission has the names of the API`() throws {
        var request = SubmitRequest(.file(path: "/srv/a/night.yaml"))
        #expect(try text(request) == #"{"manifest":"/srv/a/night.yaml"}"#)
        request.priority = try Priority(70)
        request.after = [Need(12), Need(13, on: .end)]
        request.isHeld = true
        request.notBefore = WallTime(milliseconds: 1_795_608_000_000)
        request.labels = try Labels(["show": "a"])
        request.options = try RunOptions(overrides: ["a=1"], isForced: true, deadline: 60)
        request.options.isStrict = true
        let whole =
            #"{"after":[{"job":12,"on":"success"},{"job":13,"on":"end"}],"deadline":60,"force":true,"hold":true,"#
            + #""labels":{"show":"a"},"manifest":"/srv/a/night.yaml","not_before":"2026-11-25T12:00:00Z","priority":70,"#
            + #""set":["a=1"],"strict":true}"#
        #expect(try text(request) == whole)
        #expect(try value(whole) == request)
    }

    @Test func `a manifest may come with its request`() throws {
        let request = SubmitRequest(.text("job: a\n", folder: "/srv/a", name: "night"))
        let text = #"{"folder":"/srv/a","name":"night","text":"job: a\n"}"#
        #expect(try self.text(request) == text)
        #expect(try value(text) == request)
        #expect(
            try value(#"{"folder":"/srv/a","text":""}"#) == SubmitRequest(.text("", folder: "/srv/a", name: nil)))
    }

    @Test(arguments: [
        (RetryDeadline.kept, "{}"), (.none, #"{"deadline":null}"#), (.seconds(60), #"{"deadline":60}"#),
    ])
    func `a retry may have another deadline, or none`(deadline: RetryDeadline, body: String) throws {
        let request = RetryRequest(deadline: deadline)
        #expect(try text(request) == body)
        #expect(try value(body) == request)
    }

    @Test func `a retry with a wrong deadline is refused`() {
        #expect(
            message(RetryRequest.self, #"{"deadline":0}"#)?.contains(
                "deadline: 0 seconds are not between a second and a week") == true)
        #expect(message(RetryRequest.self, #"{"deadline":"1h"}"#) != nil)
        #expect(message(RetryRequest.self, #"{"frames":"1"}"#) != nil)
    }

    @Test func `a path that is too long is told as that`() throws {
        let longest = "/" + String(repeating: "a", count: 4094)
        let request: SubmitRequest = try value(#"{"manifest":"\#(longest)"}"#)
        #expect(request.source == .file(path: longest))
        #expect(
            message(SubmitRequest.self, #"{"manifest":"\#(longest)a"}"#)?.hasSuffix(
                "has 4096 bytes\n   = a path has at most 4095 bytes") == true)
        #expect(
            message(TokenRequest.self, #"{"name":"a","scope":"read","roots":["\#(longest)a"]}"#)?.hasPrefix("roots: ")
                == true)
    }

    @Test func `dependencies have a short and a long form`() throws {
        let request: SubmitRequest = try value(
            #"{"manifest":"/a","after":[12,"13","14:end",{"job":15},{"job":16,"on":"end"}]}"#)
        #expect(request.after == [Need(12), Need(13), Need(14, on: .end), Need(15), Need(16, on: .end)])
    }

    @Test(arguments: [
        (
            #"{"manifest":"/a","text":"x","folder":"/b"}"#,
            "the request has 'manifest' and 'text'\n   = 'manifest' is the path of a file of the service's machine, and "
                + "'text' is a manifest itself: send one of them"
        ),
        (
            #"{"folder":"/b"}"#,
            "the request has no manifest\n   = send the path of a file of the service's machine as 'manifest', or a "
                + "manifest as 'text' and its folder as 'folder'"
        ),
        (#"{"manifest":"/a","folder":"/b"}"#, "folder: it belongs to 'text', and the request has 'manifest'"),
        (#"{"text":"x"}"#, "the key 'folder' is missing"),
        (
            #"{"manifset":"/a"}"#,
            "there is no key 'manifset'\n   = the keys are after, deadline, folder, force, hold, labels, manifest, name, "
                + "not_before, priority, set, strict, text"
        ),
        (
            #"{"manifest":"a"}"#,
            "manifest: 'a' is no absolute path\n   = write a path that begins with '/'"
        ),
        (
            #"{"manifest":"/a\u0000b"}"#,
            "manifest: '/a\\u{0}b' has a NUL, which no path has"
        ),
        (
            #"{"text":"x","folder":"/b","name":"c\nd"}"#,
            "name: 'c\\u{a}d' is no name of a manifest's file\n   = a name has 1 to 200 bytes, no '/', no control "
                + "characters, and does not begin with '.'"
        ),
        (
            #"{"manifest":"/a","priorty":5}"#,
            "there is no key 'priorty'\n   = the keys are after, deadline, folder, force, hold, labels, manifest, name, "
                + "not_before, priority, set, strict, text"
        ),
        (
            #"{"manifest":"/a","priority":101}"#,
            "priority: '101' is not a whole number from 0 to 100\n   = 50 is the normal priority, and 100 is the most "
                + "urgent one"
        ),
        (#"{"manifest":"/a","priority":null}"#, "priority: a whole number is expected, and this is null"),
        (
            #"{"manifest":"/a","after":["12:never"]}"#,
            "after: '12:never' is no dependency\n   = write the number of a job, and ':success' or ':end' behind it: 17, "
                + "or 17:end"
        ),
        (
            #"{"manifest":"/a","after":[0]}"#,
            "after: '0' is no dependency\n   = write the number of a job, and ':success' or ':end' behind it: 17, or "
                + "17:end"
        ),
        (#"{"manifest":"/a","after":[{"job":1,"of":2}]}"#, "after[0]: there is no key 'of'\n   = the keys are job, on"),
        (
            #"{"manifest":"/a","labels":{"ö":"x"}}"#,
            "label: 'ö' is no name of a label\n   = a name has 1 to 63 letters (a-z, A-Z), digits, '.', '_', '-' and '/', and begins "
                + "with a letter or digit"
        ),
        (
            #"{"manifest":"/a","deadline":0}"#,
            "deadline: 0 seconds are not between a second and a week\n   = leave the deadline out to run to the end"
        ),
        (#"{"manifest":"/a","set":["a=1",""]}"#, "set: '' is empty or too long, or has a NUL"),
        (#"{"manifest":"/a","set":"a=1"}"#, "set: a list is expected, and this is text"),
    ])
    func `a submission that is wrong is refused with words`(text: String, message: String) {
        #expect(self.message(SubmitRequest.self, text) == message)
    }

    @Test func `lists of a submission have limits`() {
        let needs = (1...101).map(String.init).joined(separator: ",")
        #expect(
            message(SubmitRequest.self, #"{"manifest":"/a","after":[\#(needs)]}"#)
                == "after: at most 100 jobs are allowed, and there are 101")
        let overrides = Array(repeating: #""a=1""#, count: 257).joined(separator: ",")
        #expect(
            message(SubmitRequest.self, #"{"manifest":"/a","set":[\#(overrides)]}"#)
                == "set: at most 256 are allowed, and there are 257")
    }

    // MARK: Changes

    @Test func `a change names only what it changes`() throws {
        let change = JobChange(
            priority: try Priority(7), isHeld: false, labels: ["show": "b", "old": nil], after: [Need(3)])
        let text =
            #"{"after":[{"job":3,"on":"success"}],"hold":false,"labels":{"old":null,"show":"b"},"priority":7}"#
        #expect(try self.text(change) == text)
        #expect(try value(text) == change)
        #expect(try self.text(JobChange(isHeld: true)) == #"{"hold":true}"#)
        #expect(try value(#"{"after":[]}"#) == JobChange(after: []))
    }

    @Test func `labels are set and removed, and others stay`() throws {
        let old = try Labels(["show": "a", "old": "x", "camera": "7"])
        let change = JobChange(labels: ["show": "b", "old": nil, "new": "y"])
        #expect(try change.labels(from: old).texts == ["camera=7", "new=y", "show=b"])
    }

    @Test func `a full list of labels can be exchanged`() throws {
        let old = try Labels(Dictionary(uniqueKeysWithValues: (0..<Labels.mostLabels).map { ("z\($0)", "") }))
        let change = JobChange(labels: ["a": "1", "z0": nil])
        #expect(try change.labels(from: old)[name: "a"] == "1")
    }

    @Test(arguments: [
        (#"{}"#, "the request changes nothing\n   = name priority, hold, labels or after"),
        (#"{"labels":{}}"#, "the request changes nothing\n   = name priority, hold, labels or after"),
        (#"{"state":"done"}"#, "there is no key 'state'\n   = the keys are after, hold, labels, priority"),
        (#"{"hold":1}"#, "hold: true or false is expected, and this is a number"),
        (#"{"hold":true,"state":"done"}"#, "there is no key 'state'\n   = the keys are after, hold, labels, priority"),
        (
            #"{"labels":{"a":"\u0007"}}"#,
            "label a: the value '\\u{7}' is too long or has invisible characters\n   = a value has at most 255 characters"
        ),
    ])
    func `a change that is wrong is refused with words`(text: String, message: String) {
        #expect(self.message(JobChange.self, text) == message)
    }

    // MARK: Actions

    @Test func `actions have the names of the API`() throws {
        let filter = try JobFilter(text: "state=waiting&label=show=night")
        let actions: [(BulkAction, String)] = [
            (.hold, #""action":"hold","#), (.release, #""action":"release","#), (.cancel, #""action":"cancel","#),
            (.runNext, #""action":"run_next","#), (.retry, #""action":"retry","#),
        ]
        for (action, start) in actions {
            let text = "{\(start)\"expect\":3,\"filter\":\"state=waiting&label=show=night\"}"
            #expect(try self.text(ActionRequest(action, filter, expecting: 3)) == text)
            #expect(try value(text) == ActionRequest(action, filter, expecting: 3))
        }
        let all = JobFilter()
        let priority = ActionRequest(.setPriority(try Priority(9)), all, expecting: nil)
        #expect(try text(priority) == #"{"action":"set_priority","filter":"","priority":9}"#)
        #expect(try value(text(priority)) == priority)
        for (label, json) in [("x", #""x""#), (nil, "null")] {
            let request = ActionRequest(.setLabel("show", label), all, expecting: nil)
            #expect(try text(request) == #"{"action":"set_label","filter":"","label":"show","value":\#(json)}"#)
            #expect(try value(text(request)) == request)
        }
    }

    @Test(arguments: [
        (
            #"{"action":"delete","filter":""}"#,
            "action: there is no action 'delete'\n   = the actions are hold, release, cancel, run_next, retry, set_priority, "
                + "set_label"
        ),
        (#"{"action":"hold"}"#, "the key 'filter' is missing"),
        (#"{"action":"hold","filter":"","priority":5}"#, "priority: it does not belong to the action 'hold'"),
        (#"{"action":"set_label","filter":"","label":"a"}"#, "the key 'value' is missing"),
        (#"{"action":"set_priority","filter":""}"#, "the key 'priority' is missing"),
        (#"{"action":"hold","filter":"","expect":-1}"#, "expect: -1 is no number of jobs"),
        (
            #"{"action":"hold","filter":"size=3"}"#,
            "filter: there is no key 'size'\n   = the keys are state, label, owner and name"
        ),
    ])
    func `an action that is wrong is refused with words`(text: String, message: String) {
        #expect(self.message(ActionRequest.self, text) == message)
    }

    // MARK: Drain and tokens

    @Test func `a request to drain says which`() throws {
        #expect(try text(DrainRequest(isDrained: true)) == #"{"drained":true}"#)
        #expect(try value(#"{"drained":false}"#) == DrainRequest(isDrained: false))
        #expect(message(DrainRequest.self, "{}") == "the key 'drained' is missing")
    }

    @Test func `a token has a name, a scope, folders and an end`() throws {
        let request = TokenRequest(
            name: "bot", scope: .submit, roots: ["/srv/a"], expires: WallTime(milliseconds: 1_795_608_000_000))
        let text = #"{"expires":"2026-11-25T12:00:00Z","name":"bot","roots":["/srv/a"],"scope":"submit"}"#
        #expect(try self.text(request) == text)
        #expect(try value(text) == request)
        #expect(try value(#"{"name":"b","scope":"read"}"#) == TokenRequest(name: "b", scope: .read))
        let limited = #"{"max_priority":60,"name":"b","scope":"submit"}"#
        #expect(try value(limited) == TokenRequest(name: "b", scope: .submit, maxPriority: Priority(60)))
        #expect(try self.text(value(limited) as TokenRequest) == limited)
        #expect(TokenScope.read < .submit && .submit < TokenScope.admin)
    }

    @Test func `a change of a token names its highest priority, and a null removes it`() throws {
        #expect(try value(#"{"max_priority":60}"#) == TokenChange(maxPriority: Priority(60)))
        #expect(try value(#"{"max_priority":null}"#) == TokenChange(maxPriority: nil))
        #expect(try text(TokenChange(maxPriority: nil)) == #"{"max_priority":null}"#)
        #expect(
            message(TokenChange.self, "{}")
                == "the request changes nothing\n   = name max_priority: a number, or null for no limit")
        #expect(
            message(TokenChange.self, #"{"max_priority":101}"#)?.hasPrefix(
                "priority: '101' is not a whole number from 0 to 100") == true)
    }

    @Test(arguments: [
        (
            #"{"name":"b","scope":"root"}"#,
            "scope: there is no scope 'root'\n   = the scopes are read, submit, admin"
        ),
        (
            #"{"name":"a b","scope":"read"}"#,
            "name: 'a b' is no name of a token\n   = a name has 1 to 63 visible ASCII characters, without blanks"
        ),
        (
            #"{"name":"b","scope":"read","roots":["srv"]}"#,
            "roots: 'srv' is no absolute path\n   = write a path that begins with '/'"
        ),
        (
            #"{"name":"b","scope":"submit","roots":[]}"#,
            "roots: it is empty\n   = name a folder, or leave 'roots' out for all folders"
        ),
    ])
    func `a token that is wrong is refused with words`(text: String, message: String) {
        #expect(self.message(TokenRequest.self, text) == message)
    }
}
