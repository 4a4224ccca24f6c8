import JobModel
package import JobStorage

/// A published output with all that is known of it.
package struct RecordedOutput: Hashable, Sendable {
    package let record: OutputRecord
    /// The name of the job that published it.
    package let job: String
    /// How it was made; nil where a receipt alone tells of it.
    package let recipe: String?

    package init(_ record: OutputRecord, job: String, recipe: String?) {
        self.record = record
        self.job = job
        self.recipe = recipe
    }
}
