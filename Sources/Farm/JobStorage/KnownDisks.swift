import GRDB
package import JobModel

/// What the last run of a job found at its inputs and outputs.
package struct KnownDisks: Hashable, Sendable {
    /// How many files matched each entry of `inputs`.
    package var inputs: [PathKey: Int]
    /// The disks of inputs and outputs, by their outermost folder on the paths. Other folders belong to the nearest listed
    /// folder above them.
    package var mounts: [PathKey: Mount]

    /// A disk, by properties that survive a restart of the machine. Device numbers do not.
    package struct Mount: Hashable, Sendable {
        /// The mount point.
        package let path: String
        /// The disk's mark; nil if its file system has no lasting one. See also ``unknown``.
        package let disk: String?

        /// The mark if nobody knows whether a disk was mounted.
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

    /// The stamp of the last preview at a path.
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
