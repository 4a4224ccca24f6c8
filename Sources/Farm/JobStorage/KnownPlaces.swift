import GRDB
package import JobModel

/// What the last run of a job found at its inputs and outputs.
package struct KnownPlaces: Hashable, Sendable {
    /// How many files matched each entry of `inputs`.
    package var inputs: [PathKey: Int]
    /// Where the disk was mounted that had each folder of outputs.
    package var mounts: [PathKey: String]

    package init(inputs: [PathKey: Int] = [:], mounts: [PathKey: String] = [:]) {
        self.inputs = inputs
        self.mounts = mounts
    }
}

extension StoreReader {
    /// Empty for a job that never ran, and in a database of an older version.
    package func places(of job: JobID) throws -> KnownPlaces {
        guard try database.tableExists("input_counts") else { return KnownPlaces() }
        var places = KnownPlaces()
        let counts = try Row.fetchAll(
            database, sql: "SELECT pattern, files FROM input_counts WHERE job = ?", arguments: [job.number])
        for row in counts { places.inputs[PathKey(row[0])] = row[1] }
        let mounts = try Row.fetchAll(
            database, sql: "SELECT folder, mount FROM output_mounts WHERE job = ?", arguments: [job.number])
        for row in mounts { places.mounts[PathKey(row[0])] = row[1] }
        return places
    }

    /// The preview that was last written to a path, as it was then.
    package func preview(at path: String) throws -> FileStamp? {
        guard try database.tableExists("previews") else { return nil }
        return try Row.fetchOne(
            database, sql: "SELECT inode, size, modified FROM previews WHERE path = ?", arguments: [path]
        ).map { row in
            FileStamp(device: 0, inode: UInt64(bitPattern: row[0]), size: row[1], modified: row[2], changed: 0)
        }
    }
}

extension StoreWriter {
    package func setPlaces(_ places: KnownPlaces, of job: JobID) throws {
        try execute("DELETE FROM input_counts WHERE job = ?", [job.number])
        try execute("DELETE FROM output_mounts WHERE job = ?", [job.number])
        for (pattern, files) in places.inputs {
            try execute(
                "INSERT INTO input_counts (job, pattern, files) VALUES (?, ?, ?)", [job.number, pattern.path, files])
        }
        for (folder, mount) in places.mounts {
            try execute(
                "INSERT INTO output_mounts (job, folder, mount) VALUES (?, ?, ?)", [job.number, folder.path, mount])
        }
    }

    package func setPreview(_ stamp: FileStamp, at path: String) throws {
        try execute(
            "INSERT OR REPLACE INTO previews (path, inode, size, modified) VALUES (?, ?, ?, ?)",
            [path, Int64(bitPattern: stamp.inode), stamp.size, stamp.modified])
    }
}
