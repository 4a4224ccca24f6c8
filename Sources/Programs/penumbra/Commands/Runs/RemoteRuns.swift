import Foundation
import JobModel
import Queueing
import RenderFarm
import Runs
import ServiceAPI
import ServiceClient

/// The runs of a service's state folder.
struct RemoteRuns {
    let client: APIClient

    private static let pause = Duration.milliseconds(500)

    /// Waits before the service is asked again.
    static func waitABit() { APIClient.Options().pause(pause) }

    // MARK: Which run

    /// The latest first.
    ///
    /// - Parameter ended: how many runs that have ended are wanted; nil for all of them.
    func runs(ended: Int? = nil) throws(ServiceError) -> [RunLine] {
        try client.call(ClientRequest(.get, "/runs" + (ended.map { "?ended=\($0)" } ?? "")), as: RunList.self).runs
    }

    /// The run with this whole name, as it is now.
    func renewed(_ run: RunLine) throws(ServiceError) -> RunLine {
        try client.call(ClientRequest(.get, path(run.run)), as: RunLine.self)
    }

    /// - Parameter name: as of `RunFinder`.
    func run(_ name: String?) throws -> RunLine {
        guard let name else { return try whole(finder(among: runs(ended: 1)).run(nil)) }
        if RunName(name) != nil {
            do throws(ServiceError) {
                return try line(name)
            } catch {
                // It may be the beginning of a name, or a job.
                guard error.status == 404 else { throw error }
            }
        }
        return try whole(finder(among: runs()).run(name))
    }

    /// The line of a run with the names of pictures, which lists leave out.
    private func whole(_ listed: RunLine) throws(ServiceError) -> RunLine {
        let counts = listed.counts
        return counts.trouble != nil || counts.kept + counts.stillBroken > 0 ? try line(listed.run) : listed
    }

    private func line(_ run: String) throws(ServiceError) -> RunLine {
        try client.call(ClientRequest(.get, path(run)), as: RunLine.self)
    }

    /// - Returns: nil if no name was given, and all runs have ended.
    func run(toEnd name: String?) throws -> RunLine? {
        guard name == nil else { return try run(name) }
        return try finder(among: runs(ended: 1)).run(toEnd: nil)
    }

    private func finder(among runs: [RunLine]) -> RunFinder<RunLine> {
        RunFinder(runs, listing: "penumbra status --server \(client.address)") { run in
            RunFinder.Facts(name: run.run, job: run.job, isEnded: run.condition?.isEnded ?? false)
        }
    }

    private func path(_ run: String) -> String { "/runs/\(APIPath.escaped(run))" }

    // MARK: What a run has done

    /// - Parameter state: only frames with this state; nil for all.
    func forEachFrame(
        of run: RunLine, _ state: FrameResult.Kind? = nil, _ body: (StoredFrameLine) -> Void
    ) throws(ServiceError) {
        let filter = state.map { "&state=\($0.rawValue)" } ?? ""
        var place: String?
        repeat {
            let after = place.map { "&after=\(APIPath.escaped($0))" } ?? ""
            let page = try client.call(
                ClientRequest(.get, "\(path(run.run))/frames?limit=1000\(filter)\(after)"), as: FramePage.self)
            for frame in page.frames { body(frame) }
            place = page.after
        } while place != nil
    }

    /// - Parameter task: only attempts of this task; nil for all.
    func forEachAttempt(
        of run: RunLine, _ task: String?, _ body: (AttemptLine) -> Void
    ) throws(ServiceError) {
        let filter = task.map { "&task=\(APIPath.escaped($0))" } ?? ""
        var place: String?
        repeat {
            let after = place.map { "&after=\(APIPath.escaped($0))" } ?? ""
            let page = try client.call(
                ClientRequest(.get, "\(path(run.run))/attempts?limit=100\(filter)\(after)"), as: AttemptPage.self)
            for attempt in page.attempts { body(attempt) }
            place = page.after
        } while place != nil
    }

