import FoundationEssentials
import Glibc
import JobModel
import Planning
package import JobStorage
package import SafeFiles

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
        /// What all runs of one command have in common, and no others.
        package var command: String?

        /// The disks of the outputs when it was prepared; nil in what older versions wrote.
        package var disks: RecordedDisks?

        package init(
            run: String, job: String, manifest: String, started: Int64, workers: Int, memory: Int, request: String,
            counts: String, command: String? = nil
        ) {
            self.run = run
            self.job = job
            self.manifest = manifest
            self.started = started
            self.workers = workers
            self.memory = memory
            self.request = request
            self.counts = counts
            self.command = command
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

    /// Of a text or a number that a coordinator notes.
    private static let largestNote = 1 << 16

    /// So many ends are remembered in a place.
    private static let mostEnds = 100
    /// And of so many what was done in them.
    private static let mostHistories = 30

    package var folder: String { "\(place)/runs/\(name)" }
    private var endPath: String { "\(place)/ended/\(name).json" }

    /// The runs in a folder that a person has given: that of one run, or one with runs in it, of which those that have ended
    /// are there as long as they are remembered.
    package static func find(_ folder: String) -> [SharedRun] {
        let inside = "\(folder)/\(RunFolder.sharedName)"
        if FileSystem.isFolder(inside) { return find(inside) }
        // As 'export --to slurm' makes it.
        let exported = "\(folder)/run"
        if FileSystem.exists("\(folder)/submit.sh"), FileSystem.isFolder(exported) { return find(exported) }
        let runs = PathText.folder(of: folder)
        if PathText.name(of: runs) == "runs" {
            let run = SharedRun(place: PathText.folder(of: runs), name: PathText.name(of: folder))
            if run.record != nil { return [run] }
        }
        let begun = FileSystem.names(in: "\(folder)/runs").map { SharedRun(place: folder, name: $0) }
            .filter { $0.record != nil }
        let ended = FileSystem.names(in: "\(folder)/ended").filter { $0.hasSuffix(".json") }
            .map { SharedRun(place: folder, name: String($0.dropLast(5))) }
        return Set(begun + ended).sorted { $0.name < $1.name }
    }

    /// Those that somebody means who names none: all that have not ended, and of the command that has begun last those that
    /// have.
    package static func meant(in folder: String) -> [SharedRun] { meant(of: find(folder)) }

    package static func meant(of runs: [SharedRun]) -> [SharedRun] {
        let all = runs.compactMap { run in
            run.record.map { (run: run, began: $0.started, command: $0.command ?? run.name, isEnded: run.end != nil) }
        }
        let last = all.max { ($0.began, $0.run.name) < ($1.began, $1.run.name) }
        return all.filter { !$0.isEnded || $0.command == last?.command }.map(\.run)
    }

    /// Nil where there is no such run.
    package var record: Record? {
        guard let own = read(Record.self, "\(folder)/run.json"), own.isPlausible else { return end?.record }
        return own
    }

    /// Nil until it has ended.
    package var end: End? {
        guard let end = read(End.self, endPath), end.isPlausible else { return nil }
        return end
    }

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
        SafeFolder.trustedContents("\(folder)/stopped", limit: Self.largestNote).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    package func note(lastStop reason: String) throws(FileTrouble) {
        FileSystem.remove("\(folder)/stopped")
        try FileSystem.append(Array(reason.utf8), to: "\(folder)/stopped")
    }

    /// How many frames its coordinator had left to do when it last said so; nil where it has not.
    package var left: Int? {
        SafeFolder.trustedContents("\(folder)/left", limit: Self.largestNote)
            .flatMap { Int(String(decoding: $0, as: UTF8.self)) }
            .flatMap { StoredNumbers.counts.contains($0) ? $0 : nil }
    }

    /// What is lost of it is told again soon.
    package func note(left: Int) {
        try? AtomicFile.write(
            Array("\(left)".utf8), to: "\(folder)/left", by: "\(folder)/.left.\(CoordinatorClaim.aside)")
    }

    package func write(_ record: Record) throws(FileTrouble) {
        guard let own = try SafeFolder(place, trusting: .everybody).folder(at: "runs/\(name)") else {
            throw FileTrouble(path: folder, code: ENOENT, action: "write to the run's folder")
        }
        try Self.write(record, as: "run.json", in: own)
    }

    package func write(_ end: End) throws(FileTrouble) {
        _ = try FileSystem.createFolders(place)
        let ended = try SafeFolder(place, trusting: .everybody).makingFolder("ended")
        try Self.write(end, as: "\(name).json", in: ended)
        forgetOldEnds(in: ended)
    }

    private func forgetOldEnds(in folder: SafeFolder) {
        let ends = ((try? folder.names()) ?? []).filter { $0.hasSuffix(".json") && $0 != "\(name).json" }
            .map { (name: $0, ended: (try? folder.status(of: $0)).map { FileStamp($0).modified } ?? 0) }
            .sorted { ($0.ended, $0.name) > ($1.ended, $1.name) }
        // What cannot be removed stays.
        for old in ends.dropFirst(Self.mostEnds - 1) { try? folder.remove(old.name) }
        for old in ends.dropFirst(Self.mostHistories - 1) {
            SharedHistory(place: place, name: String(old.name.dropLast(5))).remove()
        }
    }

    private func read<Value: Decodable>(_ type: Value.Type, _ path: String) -> Value? {
        // A file that is another user's, a link or a pipe says nothing of the run.
        guard let folder = try? SafeFolder(PathNames.folder(of: path) ?? ""),
            let bytes = try? folder.contents(of: PathNames.last(of: path))
        else { return nil }
        return try? JSONDecoder().decode(type, from: Data(bytes))
    }

    private static func write(
        _ value: some Encodable, as name: String, in folder: SafeFolder
    ) throws(FileTrouble) {
        // Texts and whole numbers, which JSON always can.
        let bytes = (try? JSONEncoder().encode(value)).map(Array.init) ?? []
        let aside = ".\(name).\(CoordinatorClaim.aside)"
        folder.removeTree(aside)
        try folder.create(aside, bytes, syncs: true)
        try folder.rename(aside, as: name)
        try folder.sync()
    }
}

