import GRDB

/// What became of every frame of a run, for pictures of the run after its end.
enum Migration6 {
    static func apply(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE maps (
                    run INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE,
                    -- Of `FrameMap`. Runs of earlier versions have none.
                    text TEXT NOT NULL
                );
                """)
    }
}
