package import Queueing

/// The answer to `POST /jobs`: the members of the job, and `is_new`.
///
/// A request whose key has been used before is answered with the job that it led to.
package struct SubmitResponse: Hashable, Sendable, Codable {
    package let job: QueueEntry
    package let isNew: Bool

    package init(_ job: QueueEntry, isNew: Bool) {
        self.job = job
        self.isNew = isNew
    }

    private enum CodingKeys: String, CodingKey { case isNew = "is_new" }

    package init(from decoder: any Decoder) throws {
        job = try QueueEntry(from: decoder)
        isNew = try decoder.container(keyedBy: CodingKeys.self).decode(Bool.self, forKey: .isNew)
    }

    package func encode(to encoder: any Encoder) throws {
        try job.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(isNew, forKey: .isNew)
    }
}

/// The answer to `GET /jobs`: one page, newest first.
package struct JobList: Hashable, Sendable, Codable {
    package let jobs: [QueueEntry]
    /// How many jobs the filter matches, on all pages.
    package let total: Int
    /// Of the next page. Nil on the last one. Only the service knows what it means.
    package let cursor: String?

    package init(_ jobs: [QueueEntry], total: Int, cursor: String?) {
        self.jobs = jobs
        self.total = total
        self.cursor = cursor
    }
}
