import FoundationEssentials
import Glibc
import Planning
package import JobStorage

/// A run that goes on without the process which began it: its folder lies where all machines see it that have to do with it.
///
///     PLACE/{runs/NAME/{run.json, lock, journal, coordinator.N, …}, penumbra-NAME/{shards, results, …}, history/NAME/N,
///         ended/NAME.json}
///
/// Nothing of it is in a database: SQLite stays on local disks.
package struct SharedRun: Hashable, Sendable {
    /// What was asked for, and what later coordinators need to plan as the first one did.
    package struct Record: Hashable, Sendable, Codable {
        package var run: String
        package var job: String
        package var manifest: String
        /// Nanoseconds since 1970, as all times here.
        package var started: Int64
        /// As ``RunSettings`` has them: how pictures are divided follows from them.
        package var workers: Int
        package var memory: Int
        /// JSON, as the database has it.
        package var request: String
        package var counts: String

        package init(
            run: String, job: String, manifest: String, started: Int64, workers: Int, memory: Int, request: String,
            counts: String
        ) {
            self.run = run
            self.job = job
            self.manifest = manifest
            self.started = started
            self.workers = workers
            self.memory = memory
            self.request = request
            self.counts = counts
        }
    }

    /// A frame that failed.
    package struct Failure: Hashable, Sendable, Codable {
        package var input: String
        package var outputs: [String]
        package var cause: String
        package var message: String

        package init(input: String, outputs: [String], cause: String, message: String) {
            self.input = input
            self.outputs = outputs
            self.cause = cause
            self.message = message
        }
    }

    /// What it came to: `ended/NAME.json`, which appears whole or not at all.
    package struct End: Hashable, Sendable, Codable {
        package var record: Record
        package var epoch: Int
        package var ended: Int64
        package var exitCode: Int
        /// Nil when the plan was done to its end.
        package var reason: String?
        /// The frames that failed, the first thousands of them; nil for none.
        package var failures: [Failure]?
        /// Whether more have failed.
        package var hasMoreFailures: Bool?

        package init(record: Record, epoch: Int, ended: Int64, exitCode: Int, reason: String?) {
            self.record = record
            self.epoch = epoch
            self.ended = ended
            self.exitCode = exitCode
            self.reason = reason
        }
    }

    /// The folder that takes the place of a state folder.
    package let place: String
    package let name: String

    package init(place: String, name: String) {
        self.place = place
        self.name = name
    }

    /// So many ends are remembered in a place.
    private static let mostEnds = 100

    package var folder: String { "\(place)/runs/\(name)" }
    private var endPath: String { "\(place)/ended/\(name).json" }

    /// The runs that a folder given by a person means: that of one run, or one with runs in it; of the latter those that have
    /// not ended, else the latest.
    package static func find(_ folder: String) -> [SharedRun] {
        let inside = "\(folder)/\(RunDirectory.sharedName)"
        if FileSystem.isFolder(inside) { return find(inside) }
        // As 'export --to slurm' makes it.
        let exported = "\(folder)/run"
        if FileSystem.exists("\(folder)/submit.sh"), FileSystem.isFolder(exported) { return find(exported) }
        let name = PathText.name(of: folder)
        let runs = PathText.folder(of: folder)
        if PathText.name(of: runs) == "runs" {
            let run = SharedRun(place: PathText.folder(of: runs), name: name)
            if run.record != nil { return [run] }
        }
        let open = FileSystem.names(in: "\(folder)/runs").sorted().map { SharedRun(place: folder, name: $0) }
            .filter { $0.record != nil && $0.end == nil }
        guard open.isEmpty else { return open }
        let ended = FileSystem.names(in: "\(folder)/ended").filter { $0.hasSuffix(".json") }.sorted()
        return ended.suffix(1).map { SharedRun(place: folder, name: String($0.dropLast(5))) }
    }

    /// Nil where there is no such run.
    package var record: Record? { read(Record.self, "\(folder)/run.json") ?? end?.record }

    /// Nil until it has ended.
    package var end: End? { read(End.self, endPath) }

    /// As the database would have it.
    package var stored: StoredRun? {
        guard let record else { return nil }
        let end = end
        return StoredRun(
            name: name, job: record.job, manifest: record.manifest,
            epoch: end?.epoch ?? max(1, CoordinatorClaim.latestEpoch(in: folder)),
            state: end.map { .ended(at: $0.ended, exitCode: $0.exitCode, reason: $0.reason) } ?? .running,
            started: record.started, workers: record.workers, request: record.request, counts: record.counts)
    }

    /// Why its last coordinator left it before its end; nil where none has.
    package var lastStop: String? {
        (try? FileSystem.contents(of: "\(folder)/stopped")).flatMap(\.self).map { String(decoding: $0, as: UTF8.self) }
    }

    package func note(lastStop reason: String) throws(FileTrouble) {
        FileSystem.remove("\(folder)/stopped")
        try FileSystem.append(Array(reason.utf8), to: "\(folder)/stopped")
    }

    /// How many frames its coordinator had left to do when it last said so; nil where it has not.
    package var left: Int? {
        (try? FileSystem.contents(of: "\(folder)/left")).flatMap(\.self)
            .flatMap { Int(String(decoding: $0, as: UTF8.self)) }
    }

    package func write(_ record: Record) throws(FileTrouble) { try write(record, "\(folder)/run.json") }

    package func write(_ end: End) throws(FileTrouble) {
        _ = try FileSystem.createFolders("\(place)/ended")
        try write(end, endPath)
        let ends = FileSystem.names(in: "\(place)/ended").filter { $0.hasSuffix(".json") }.sorted()
        for old in ends.dropLast(Self.mostEnds) { FileSystem.remove("\(place)/ended/\(old)") }
        history.sweep()
    }

    private func read<Value: Decodable>(_ type: Value.Type, _ path: String) -> Value? {
        (try? Data(contentsOf: URL(filePath: path))).flatMap { try? JSONDecoder().decode(type, from: $0) }
    }

    private func write(_ value: some Encodable, _ path: String) throws(FileTrouble) {
        // Texts and whole numbers, which JSON always can.
        let bytes = (try? JSONEncoder().encode(value)).map(Array.init) ?? []
        let aside = "\(PathText.folder(of: path))/.\(PathText.name(of: path)).\(CoordinatorClaim.token)"
        FileSystem.remove(aside)
        try FileSystem.append(bytes, to: aside, syncs: true)
        try FileSystem.rename(aside, to: path)
        try FileSystem.syncFolder(PathText.folder(of: path))
    }
}

/// In a state folder, where the runs are that were handed to a cluster: `detached/NAME` holds the path of the place.
package enum DetachedRuns {
    private static func folder(_ state: String) -> String { "\(state)/detached" }

    package static func all(state: String) -> [SharedRun] {
        FileSystem.names(in: folder(state)).sorted().compactMap { name in
            guard let bytes = try? FileSystem.contents(of: "\(folder(state))/\(name)") else { return nil }
            return SharedRun(place: String(decoding: bytes, as: UTF8.self), name: name)
        }
    }

    package static func remember(_ run: SharedRun, state: String) throws(FileTrouble) {
        _ = try FileSystem.createFolders(folder(state))
        let path = "\(folder(state))/\(run.name)"
        FileSystem.remove(path)
        try FileSystem.append(Array(run.place.utf8), to: path, syncs: true)
    }

    package static func forget(_ run: SharedRun, state: String) { FileSystem.remove("\(folder(state))/\(run.name)") }
}
