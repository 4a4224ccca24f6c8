import Coordination
import Exports
import FoundationEssentials
import JobModel
import Notifications
import Planning
import Queueing
import RenderFarm
import Reports
import Runs
import Scheduling
import Settings
import Synchronization

/// Tells the targets of the config file's `on_end` and `on_failure` how runs ended.
///
/// A message is sent once. If that fails, the reporter says so, and the exit code stays what it is.
final class RunNotifications: Sendable {
    /// How long the command waits for messages after its last run.
    private static let patience = Duration.seconds(10)
    /// The most ends that wait, for targets that are slower than runs.
    private static let mostWaiting = 1000
    /// The most messages of a command that are kept as reasons.
    private static let mostReasons = 20

    private enum Event: Sendable {
        case notice(Notice)
        /// A mail that had to wait may be due.
        case wake
    }

    private struct State {
        /// Messages about parts of the request that were not done, each with its job if it has one.
        var reasons: [(job: String?, message: String)] = []
        var failures = 0
        /// Jobs whose frames have ended, and whose exit code is not known yet.
        var ends: [String: RunEnd] = [:]
        /// Nothing is sent after this time. Nil while runs go on.
        var end: ContinuousClock.Instant?
    }

    private let reporter: ConsoleReporter
    private let request: RunRequest
    private let onEnd: [NotificationTarget]
    private let onFailure: [NotificationTarget]
    private let sendmail: String
    private let state = Mutex(State())
    private let events: AsyncStream<Event>
    private let feed: AsyncStream<Event>.Continuation

    /// Nil if nobody wants to be told.
    init?(_ request: RunRequest, _ settings: Settings, _ reporter: ConsoleReporter) {
        guard !settings.onEnd.value.isEmpty || !settings.onFailure.value.isEmpty else { return nil }
        self.reporter = reporter
        self.request = request
        onEnd = settings.onEnd.value
        onFailure = settings.onFailure.value
        sendmail = settings.sendmail.value
        (events, feed) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.mostWaiting))
    }

    /// Carries out a run, and returns after all messages were sent or given up.
    func follow(_ run: RequestedRun) async throws -> RunOutcome {
        async let sent: Void = send()
        let result: Result<RunOutcome, any Error>
        do {
            result = .success(try await reporter.follow(run, by: self))
        } catch {
            result = .failure(error)
        }
        reportUnfinished()
        reportCommand(result)
        state.withLock { $0.end = .now + Self.patience }
        feed.finish()
        await sent
        return try result.get()
    }
}

extension ConsoleReporter {
    /// Carries out a request, and tells the targets of the config file how its runs ended.
    func followAndNotify(_ run: RequestedRun) async throws -> RunOutcome {
        // The run reads the same settings, and reports what is wrong with them.
        let settings = try? run.settings ?? Settings.load(run.request)
        guard let settings, let notifications = RunNotifications(run.request, settings, self) else {
            return try await follow(run)
        }
        return try await notifications.follow(run)
    }
}

// MARK: What to tell

extension RunNotifications: RunListener {
    var isBehind: Bool { reporter.isBehind }

    func receive(_ event: RunEvent) {
        reporter.receive(event)
        switch event {
        case .manifests(let outcome) where outcome.hasErrors: note(outcome.texts.joined(separator: "\n"), of: nil)
        case .notice(.failed(let error)) where ![.busy, .usage].contains(error.outcome): note(error.message, of: nil)
        case .notice(.job(let job, .failed(let message))): note(message, of: job)
        case .ended(let end): state.withLock { $0.ends[end.job.name] = end }
        case .finished(let job, let code, let trouble): finished(job, code, trouble)
        case .manifests, .began, .progress, .frame, .notice, .handedOver, .detached: break
        }
    }

    private func finished(_ job: String, _ code: RunOutcome, _ trouble: RunTrouble?) {
        let end = state.withLock { state in
            // The notice of the run has these messages.
            state.reasons.removeAll { trouble?.reasons?.contains($0.message) == true }
            return state.ends.removeValue(forKey: job)
        }
        if let end, let notice = notice(of: end, code, trouble) { add(notice) }
    }

