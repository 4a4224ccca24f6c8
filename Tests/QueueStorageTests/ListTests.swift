import QueueStorage
import Queueing
import TestSupport
import Testing

@Suite struct ListTests {
    let stored: StoredQueue

    init() throws { stored = try StoredQueue() }

    /// All pages of a list.
    private func pages(_ filter: JobFilter, limit: Int) throws -> [[JobID]] {
        var pages: [[JobID]] = []
        var cursor: JobID?
        repeat {
            let page = try stored.store.list(filter, before: cursor, limit: limit)
            pages.append(page.jobs.map(\.id))
            cursor = page.next
        } while cursor != nil && pages.count < 1000
        return pages
    }

    @Test func `a list has the newest jobs first, in pages without gaps`() throws {
        #expect(try pages(JobFilter(), limit: 2) == [[]])
        for _ in 0..<5 { try stored.submit() }
        #expect(try pages(JobFilter(), limit: 2) == [[5, 4], [3, 2], [1]])
        #expect(try pages(JobFilter(), limit: 5) == [[5, 4, 3, 2, 1]])
        #expect(try pages(JobFilter(), limit: 0) == [[5], [4], [3], [2], [1]])
    }

    @Test func `jobs that come meanwhile do not shift a page`() throws {
        for _ in 0..<4 { try stored.submit() }
        let first = try stored.store.list(JobFilter(), limit: 2)
        try stored.submit()
        #expect(try stored.store.list(JobFilter(), before: first.next, limit: 2).jobs.map(\.id) == [2, 1])
    }

    @Test func `a page of large manifests ends early, and the next one goes on`() throws {
        let manifest = ManifestSource(
            .uploaded(text: String(repeating: "x", count: 3 << 20), folder: "/srv"), digest: "m")
        for _ in 0..<5 { try stored.submit(manifest: manifest) }
        #expect(try pages(JobFilter(), limit: 10) == [[5, 4, 3], [2, 1]])
    }

    private static let filters = [
        "", "state=waiting", "state=held,running", "state=open", "state=ended", "owner=token:a",
        "owner=token:a&owner=uid:7",
        "label=show", "label=show=a", "label=show=a&label=x", "label=show=*", "label=show=a*",
        "label=show=*b&label=x=1*",
        "label=show=[ab]", "label=show=?", "label=show=%E2%98%83*", "label=show=", "name=n*", "name=*", "name=*b",
        "name=a[1]", "name=a?",
        "name=n*&name=a[*", "name=*%C3%A9", "name=%E2%98%83*", "label=show=%E2%98%83", "owner=token:%E2%98%83",
        "state=waiting,held&owner=token:a&label=show=a&name=*n*", "name=a%00b",
    ]

    /// Jobs of all kinds.
    private func fill(_ random: inout SplitMix64) throws -> [Submission] {
        let names = ["night", "nab", "b", "a[1]", "a1", "a?", "ab", "☃ snow", "a[2", ""]
        let owners: [Owner] = [.token("a"), .user(7), .schedule("s"), .token("☃")]
        let labels = [
            [:], ["show": "a"], ["show": "b"], ["show": "a", "x": "1"], ["show": "☃"], ["show": "ab", "x": "12"],
            ["show": "?"], ["show": ""],
        ]
        return try (0..<120).map { number in
            var job = try stored.submit(
                owner: owners.randomElement(using: &random) ?? .user(7),
                name: names.randomElement(using: &random) ?? "",
                labels: labels.randomElement(using: &random) ?? [:], isHeld: Bool.random(using: &random))
            if job.state.name == .waiting {
                let last = Int.random(in: 0..<4, using: &random)
                if last > 0 { try job.start(run: "run-\(number)", at: .noon) }
                if last > 1 { try job.started(at: .noon) }
                if last > 2 {
                    let codes = [0, 1, 3, 130]
                    try job.processEnded(
                        code: codes.randomElement(using: &random), leaving: .ended, text: "", progressed: false,
                        at: .noon)
                }
                try stored.store.update(job, at: .noon)
            }
            return job
        }
    }

    @Test func `lists and counts are those that the filter itself gives`() throws {
        var random = SplitMix64(seed: 7)
        let jobs = try fill(&random)
        for text in Self.filters {
            let filter = try JobFilter(text: text)
            let expected = jobs.filter(filter.matches).reversed().map(\.id)
            for limit in [1, 7, 1000] {
                #expect(try pages(filter, limit: limit).flatMap { $0 } == expected, "\(text) by \(limit)")
            }
            #expect(try stored.store.count(filter) == expected.count, "\(text)")
        }
    }

    @Test(arguments: ["", "state=waiting", "state=open", "state=ended", "owner=token:a"])
    func `for a page by states or by an owner the database looks only at the page's jobs`(text: String) throws {
        let plan = try stored.store.plan(try JobFilter(text: text), before: 5000, limit: 50)
        #expect(plan.isExact)
        #expect(plan.steps.contains { $0.hasPrefix("SEARCH submissions USING") && $0.contains("<?)") })
        // That would be a walk through all jobs.
        #expect(!plan.steps.contains { $0.hasPrefix("SCAN submissions") })
    }

    @Test func `conditions that mean something else in SQL are left to the filter`() throws {
        for text in ["owner=token:%E2%98%83", "label=show=%E2%98%83", "name=a%00b"] {
            #expect(try !stored.store.plan(JobFilter(text: text), before: nil, limit: 1).isExact, "\(text)")
        }
        var long = JobFilter()
        long.names = [String(repeating: "*a", count: 40_000)]
        #expect(try !stored.store.plan(long, before: nil, limit: 1).isExact)
        #expect(try stored.store.count(long) == 0)
        var many = JobFilter()
        many.owners = Set((0..<5000).map { Owner.user($0) })
        try stored.submit(owner: .user(4999))
        #expect(try stored.store.count(many) == 1)
        var deep = JobFilter()
        deep.labels = Set((0..<5000).map { .init(name: "n\($0)", value: nil) })
        #expect(try stored.store.count(deep) == 0)
    }
}
