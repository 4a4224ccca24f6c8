import GRDB
package import Queueing

/// The SQL of a filter.
///
/// As much of the filter is in it as means exactly the same in SQL. ``JobFilter/matches(_:)`` decides the rest.
struct JobListQuery {
    /// Counts the jobs.
    let count: String
    /// The numbers of the jobs of one page, newest first.
    let page: String
    /// All jobs, oldest first.
    let jobs: String
    /// Of ``count`` and ``jobs``.
    let arguments: StatementArguments
    /// Of ``page``.
    let pageArguments: StatementArguments
    /// Whether the SQL means the same as the filter.
    let isExact: Bool

    /// - Parameters:
    ///   - cursor: Only jobs with a lower number.
    ///   - limit: The largest number of rows of ``page``.
    init(_ filter: JobFilter, before cursor: JobID? = nil, limit: Int = 0) {
        var conditions = Conditions()
        conditions.add(filter)
        isExact = conditions.isExact
        let states = filter.states.map(\.rawValue).sorted()
        let common = conditions.sql
        let inStates = states.isEmpty ? [] : ["state IN (\(marks(states.count)))"]
        let all = Self.clause(inStates + common)
        count = "SELECT count(*) FROM submissions\(all)"
        jobs = "SELECT \(SubmissionRow.columns) FROM submissions\(all) ORDER BY id"
        arguments = StatementArguments(states.map { $0 as (any DatabaseValueConvertible)? } + conditions.arguments)
        // One index walk for each state. Otherwise SQLite would collect and sort all jobs of several states.
        let before = cursor.map { _ in ["id < ?"] } ?? []
        let place: [(any DatabaseValueConvertible)?] = cursor.map { [$0.number] } ?? []
        var walks: [String] = []
        var walkArguments: [(any DatabaseValueConvertible)?] = []
        for state in states.isEmpty ? [nil] : states.map(Optional.some) {
            let clause = Self.clause((state == nil ? [] : ["state = ?"]) + before + common)
            walks.append("SELECT id FROM (SELECT id FROM submissions\(clause) ORDER BY id DESC LIMIT ?)")
            if let state { walkArguments.append(state) }
            walkArguments += place + conditions.arguments + [limit]
        }
        page = "\(walks.joined(separator: " UNION ALL ")) ORDER BY id DESC LIMIT ?"
        pageArguments = StatementArguments(walkArguments + [limit])
    }

    private static func clause(_ conditions: [String]) -> String {
        conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    }

    /// Owners, labels and names.
    private struct Conditions {
        var sql: [String] = []
        var arguments: [(any DatabaseValueConvertible)?] = []
        var isExact = true

        mutating func add(_ filter: JobFilter) {
            // Nobody has put owners in the place of the names.
            if !filter.ownerNames.isEmpty { isExact = false }
            add(filter.owners.map(\.text).sorted()) { "owner IN (\(marks($0.count)))" }
            // SQLite refuses deep conditions.
            let labels = filter.labels.count <= 32 ? filter.labels : []
            if labels.count < filter.labels.count { isExact = false }
            for label in labels.sorted(by: { ($0.name, $0.value ?? "") < ($1.name, $1.value ?? "") }) {
                add([label.name] + (label.value.map { [Self.pattern($0)] } ?? [])) { texts in
                    "EXISTS (SELECT 1 FROM json_each(CASE WHEN json_valid(labels) THEN labels ELSE '{}' END) "
                        + "WHERE json_each.key = ?\(texts.count == 2 ? " AND json_each.value GLOB ?" : ""))"
                }
            }
            let patterns = filter.names.sorted().map(Self.pattern)
            // SQLite refuses longer patterns.
            guard patterns.allSatisfy({ $0.utf8.count < 10_000 }) else {
                isExact = false
                return
            }
            guard !patterns.isEmpty, patterns.count <= 100, !patterns.contains(where: { $0.utf8.contains(0) }) else {
                isExact = isExact && patterns.isEmpty
                return
            }
            sql.append("(" + patterns.map { _ in "name GLOB ?" }.joined(separator: " OR ") + ")")
            arguments += patterns.map { $0 as (any DatabaseValueConvertible)? }
        }

