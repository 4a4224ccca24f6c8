import GRDB

/// Outputs that were published, pictures that are broken.
///
/// Whatever is here can be lost: outputs are listed beside them too (`.penumbra-index`), and what is nowhere is rendered again.
enum Migration1 {
    /// Digests are two numbers, times nanoseconds since 1970. An output's row names its input, as it was then, and its recipe.
    private static let output = """
            job INTEGER NOT NULL REFERENCES jobs(id),
            path TEXT NOT NULL,
            input TEXT NOT NULL,
            page INTEGER NOT NULL CHECK (page >= 0),
            part INTEGER NOT NULL CHECK (part >= 0),
            input_inode INTEGER NOT NULL,
            input_size INTEGER NOT NULL,
            input_modified INTEGER NOT NULL,
            input_high INTEGER NOT NULL,
            input_low INTEGER NOT NULL,
            recipe INTEGER NOT NULL REFERENCES recipes(id),
            inode INTEGER NOT NULL,
            size INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            high INTEGER NOT NULL,
            low INTEGER NOT NULL,
            width INTEGER NOT NULL,
            height INTEGER NOT NULL,
            adopted INTEGER NOT NULL CHECK (adopted IN (0, 1)),
            PRIMARY KEY (job, path)
        """

    static func apply(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE jobs (
                    id INTEGER PRIMARY KEY,
                    manifest TEXT NOT NULL,
                    name TEXT NOT NULL,
                    UNIQUE (manifest, name)
                );
                CREATE TABLE recipes (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
                CREATE TABLE outputs (\(output)) WITHOUT ROWID;
                -- Outputs that are about to be renamed to their paths: a run that was killed has renamed them or not.
                CREATE TABLE intents (\(output)) WITHOUT ROWID;
                CREATE TABLE broken (
                    job INTEGER NOT NULL REFERENCES jobs(id),
                    input TEXT NOT NULL,
                    page INTEGER NOT NULL,
                    inode INTEGER NOT NULL,
                    size INTEGER NOT NULL,
                    modified INTEGER NOT NULL,
                    recipe INTEGER NOT NULL REFERENCES recipes(id),
                    message TEXT NOT NULL,
                    since INTEGER NOT NULL,
                    PRIMARY KEY (job, input, page)
                ) WITHOUT ROWID;
                -- What a person was told and need not be told again.
                CREATE TABLE notices (
                    job INTEGER NOT NULL REFERENCES jobs(id),
                    text TEXT NOT NULL,
                    PRIMARY KEY (job, text)
                ) WITHOUT ROWID;
                -- How much of an index beside outputs is known here.
                CREATE TABLE indexes (
                    job INTEGER NOT NULL REFERENCES jobs(id),
                    path TEXT NOT NULL,
                    inode INTEGER NOT NULL,
                    size INTEGER NOT NULL,
                    PRIMARY KEY (job, path)
                ) WITHOUT ROWID;
                """)
    }
}
