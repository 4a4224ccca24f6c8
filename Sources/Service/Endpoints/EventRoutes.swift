package import HTTPService
package import Queueing
import ServiceAPI

/// What happens, for those who follow it.
extension Service {
    var eventRoutes: [Route] {
        [
            .api(.get, "/events", .read) { request in
                try request.refuseParameters(except: ["after", "job"])
                let owner = request.onlyOwner
                let beginning = try request.number("job", 1...Int.max).map { Array("{\"id\":\($0),".utf8) }
                return try feed.follow(request) { event in
                    beginning.map { event.name == "job" && event.data.starts(with: $0) } ?? true
                        && owner.map(event.isAboutJob) ?? true
                }
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
