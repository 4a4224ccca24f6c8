import QueueStorage
import Queueing
import TestSupport

/// All jobs, as a database should have them.
private struct Table {
    var jobs: [JobID: Submission] = [:]

    func known(_ id: JobID) -> KnownJob? {
        guard let job = jobs[id] else { return nil }
        let retry = jobs.values.filter { $0.retryOf == id }.map(\.id).max()
        guard case .ended(let ended) = job.state else { return KnownJob(ended: nil, retriedAs: retry) }
        return KnownJob(ended: ended, retriedAs: retry)
    }
}

/// A service to which anything happens, drawn from a seed. It stores every change, and is killed and started again now
/// and then. A plain table of all jobs is what the database is compared with.
struct RandomHistory {
    private let folder: TemporaryFolder
    private var store: QueueStore
    private var queue = JobQueue()
    private var table = Table()
    private var random: SplitMix64
    private var now = WallTime.noon
    private var runs = 0
    private var last = 0
    private(set) var steps = 0
    private(set) var complaints: [String] = []
    /// How often each thing happened.
    private(set) var events: [String: Int] = [:]

    init(seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        folder = try TemporaryFolder()
        store = try QueueStore(folder: folder.path)
    }

    private mutating func draw(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    private mutating func drawJob() -> JobID { JobID(1 + draw(last + 2)) }

    private mutating func note(_ event: String) { events[event, default: 0] += 1 }

    private mutating func complain(_ text: String) { complaints.append("step \(steps): \(text)") }

    mutating func step() throws {
        steps += 1
        now = now + .milliseconds(draw(20) == 0 ? 9 * 86_400_000 : draw(5000))
        switch draw(100) {
        case 0..<25: try submit()
        case 25..<55: try askForSomething()
        case 55..<85: try letProcessesDoSomething()
        case 85..<88: try changeMany()
        case 88..<90: try prune()
        default: try restart()
        }
    }

    // MARK: What happens

    private mutating func submit() throws {
        let owner = [Owner.user(1000), .token("x7")][draw(2)]
        let key = draw(2) == 0 ? "key-\(draw(4))" : nil
        let digest = "d\(draw(2))"
        let needs = (0..<max(0, draw(4) - 1)).map { _ in Need(drawJob(), on: draw(3) == 0 ? .end : .success) }
        let isHeld = draw(5) == 0
        let labels = try Labels(draw(2) == 0 ? ["show": "a\(draw(3))"] : [:])
        let earlier = table.jobs.values.first { $0.key == key && key != nil && $0.owner == owner }
        let isAnswered = earlier.map { !$0.state.isEnded || now - $0.submitted <= JobRequest.keyLifetime } ?? false
        do {
            let insertion = try store.insert(
                JobRequest(owner: owner, key: key, digest: digest),
                audit: { [now] in
                    AuditEntry(at: now, caller: owner.text, action: "submit", subject: $0.id.description)
                }, at: now
            ) { [now] id, known in
                try Submission(
                    id: id, owner: owner, key: key, digest: digest, name: "n", manifest: .file, labels: labels,
                    needs: needs, isHeld: isHeld, at: now, known: known)
            }
            switch insertion {
            case .new(let job):
                note("new")
                if isAnswered { complain("\(job.id) is there twice") }
                if job.id.number <= last { complain("\(job.id) was used before") }
                last = job.id.number
                if let earlier { try forgetKey(of: earlier) }
                table.jobs[job.id] = job
                queue.put(job, known: table.known)
            case .repeated(let job):
                note("repeated")
                if !isAnswered || job != earlier || job.digest != digest { complain("\(job.id) is no answer") }
            }
        } catch let refusal as Refusal {
            note("refused")
            if isAnswered, earlier?.digest == digest { complain("a repetition was refused: \(refusal.message)") }
        }
    }

    /// The key of the job was used again.
    private mutating func forgetKey(of job: Submission) throws {
        guard let stored = try store.job(job.id), stored.key == nil, stored.state == job.state else {
            complain("\(job.id) has kept its key")
            return
        }
        table.jobs[job.id] = stored
    }

    private mutating func askForSomething() throws {
        let id = drawJob()
        let kind = draw(7)
        let needs = [Need(drawJob(), on: draw(2) == 0 ? .end : .success)]
        let priority = Priority(clamping: draw(101))
        if kind == 6 { return try retry(id) }
        try change(id) { [now, table] job throws(Refusal) in
            switch kind {
            case 0: try job.hold()
            case 1: try job.release(at: now)
            case 2: try job.cancel(by: .token("x7"), at: now)
            case 3: try job.runNext(at: now)
            case 4: try job.set(priority)
            default: try job.set(needs, known: table.known)
            }
        }
    }

    private mutating func retry(_ id: JobID) throws {
        guard let job = table.jobs[id] else { return }
        do {
            let owner = Owner.user(1000)
            let retry = try store.insert(JobRequest(owner: owner, key: nil, digest: "r"), at: now) { [now] new, known in
                try job.retry(as: new, by: owner, digest: "r", at: now, known: known)
            }.job
            note("retry")
            last = retry.id.number
            table.jobs[retry.id] = retry
            queue.put(retry, known: table.known)
        } catch is Refusal {
            note("refused")
        }
    }

    private mutating func letProcessesDoSomething() throws {
        guard let job = queue.jobs.randomElement(using: &random) else { return }
        let code = [0, 0, 0, 1, 3, 65, 69, 74, 75, 130, 143, 137, nil, nil][draw(14)]
        let progressed = draw(3) == 0
        runs += 1
        let kind = draw(6)
        try change(job.id) { [now, runs] job throws(Refusal) in
            switch (job.state, kind) {
            case (.waiting, 0): try job.skip(because: JobID(1), at: now)
            case (.waiting, _): try job.start(run: "run-\(runs)", waited: .milliseconds(kind), at: now)
            case (.starting, 0): try job.startFailed("no processes", at: now)
            case (.starting, 1...3): try job.started(at: now)
            case (.running, 0): job.starved(for: .milliseconds(77))
            case (.running, 1), (.starting, 4): job.stop()
            default:
                try job.processEnded(
                    code: code, leaving: code == nil ? .interrupted : .ended, text: "x: \u{1b} ä",
                    progressed: progressed, at: now)
            }
        }
    }

    private mutating func change(_ id: JobID, _ body: (inout Submission) throws(Refusal) -> Void) throws {
        let job: Submission
        do {
            job = try queue.change(id, known: table.known, body)
        } catch {
            note("refused")
            return
        }
        try store.update(job, audit: AuditEntry(at: now, caller: "x", action: "y", subject: id.description), at: now)
        table.jobs[id] = job
        note(job.state.name.rawValue)
    }

    private mutating func changeMany() throws {
        var filter = JobFilter()
        filter.labels = [.init(name: "show", value: "a1")]
        let action = [BulkAction.hold, .release, .retry, .setPriority(.highest), .setLabel("show", nil)][draw(5)]
        let matching = table.jobs.values.filter(filter.matches).count
        let outcome = try store.apply(action, to: filter, expecting: matching, by: .user(0), at: now)
        guard case .done(let changes) = outcome else { return complain("\(action) did nothing") }
        note("bulk")
        for job in changes.changed + changes.submitted {
            last = max(last, job.id.number)
            table.jobs[job.id] = job
            // An ended job has only a new label.
            if !job.state.isEnded { queue.put(job, known: table.known) }
        }
    }

    private mutating func prune() throws {
        let count = draw(10)
        let removed = try store.prune(endedBefore: now, keeping: count, at: now)
        let left = Set(try stored().map(\.id))
        let gone = table.jobs.keys.filter { !left.contains($0) }
        if gone.count != removed { complain("\(removed) jobs were removed, and \(gone.count) are gone") }
        for id in gone where table.jobs[id]?.state.isEnded != true { complain("\(id) had not ended") }
        let newest = table.jobs.values.filter(\.state.isEnded).map(\.id).sorted().suffix(count)
        if let lost = newest.first(where: { !left.contains($0) }) { complain("\(lost) is one of the newest") }
        for id in gone { table.jobs[id] = nil }
        for job in table.jobs.values {
            if let need = job.needs.first(where: { !left.contains($0.job) }) { complain("\(job.id) lost \(need)") }
        }
        if removed > 0 { note("pruned") }
    }

    /// The service is killed, or stopped in good order, and started again.
    private mutating func restart() throws {
        if draw(2) == 0 { store.close() }
        store = try QueueStore(folder: folder.path)
        let loaded = try store.load()
        if !loaded.unreadable.isEmpty { complain("unreadable: \(loaded.unreadable)") }
        if loaded.queue.jobs != queue.jobs { complain("other jobs are open after a restart") }
        for need in queue.jobs.flatMap(\.needs) where loaded.queue.end(of: need.job) != table.known(need.job)?.ended {
            complain("the end of \(need.job) is another one after a restart")
        }
        queue = loaded.queue
        note("restart")
    }

    // MARK: The referee

    /// All stored jobs, newest first.
    private func stored() throws -> [Submission] {
        var jobs: [Submission] = []
        var cursor: JobID?
        repeat {
            let page = try store.list(JobFilter(), before: cursor, limit: 7)
            jobs += page.jobs
            cursor = page.next
        } while cursor != nil
        return jobs
    }

    /// Compares everything that the database has with the table.
    mutating func compare() throws {
        try restart()
        let jobs = table.jobs.values.sorted { $0.id > $1.id }
        if try stored() != jobs { complain("other jobs are stored") }
        for job in jobs {
            if try store.job(job.id) != job { complain("\(job.id) is another one") }
            if try store.known(job.id) != table.known(job.id) { complain("\(job.id) is known in another way") }
            if let run = job.state.run, try store.job(run: run) != job { complain("\(run) has another job") }
        }
        for name in JobState.Name.allCases {
            var filter = JobFilter()
            filter.states = [name]
            if try store.count(filter) != jobs.filter(filter.matches).count {
                complain("the count of \(name) is wrong")
            }
        }
        let problems = try store.checkIntegrity()
        if !problems.isEmpty { complain("\(problems)") }
    }
}
