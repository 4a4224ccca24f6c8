import FoundationEssentials
import Glibc
package import JobModel
import Planning
import JobStorage
package import SafeFiles

/// A run that goes on without the process which began it: its folder lies where all machines see it that have to do with it.
///
///     PLACE/{runs/NAME/{run.json, lock, journal, coordinator.N, …}, penumbra-NAME/{shards, results, …}, history/NAME/N,
///         ended/NAME.json}
///
/// Nothing of it is in a database: SQLite stays on local disks.
package struct SharedRun: Hashable, Sendable {
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
            run.record.map { (run: run, began: $0.started, command: $0.command ?? run.name, isEnded: $0.state.isEnded) }
        }
        let last = all.max { ($0.began, $0.run.name) < ($1.began, $1.run.name) }
        return all.filter { !$0.isEnded || $0.command == last?.command }.map(\.run)
    }

    /// Nil where there is no such run. The end of a run overrides what its coordinators wrote before.
    package var record: RunRecord? {
        if let ended { return ended }
        guard var own = read("\(folder)/run.json"), !own.state.isEnded else { return nil }
        own.epoch = max(1, CoordinatorClaim.latestEpoch(in: folder))
        return own
    }

    /// Nil until it has ended.
    private var ended: RunRecord? { read(endPath).flatMap { $0.state.isEnded ? $0 : nil } }

    package var end: RunRecord.End? { if case .ended(let end)? = ended?.state { end } else { nil } }

    /// Why its last coordinator left it before its end; nil where none has.
    package var lastStop: String? {
        SafeFolder.believed("\(folder)/stopped", limit: Self.largestNote).map { String(decoding: $0, as: UTF8.self) }
    }

    package func note(lastStop reason: String) throws(FileTrouble) {
        FileSystem.remove("\(folder)/stopped")
        try FileSystem.append(Array(reason.utf8), to: "\(folder)/stopped")
    }

    /// How many frames its coordinator had left to do when it last said so; nil where it has not.
    package var left: Int? {
        SafeFolder.believed("\(folder)/left", limit: Self.largestNote)
            .flatMap { Int(String(decoding: $0, as: UTF8.self)) }
            .flatMap { StoredNumbers.counts.contains($0) ? $0 : nil }
    }

    /// What is lost of it is told again soon.
    package func note(left: Int) {
        try? AtomicFile.write(
            Array("\(left)".utf8), to: "\(folder)/left", by: "\(folder)/.left.\(CoordinatorClaim.aside)")
    }

    package func write(_ record: RunRecord) throws(FileTrouble) {
        guard record.state.isEnded else {
            guard let own = try SafeFolder(place, trusting: .everybody).folder(at: "runs/\(name)") else {
                throw FileTrouble(path: folder, code: ENOENT, action: "write to the run's folder")
            }
            return try Self.write(record, as: "run.json", in: own)
        }
        _ = try FileSystem.createFolders(place)
        let ended = try SafeFolder(place, trusting: .everybody).makingFolder("ended")
        try Self.write(record, as: "\(name).json", in: ended)
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

    private func read(_ path: String) -> RunRecord? {
        // A file that is another user's, a link or a pipe says nothing of the run.
        guard let folder = try? SafeFolder(PathNames.folder(of: path) ?? ""),
            let bytes = try? folder.contents(of: PathNames.last(of: path)),
            var record = try? JSONDecoder().decode(RunRecord.self, from: Data(bytes))
        else { return nil }
        // The folder's name counts.
        record.name = name
        return record.isPlausible ? record : nil
    }

    private static func write(
        _ record: RunRecord, as name: String, in folder: SafeFolder
    ) throws(FileTrouble) {
        // Texts and whole numbers, which JSON always can.
        let bytes = (try? JSONEncoder().encode(record)).map(Array.init) ?? []
        let aside = ".\(name).\(CoordinatorClaim.aside)"
        folder.removeTree(aside)
        try folder.create(aside, bytes, syncs: true)
        try folder.rename(aside, as: name)
        try folder.sync()
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
