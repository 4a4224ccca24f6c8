import GRDB

/// Finds the last success of each name without reading all jobs.
enum Migration5 {
    static func apply(_ database: Database) throws {
        try database.execute(sql: "CREATE INDEX successes ON submissions (state, name, ended) WHERE state = 'done'")
    }
}