        /// Adds a condition that compares texts byte for byte. `Queueing` compares characters. For ASCII that is the
        /// same, apart from three signs that Unicode keeps for old texts, such as the one for kelvin.
        private mutating func add(_ texts: [String], _ condition: ([String]) -> String) {
            guard !texts.isEmpty else { return }
            // SQLite allows some thousand arguments, and refuses longer patterns.
            guard texts.count <= 100,
                texts.allSatisfy({ $0.utf8.count < 10_000 && $0.utf8.allSatisfy { (1...127).contains($0) } })
            else {
                isExact = false
                return
            }
            sql.append(condition(texts))
            arguments += texts.map { $0 as (any DatabaseValueConvertible)? }
        }

        /// In SQLite's patterns `?` and `[` have a meaning, too.
        private static func pattern(_ name: String) -> String {
            name.unicodeScalars.map { $0 == "[" || $0 == "?" ? "[\($0)]" : String($0) }.joined()
        }
    }
}

private func marks(_ count: Int) -> String { Array(repeating: "?", count: count).joined(separator: ", ") }

/// A part of a list of jobs.
package struct JobPage: Hashable, Sendable {
    /// Newest first.
    package var jobs: [Submission] = []
    /// Rows of the page that cannot be read.
    package var unreadable: [UnreadableRow] = []
    /// Where the next page begins. Nil if this is the last one.
    package var next: JobID?

    package init() {}
}

extension QueueStore {
    /// The largest number of jobs of a page.
    package static let longestPage = 1000

    /// Uploaded manifests may be large. A page ends early if its manifests have more bytes than this.
    package static let mostPageBytes = 8 << 20

    /// A page of the jobs that a filter matches, newest first.
    ///
    /// For filters by state or owner it reads no other jobs. A page may have fewer jobs than the limit, although others
    /// follow.
    ///
    /// - Parameter cursor: ``JobPage/next`` of the page before.
    package func list(_ filter: JobFilter, before cursor: JobID? = nil, limit: Int) throws -> JobPage {
        let limit = min(max(1, limit), Self.longestPage)
        return try read { database in
            let reader = JobReader(database: database, store: self)
            var page = JobPage()
            var bytes = 0
            var cursor = cursor
            while true {
                let query = JobListQuery(filter, before: cursor, limit: limit + 1)
                let found = try Row.fetchAll(database, sql: query.page, arguments: query.pageArguments)
                for row in found {
                    let id = JobID(try row.stored("id"))
                    if page.jobs.count + page.unreadable.count >= limit || bytes > Self.mostPageBytes {
                        page.next = page.last
                        return page
                    }
                    cursor = id
                    guard
                        let row = try database.row(
                            "SELECT \(SubmissionRow.columns) FROM submissions WHERE id = ?", [id.number])
                    else { continue }
                    for job in try reader.jobs([row], &page.unreadable) where filter.matches(job) {
                        page.jobs.append(job)
                        if case .uploaded(let text, _) = job.manifest.place { bytes += text.utf8.count }
                    }
                }
                if found.count <= limit { return page }
            }
        }
    }

    /// How the database would find a page, in SQLite's words, and whether it decides the whole filter. Tests judge the
    /// speed of lists by it without measuring times.
    package func plan(
        _ filter: JobFilter, before cursor: JobID?, limit: Int
    ) throws -> (steps: [String], isExact: Bool) {
        try read { database in
            let query = JobListQuery(filter, before: cursor, limit: limit)
            let rows = try Row.fetchAll(
                database, sql: "EXPLAIN QUERY PLAN \(query.page)", arguments: query.pageArguments)
            return (try rows.map { try $0.stored("detail") }, query.isExact)
        }
    }

    /// The number of jobs that a filter matches. Jobs that cannot be read count only if the database can decide it.
    package func count(_ filter: JobFilter) throws -> Int {
        try read { database in
            let query = JobListQuery(filter)
            if query.isExact {
                return try Int.fetchOne(database, sql: query.count, arguments: query.arguments) ?? 0
            }
            let reader = JobReader(database: database, store: self)
            var count = 0
            var unreadable: [UnreadableRow] = []
            let rows = try Row.fetchCursor(database, sql: query.jobs, arguments: query.arguments)
            while let row = try rows.next() {
                count += try reader.jobs([row], &unreadable).count(where: filter.matches)
            }
            return count
        }
    }
}

extension JobPage {
    /// The number of its last row.
    fileprivate var last: JobID? {
        [jobs.last?.id, unreadable.last?.job].compactMap { $0 }.min()
    }
}
