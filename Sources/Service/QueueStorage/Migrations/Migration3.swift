import GRDB

/// The name of the file that an uploaded manifest stands for.
enum Migration3 {
    static func apply(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE submissions ADD COLUMN
                    -- Without its ending. NULL for the job's name.
                    manifest_name TEXT CHECK (manifest_name IS NULL OR manifest_text IS NOT NULL);
                """)
    }
}
