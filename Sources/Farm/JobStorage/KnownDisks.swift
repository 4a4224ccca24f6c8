import GRDB
package import JobModel

/// What the last run of a job found at its inputs and outputs.
package struct KnownDisks: Hashable, Sendable {
    /// How many files matched each entry of `inputs`.
    package var inputs: [PathKey: Int]
    /// The disks of inputs and outputs, each by the highest folder of it on the way to them. A folder that is not listed belongs
    /// to the nearest one above it.
    package var mounts: [PathKey: Mount]

    /// A disk, by what stays the same when the machine starts again. Numbers of devices do not.
    package struct Mount: Hashable, Sendable {
        /// Where it was mounted.
        package let path: String
        /// Its own mark; nil where its file system has none that lasts, and ``unknown``.
        package let disk: String?

        /// In place of a mark: whether anything was mounted there, nobody knows.
        package static let unknown = ""

        package init(path: String, disk: String? = nil) {
            self.path = path
            self.disk = disk
        }
    }

    package init(inputs: [PathKey: Int] = [:], mounts: [PathKey: Mount] = [:]) {
        self.inputs = inputs
        self.mounts = mounts
    }
}

extension StoreReader {
    /// Empty for a job that never ran, and in a database of an older version.
    package func knownDisks(of job: JobID) throws -> KnownDisks {
        guard try database.tableExists("input_counts") else { return KnownDisks() }
        var disks = KnownDisks()
        let counts = try Row.fetchAll(
            database, sql: "SELECT pattern, files FROM input_counts WHERE job = ?", arguments: [job.number])
        for row in counts { disks.inputs[PathKey(try row.stored(0))] = try row.stored(1, Int.self) }
        guard try database.tableExists("mounts") else { return disks }
        let mounts = try Row.fetchAll(
            database, sql: "SELECT folder, mount, disk FROM mounts WHERE job = ?", arguments: [job.number])
        for row in mounts {
            disks.mounts[PathKey(try row.stored(0))] = try KnownDisks.Mount(path: row.stored(1), disk: row.stored(2))
        }
        return disks
    }

    /// The preview that was last written to a path, as it was then.
    package func preview(at path: String) throws -> FileStamp? {
        guard try database.tableExists("previews") else { return nil }
        return try Row.fetchOne(
            database, sql: "SELECT inode, size, modified FROM previews WHERE path = ?", arguments: [path]
        ).map { row in
            try FileStamp(
                device: 0, inode: row.storedBits(0), size: row.stored(1), modified: row.stored(2), changed: 0)
        }
    }
}

extension StoreWriter {
    package func setKnownDisks(_ disks: KnownDisks, of job: JobID) throws {
        try execute("DELETE FROM input_counts WHERE job = ?", [job.number])
        try execute("DELETE FROM mounts WHERE job = ?", [job.number])
        for (pattern, files) in disks.inputs {
            try execute(
                "INSERT INTO input_counts (job, pattern, files) VALUES (?, ?, ?)", [job.number, pattern.path, files])
        }
        for (folder, mount) in disks.mounts {
            try execute(
                "INSERT INTO mounts (job, folder, mount, disk) VALUES (?, ?, ?, ?)",
                [job.number, folder.path, mount.path, mount.disk])
        }
    }

    package func setPreview(_ stamp: FileStamp, at path: String) throws {
        try execute(
            "INSERT OR REPLACE INTO previews (path, inode, size, modified) VALUES (?, ?, ?, ?)",
            [path, Int64(bitPattern: stamp.inode), stamp.size, stamp.modified])
    }
}
