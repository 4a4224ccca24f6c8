package import HTTPService
package import Queueing
import Runs
import ServiceAPI
package import Supervision

/// What happens, for those who follow it.
extension Service {
    var eventRoutes: [Route] {
        [
            .api(.get, "/events", .read, parameters: ["after", "job", "run"], handler: follow)
        ]
    }

    private func follow(_ request: APIRequest) async throws -> APIResponse {
        var subjects: Set<String> = []
        // A misspelled name would be silent for ever.
        if let number = try request.number("job", 1...Int.max) {
            subjects.insert(Self.subject(try await visibleJob(JobID(number), to: request)))
        }
        if let run = try request.query.value("run") {
            let job = try await supervisor.job(ofRun: run)
            if let owner = request.onlyOwner {
                guard job?.owner == owner else { throw Self.unknownRun(run) }
            } else if job == nil {
                _ = try await onArchive { try $0.run(exactly: run) }
            }
            subjects.insert(Self.subject(ofRun: run))
            if let job { subjects.insert(Self.subject(job.id)) }
        }
        let isAll = subjects.isEmpty
        // A token with folders hears of its own jobs and their runs alone.
        let owner = request.onlyOwner
        return try feed.follow(request, coalescing: .frames(join: FramesData.joined)) { [subjects] event in
            if let owner, event.owner != owner { return false }
            guard let subject = event.subject else { return isAll }
            return isAll || subjects.contains(subject)
        }
    }

    /// - Throws: ``Refusal`` if there is no such job, or if the caller does not see it.
    private func visibleJob(_ id: JobID, to request: APIRequest) async throws -> JobID {
        let job = try await supervisor.job(id).job
        guard request.onlyOwner.map({ $0 == job.owner }) ?? true else { throw Refusal(id, .unknownJob) }
        return id
    }

    private static func subject(_ job: JobID) -> String { "job \(job.number)" }
    static func subject(ofRun name: String) -> String { "run \(name)" }

    /// Tells followers of changed jobs.
    ///
    /// - Parameter ownerName: the name of a job's owner.
    package static func publish(_ jobs: [Submission], to feed: EventFeed, ownerName: (Owner) -> String?) {
        for job in jobs {
            // What cannot be encoded is not told. A job always can be.
            guard
                let data = try? StrictJSON.encode(
                    JobEvent(
                        id: job.id, entry: QueueEntry(job, ownerName: ownerName(job.owner))))
            else { continue }
            feed.publish("job", data, about: subject(job.id), of: job.owner)
        }
    }

    /// Tells followers of something that only a person can do something about.
    package static func publish(_ note: SupervisorNote, to feed: EventFeed) {
        let words = Explanation(message: note.text)
        guard let data = try? StrictJSON.encode(["detail": words.summary, "remedy": words.remedy]) else { return }
        feed.publish("notice", data)
    }
}

/// `{"id":17,"job":{…}}`
private struct JobEvent: Encodable {
    let id: JobID
    let entry: QueueEntry

    private enum CodingKeys: String, CodingKey {
        case id
        case entry = "job"
    }
}
