/// Pages of docs whose commands need a service. Its tests run them.
package enum ServicePages {
    /// Each is run with a service of its own.
    package static let guides = [
        "docs/how-to/give-access.md", "docs/how-to/order-the-queue.md", "docs/how-to/schedule-jobs.md",
        "docs/how-to/service-problems.md", first, "docs/how-to/use-the-page.md",
    ]

    /// The only guide that starts the service itself.
    package static let first = "docs/how-to/share-a-farm.md"

    /// They continue one another in this order.
    package static let interface = ["http", "http-jobs", "http-runs", "events", "http-admin"].map {
        "docs/reference/\($0).md"
    }
}
