import GRDB

/// The highest priority of a token's jobs.
enum Migration4 {
    static func apply(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE tokens ADD COLUMN
                    -- NULL for no limit. An administrator has none.
                    max_priority INTEGER CHECK (max_priority IS NULL OR max_priority BETWEEN 0 AND 100 AND scope <> 'admin');
                """)
    }
}