    func taskCounts(of run: RunLine) throws(ServiceError) -> TaskCounts {
        try client.call(ClientRequest(.get, "\(path(run.run))/tasks"), as: TaskCounts.self)
    }

    private struct BrokenList: Decodable { let broken: [BrokenLine] }

    func broken(in run: RunLine) throws(ServiceError) -> [BrokenLine] {
        guard run.counts.stillBroken > 0 else { return [] }
        return try client.call(ClientRequest(.get, "\(path(run.run))/broken"), as: BrokenList.self).broken
    }

    /// Nil if the states of the run's frames are not known.
    func map(of run: RunLine) throws(ServiceError) -> MapLine? {
        do throws(ServiceError) {
            return try client.call(ClientRequest(.get, "\(path(run.run))/map"), as: MapLine.self)
        } catch {
            guard error.kind == "no-map" else { throw error }
            return nil
        }
    }

    /// The job that the run belongs to; nil for a run that was begun by hand.
    func job(of run: RunLine) throws(ServiceError) -> QueueEntry? {
        do throws(ServiceError) {
            return try client.call(ClientRequest(.get, "\(path(run.run))/job"), as: QueueEntry.self)
        } catch {
            guard error.kind == "no-job" else { throw error }
            return nil
        }
    }

    // MARK: Changes

    enum Action: String {
        case pause
        case resume
        case cancel
    }

    @discardableResult
    func ask(_ action: Action, of run: RunLine) throws(ServiceError) -> RunLine {
        try client.call(ClientRequest(.post, "\(path(run.run))/\(action.rawValue)"), as: RunLine.self)
    }

    /// Does a job again, as a new one.
    func retry(_ job: QueueEntry, _ change: RetryRequest) throws -> SubmitResponse {
        try client.call(.retry(job.id.number, change), as: SubmitResponse.self)
    }

    // MARK: Waiting

    /// How long a service may be away, in looks: ten minutes.
    private static let mostFailures = 1200

    /// Waits until a run has ended, or until nobody will continue it. A service that is replaced by its next version is waited for, too.
    ///
    /// - Parameter end: when to give up; nil for never.
    /// - Returns: the run after its end; nil if `end` came first.
    func wait(for begun: RunLine, until end: ContinuousClock.Instant?) throws(ServiceError) -> RunLine? {
        var (run, absence) = (begun, Absence())
        while true {
            do throws(ServiceError) {
                run = try renewed(run)
                if try hasEnded(run) { return run }
                absence.end()
            } catch {
                try absence.bear(error)
            }
            if let end, ContinuousClock.now >= end { return nil }
            Self.waitABit()
        }
    }

    /// A service that does not answer for some time, because it is replaced by its next version for example.
    struct Absence {
        private var failures = 0

        /// The service has answered.
        mutating func end() { failures = 0 }

        /// Throws the error if no answer is to be expected any more.
        mutating func bear(_ error: ServiceError) throws(ServiceError) {
            failures += 1
            guard error.mayPass, failures < RemoteRuns.mostFailures else { throw error }
            if failures == 1 { Console.complain("\(error.message)\n   = waiting for it") }
        }
    }

    /// Whether a run has not ended, and somebody will continue it.
    func isAnyGoingOn(of runs: [RunLine]) throws(ServiceError) -> Bool {
        for run in runs where try !hasEnded(run) { return true }
        return false
    }

    /// The service resumes interrupted runs of its own jobs.
    private func hasEnded(_ run: RunLine) throws(ServiceError) -> Bool {
        switch run.condition {
        case .running, .paused, .detached, nil: false
        case .interrupted: try job(of: run)?.state.isEnd ?? true
        case .done, .failed, .stopped: true
        }
    }
}

extension ClientRequest {
    /// Hands a job in again, once.
    static func retry(_ job: Int, _ change: RetryRequest) throws -> ClientRequest {
        let body = change == RetryRequest() ? nil : try StrictJSON.encode(change)
        return ClientRequest(.post, "/jobs/\(job)/retry", body: body, key: "cli-\(UUID().uuidString)")
    }
}
