import GRDB

/// The disks of a job's inputs and outputs, each with its own mark.
///
/// (For some days the one before made this table itself.) What was known of outputs' disks alone is dropped: a disk that is not mounted is not noticed by it once.
enum Migration5 {
    static func apply(_ database: Database) throws {
        try database.execute(
            sql: """
                DROP TABLE IF EXISTS output_mounts;
                -- Where the disk was mounted that had a folder of inputs or outputs, and the disk's own mark.
                CREATE TABLE IF NOT EXISTS mounts (
                    job INTEGER NOT NULL REFERENCES jobs(id),
                    folder TEXT NOT NULL,
                    mount TEXT NOT NULL,
                    disk TEXT,
                    PRIMARY KEY (job, folder)
                ) WITHOUT ROWID;
                """)
    }
}
