import Exports
import Foundation
import HTTPService
import JobModel
import Logging
import NoticeDelivery
import Notifications
import QueueStorage
import Queueing
import RenderFarm
import Runs
import Settings
import Supervision

/// Tells the targets of the config file of ends, of jobs that wait for a person, and of lateness.
struct Notices {
    private let ends: EndNotices
    private let late: LateJobs
    private let sender: NoticeSender
    private let clock: ServiceClock
    private let logger: Logger

    /// - Parameter serviceFolder: Nil for the one that commands look for beside the state folder.
    init(
        _ settings: Settings, serviceFolder: String?, _ store: QueueStore, _ clock: ServiceClock, _ logger: Logger
    ) throws {
        let rules = NoticeRules(settings)
        let stateFolder = settings.stateFolder.value
        var origin = try NoticeOrigin.of(
            store, host: ProcessInfo.processInfo.hostName, random: .random(in: .min ... .max))
        // Whoever reads a notice may have other settings.
        if settings.stateFolder.origin != .standard { origin.stateOption = Self.option("--state-dir", stateFolder) }
        origin.serviceOption = serviceFolder.map { Self.option("--service-dir", $0) } ?? origin.stateOption
        ends = EndNotices(rules, origin, stateFolder: stateFolder)
        do {
            late = try LateJobs(rules, origin, store: store, zone: .current) { job in
                try StoredRuns.latestSuccess(ofJob: job, state: stateFolder).map {
                    WallTime(milliseconds: $0 / 1_000_000)
                }
            }
        } catch let error as InputError {
            throw FarmError(.badManifest, "notifications: late: \(error.message)")
        }
        let sendmail = settings.sendmail.value
        sender = NoticeSender(
            rules, store: store,
            channels: .init(
                webhook: { await CurlSender().send($0, to: $1, secretFile: $2, now: $3) },
                mail: { await MailSender(program: sendmail).send($0) }),
            now: clock.wallTime, jitter: { .random(in: 0...1) },
            note: { logger.error("\($0)") })
        self.clock = clock
        self.logger = logger
    }

    /// ` --state-dir '/srv/my state'`
    private static func option(_ name: String, _ path: String) -> String { " \(name) \(ShellWord.quoted(path))" }

    /// The messages that are stored with a change of a job.
    func messages(of job: Submission) -> [OutboxMessage] { ends.messages(of: job) }

    /// The messages about a schedule that submits no job.
    func messages(of trouble: ScheduleTrouble) -> [OutboxMessage] {
        ends.messages(
            ofSchedule: trouble.name, problem: trouble.words, exitCode: trouble.exitCode, at: trouble.time)
    }

    /// There may be new messages.
    func wake() { sender.wake() }

    /// Jobs have changed.
    func jobsChanged(_ jobs: [Submission]) {
        let hasNews = jobs.contains { job in
            switch job.state {
            case .ended: true
            case .waiting(let waiting): waiting.pause?.cause.needsPerson == true
            case .held, .starting, .running: false
            }
        }
        if hasNews { sender.wake() }
    }

    /// Sends until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await sender.run(sleep: clock.sleep) }
            group.addTask {
                await late.run(
                    now: clock.wallTime, sleep: clock.sleep, found: { sender.wake() },
                    note: { logger.error("\($0)") })
            }
        }
    }
}
