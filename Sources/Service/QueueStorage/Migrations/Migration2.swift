import GRDB

/// Sessions of browsers that have shown a token.
enum Migration2 {
    static func apply(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE sessions (
                    -- SHA-256 of the cookie.
                    digest BLOB PRIMARY KEY CHECK (length(digest) = 32),
                    token TEXT NOT NULL REFERENCES tokens(id) ON DELETE CASCADE,
                    created INTEGER NOT NULL,
                    expires INTEGER NOT NULL CHECK (expires > created)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX sessions_of_token ON sessions (token, created);
                """)
    }
}
