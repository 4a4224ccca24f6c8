import GRDB

/// What the last run of a job found at its inputs and outputs, and the previews that were written.
///
/// Whatever is here can be lost: then a disk that is not mounted is not noticed by it once, and a preview is replaced only by
/// `--force`.
enum Migration4 {
    static func apply(_ database: Database) throws {
        try database.execute(
            sql: """
                -- How many files matched each entry of 'inputs'.
                CREATE TABLE input_counts (
                    job INTEGER NOT NULL REFERENCES jobs(id),
                    pattern TEXT NOT NULL,
                    files INTEGER NOT NULL CHECK (files >= 0),
                    PRIMARY KEY (job, pattern)
                ) WITHOUT ROWID;
                -- Where the disk was mounted that had a folder of outputs.
                CREATE TABLE output_mounts (
                    job INTEGER NOT NULL REFERENCES jobs(id),
                    folder TEXT NOT NULL,
                    mount TEXT NOT NULL,
                    PRIMARY KEY (job, folder)
                ) WITHOUT ROWID;
                -- Files that 'penumbra preview' wrote. Times are nanoseconds since 1970.
                CREATE TABLE previews (
                    path TEXT PRIMARY KEY,
                    inode INTEGER NOT NULL,
                    size INTEGER NOT NULL,
                    modified INTEGER NOT NULL
                ) WITHOUT ROWID;
                """)
    }
}