    /// Tells of runs of which an error has prevented the end.
    private func reportUnfinished() {
        let ends = state.withLock { state in
            defer { state.ends = [:] }
            return state.ends
        }
        for (_, end) in ends.sorted(by: { $0.key < $1.key }) {
            let code = RunOutcome(end.summary, isStrict: request.isStrict)
            if let notice = notice(of: end, code, nil) { add(notice) }
        }
    }

    private func note(_ message: String, of job: String?) {
        state.withLock { if $0.reasons.count < Self.mostReasons { $0.reasons.append((job, message)) } }
    }

    private func add(_ notice: Notice) {
        if notice.isFailure { state.withLock { $0.failures += 1 } }
        feed.yield(.notice(notice))
    }

    private func notice(_ job: String, _ end: Notice.End) -> Notice {
        let option = request.stateFolder.map {
            " --state-dir " + ShellWord.quoted(PathText.normalized($0, in: request.folder))
        }
        return Notice(
            job: job, host: ProcessInfo.processInfo.hostName, time: Self.now,
            command: (end.run.map { "penumbra show \($0)" } ?? "penumbra status") + (option ?? ""),
            event: .ended(end))
    }

    private static var now: WallTime {
        WallTime(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }

    /// Nil for a run of which nobody has to be told: it is resumed later, another process has it, or a watch found
    /// nothing to do.
    private func notice(of end: RunEnd, _ code: RunOutcome, _ trouble: RunTrouble?) -> Notice? {
        let summary = end.summary
        guard !request.isWatching || summary.didSomething || trouble?.reasons != nil else { return nil }
        let outcome: Notice.End.Outcome
        switch summary.stop {
        case nil: outcome = code == .done ? .done : .failed
        case .interrupted, .superseded, .detached: return nil
        case .cancelled: outcome = .cancelled
        case .deadline: outcome = .workLeft
        case .storage, .engine, .resourceLimit, .cluster, .lastSlot, .pluginFault, .failures: outcome = .stopped
        }
        let failures = summary.failures.prefix(Notice.End.mostFailures).compactMap { report -> String? in
            guard case .failed(_, let message) = report.state else { return nil }
            return SummaryText.line(report.input, page: report.page, message, end.job.folder)
        }
        return notice(
            end.job.name,
            Notice.End(
                run: end.isRecorded ? end.run : nil, outcome: outcome, exitCode: code.number, counts: summary.counts,
                reason: summary.stopMessage ?? trouble?.reason, failures: failures,
                kept: lines(trouble?.kept, end), broken: lines(trouble?.broken, end)))
    }

    private func lines(_ files: [FileReason]?, _ end: RunEnd) -> [String] {
        (files ?? []).map { SummaryText.line($0.path, $0.reason, end.job.folder) }
    }

    /// Tells of trouble outside of runs: of jobs that could not start, and of work after the last frame.
    private func reportCommand(_ result: Result<RunOutcome, any Error>) {
        // A watch goes on in spite of such trouble.
        guard !request.isWatching else { return }
        var (outcome, error): (RunOutcome, FarmError?) = (.done, nil)
        switch result {
        case .success(let code): outcome = code
        case .failure(let failure):
            guard FarmError.knows(failure) else { return }
            let known = FarmError(failure)
            (outcome, error) = (known.outcome, known)
        }
        if let error, !error.isReported, ![.busy, .usage].contains(error.outcome) { note(error.message, of: nil) }
        let (reasons, failures) = state.withLock { ($0.reasons, $0.failures) }
        // If another coordinator has ended the run, that one tells of it.
        if let error, error.isReported, reasons.isEmpty { return }
        // Signals leave runs that are resumed. Another run that is active is none of this command's failures.
        guard outcome < .hungUp else { return }
        let isFailure = ![.done, .workLeft, .usage, .busy].contains(outcome)
        guard !reasons.isEmpty || isFailure && failures == 0 else { return }
        let jobs = Set(reasons.map(\.job))
        let job = jobs.count == 1 ? jobs.first ?? nil : nil
        add(
            notice(
                job ?? manifestNames,
                Notice.End(
                    run: nil, outcome: .failed, exitCode: outcome.number, counts: nil,
                    reason: reasons.isEmpty ? nil : reasons.map(\.message).joined(separator: "\n"))))
    }

    /// The manifests of the command, without their folders.
    private var manifestNames: String {
        let names = request.manifests.prefix(5).map { PathText.name(of: $0.path) }
        return names.joined(separator: ", ") + (request.manifests.count > names.count ? ", …" : "")
    }
}

// MARK: Sending

extension RunNotifications {
    /// The mails of one job for one address.
    private struct MailKey: Hashable {
        let address: String
        let job: String
    }