extension SharedRun.Record {
    fileprivate var isPlausible: Bool {
        StoredNumbers.times.contains(started) && StoredNumbers.counts.contains(workers)
            && (0...Int.max / 2).contains(memory)
    }
}

extension SharedRun.End {
    fileprivate var isPlausible: Bool {
        record.isPlausible && StoredNumbers.counts.contains(epoch) && StoredNumbers.times.contains(ended)
            && (0...255).contains(exitCode)
    }
}

/// In a state folder, where the runs are that were handed to a cluster: `detached/NAME` holds the path of the place.
package enum DetachedRuns {
    private static let folderName = "detached"

    package static func all(state: String) -> [SharedRun] {
        // Where the folder is another user's, or a link, nothing is known of such runs.
        guard let folder = try? SafeFolder(state).folder(folderName), let names = try? folder.names() else { return [] }
        return names.sorted().filter { !PathNames.isHidden($0) }.compactMap { name in
            guard let bytes = try? folder.contents(of: name, limit: largestPath) else { return nil }
            let place = String(decoding: bytes, as: UTF8.self)
            return place.utf8.first == PathNames.slash ? SharedRun(place: place, name: name) : nil
        }
    }

    private static let largestPath = 1 << 16

    package static func remember(_ run: SharedRun, state: String) throws(FileTrouble) {
        _ = try FileSystem.createFolders(state)
        let folder = try SafeFolder(state).makingFolder(folderName)
        let aside = ".\(run.name).\(CoordinatorClaim.aside)"
        try folder.create(aside, Array(run.place.utf8), syncs: true)
        try folder.rename(aside, as: run.name)
    }

    package static func forget(_ run: SharedRun, state: String) {
        // One that stays leads to a run that has ended, which is taken in and forgotten again.
        try? SafeFolder(state).folder(folderName)?.remove(run.name)
    }
}
