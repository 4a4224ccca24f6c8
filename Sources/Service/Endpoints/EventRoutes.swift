package import HTTPService
package import Queueing
import ServiceAPI

/// What happens, for those who follow it.
extension Service {
    var eventRoutes: [Route] {
        [
            .api(.get, "/events", .read) { request in
                try request.refuseParameters(except: ["after", "job"])
                guard let job = try request.number("job", 1...Int.max) else { return try feed.follow(request) }
                let beginning = Array("{\"id\":\(job),".utf8)
                return try feed.follow(request) { $0.name == "job" && $0.data.starts(with: beginning) }
            }
        ]
    }

    /// Tells followers of changed jobs.
    package static func publish(_ jobs: [Submission], to feed: EventFeed) {
        for job in jobs {
            // What cannot be encoded is not told. A job always can be.
            guard let data = try? StrictJSON.encode(JobEvent(id: job.id, entry: QueueEntry(job))) else { continue }
            feed.publish("job", data)
        }
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