    /// Sends messages until the feed ends.
    private func send() async {
        var digests: [MailKey: MailDigest] = [:]
        var alarm: Task<Void, Never>?
        defer { alarm?.cancel() }
        for await event in events {
            if case .notice(let notice) = event {
                let targets = targets(of: notice)
                for case .mail(let address) in targets {
                    digests[MailKey(address: address, job: notice.job), default: MailDigest()].add(notice)
                }
                await sendWebhooks(targets, notice)
            }
            await sendMails(&digests, isLast: false)
            alarm?.cancel()
            alarm = digests.values.compactMap { $0.due(at: Self.now) }.min().map { due in
                Task {
                    // The sleep fails if another event came first.
                    guard (try? await Task.sleep(for: due - Self.now)) != nil else { return }
                    self.feed.yield(.wake)
                }
            }
        }
        await sendMails(&digests, isLast: true)
    }

    /// The targets of a notice, each once.
    private func targets(of notice: Notice) -> [NotificationTarget] {
        let all = onEnd + (notice.isFailure ? onFailure : [])
        var seen: Set<NotificationTarget> = []
        return all.filter { seen.insert($0).inserted }
    }

    private func sendWebhooks(_ targets: [NotificationTarget], _ notice: Notice) async {
        let message = WebhookMessage(notice, id: Self.newID(notice))
        await withTaskGroup(of: Void.self) { group in
            for target in targets {
                guard case .webhook(let address, let secretFile) = target else { continue }
                group.addTask {
                    await self.deliver(to: target, of: notice.job) { limit in
                        await CurlSender(limit: limit).send(
                            message, to: address, secretFile: secretFile, now: Self.now)
                    }
                }
            }
        }
    }

    /// - Parameter isLast: whether no later mail will come.
    private func sendMails(_ digests: inout [MailKey: MailDigest], isLast: Bool) async {
        let now = Self.now
        var mails: [(key: MailKey, message: MailMessage)] = []
        for key in digests.keys.sorted(by: { ($0.job, $0.address) < ($1.job, $1.address) }) {
            guard let batch = digests[key]?.take(at: now, isLast: isLast), let last = batch.notices.last else {
                continue
            }
            mails.append((key, MailMessage(batch, to: key.address, id: Self.newID(last), sent: now)))
        }
        await withTaskGroup(of: Void.self) { group in
            for mail in mails {
                group.addTask {
                    await self.deliver(to: .mail(mail.key.address), of: mail.key.job) { limit in
                        await MailSender(program: self.sendmail, limit: limit).send(mail.message)
                    }
                }
            }
        }
    }

    /// Delivers a message, and reports if that fails.
    ///
    /// - Parameter send: gets the time that is left.
    private func deliver(
        to target: NotificationTarget, of job: String, _ send: (Duration) async -> Delivery
    ) async {
        let limit = state.withLock { $0.end.map { min(Self.patience, $0 - .now) } ?? Self.patience }
        let problem = limit > .zero ? await send(limit).problem : "there was no time left for it"
        guard let problem else { return }
        reporter.show(
            RunNotice.Text(
                .remark,
                "\(VisibleText.line(job)): the notification to \(target.shown) was not delivered: \(problem)"))
    }

    private static func newID(_ notice: Notice) -> String {
        var name = notice.job
        if case .ended(let end) = notice.event, let run = end.run { name = run }
        return "\(name)-\(String(UInt64.random(in: 1 << 60 ... .max), radix: 16))"
    }
}
