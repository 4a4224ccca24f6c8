package import JobModel
package import JobStorage
package import Planning
import Runs
import SafeFiles

/// Finds inputs and outputs of the last run that are gone because their disk is not mounted, or because their
/// folder is gone.
package enum MissingDisks {
    /// Why files count as lost, and not as removed by a person.
    package enum Cause: Hashable, Sendable {
        /// Their disk is not mounted at its folder any more.
        case notMounted(String)
        /// Another disk is mounted there.
        case otherDisk(String)
        /// The disk that is mounted there is empty.
        case emptyDisk(String)
        /// Their folder exists and is empty, and no disk is recorded for it.
        case emptyFolder(String)
        /// A folder in an entry of `inputs` is gone: it was renamed, or its disk is not mounted. `link` is the
        /// dead link on the way to it, if there is one.
        case missing(folder: String, link: DeadLink?)
    }

    /// The lost outputs of one folder or disk.
    package struct Outputs: Hashable, Sendable {
        package let cause: Cause
        package let count: Int
        /// The folder in which a run would render them again.
        package let folder: String

        package init(_ cause: Cause, count: Int, folder: String) {
            self.cause = cause
            self.count = count
            self.folder = folder
        }
    }

    /// Lost pictures of which outputs are recorded.
    package struct Pictures: Hashable, Sendable {
        package let cause: Cause
        /// The records of their outputs.
        package let records: [OutputRecord]
        /// The disk's key in ``KnownDisks/mounts``; nil if it is not known.
        package let disk: PathKey?

        package init(_ cause: Cause, records: [OutputRecord], disk: PathKey?) {
            self.cause = cause
            self.records = records
            self.disk = disk
        }

        package var count: Int { Set(records.map { PathKey($0.input) }).count }
    }

    /// The entries of `inputs` that matched files in the last run and match none now, sorted.
    ///
    /// - Parameters:
    ///   - before: how many files each entry matched in the last run.
    ///   - now: how many files each entry matches now; empty for a list of files.
    package static func inputs(_ before: [PathKey: Int], _ now: [PathKey: Int]) -> [(pattern: String, count: Int)] {
        before.filter { $0.value > 0 && now[$0.key] == 0 }.sorted { $0.key < $1.key }.map { ($0.key.path, $0.value) }
    }
}

// MARK: Pictures

extension MissingDisks {
    /// Pictures that are gone because their disk, or a folder that `inputs` names, is gone. Other missing
    /// pictures were removed by a person.
    ///
    /// - Parameters:
    ///   - records: the records of all outputs of the job.
    ///   - inputs: all inputs that were found now.
    ///   - missing: the files and folders that `inputs` names and that do not exist.
    package static func pictures(
        _ records: [OutputRecord], inputs: Set<PathKey>, before: KnownDisks, missing: [String] = [],
        mount: (String) -> KnownDisks.Mount = MountLookup.make()
    ) -> [Pictures] {
        let gone = records.filter { !inputs.contains(PathKey($0.input)) && !OutputLookup.inputMayExist(at: $0.input) }
        let suspects = before.suspects(mount)
        guard !gone.isEmpty || !suspects.isEmpty else { return [] }
        let byDisk = Dictionary(grouping: gone) { before.disk(of: PathText.folder(of: $0.input)) }
        let known = suspects.compactMap { key, disk -> Pictures? in
            let foreign = records.filter { record in
                let folder = PathText.folder(of: record.input)
                guard inputs.contains(PathKey(record.input)), before.disk(of: folder) == key else { return false }
                // The next memory card of a camera has the same names. A person means to render its pictures.
                guard case .notMounted = disk.suspicion(folder, mount) else { return false }
                return isForeign(record)
            }
            let own = ((byDisk[key] ?? []) + foreign).map {
                ($0, disk.suspicion(PathText.folder(of: $0.input), mount))
            }
            let lost = own.filter { $0.1 != nil }.map(\.0)
            guard let cause = own.lazy.compactMap(\.1).first else { return nil }
            // A disk with pictures of the last run is present, wherever it is mounted now. Other pictures may
            // lie in the folder below the mount point.
            let isSameDisk = disk.disk.map { $0 == mount(key.path).disk } ?? false
            let isPresent =
                isSameDisk
                && records.contains {
                    inputs.contains(PathKey($0.input)) && before.disk(of: PathText.folder(of: $0.input)) == key
                }
            return isPresent ? nil : Pictures(cause, records: lost, disk: key)
        }
        let claimed = Set(known.flatMap(\.records).map { PathKey($0.path) })
        let away = away(gone.filter { !claimed.contains(PathKey($0.path)) }, missing)
        let unknown = Dictionary(grouping: byDisk[nil] ?? []) { PathKey(PathText.folder(of: $0.input)) }
            .sorted { $0.key < $1.key }
            .compactMap { folder, lost in
                FileSystem.isEmptyFolder(folder.path)
                    ? Pictures(.emptyFolder(folder.path), records: lost, disk: nil) : nil
            }
        return known + away + unknown
    }

    /// - Parameter gone: the records of missing pictures whose disks are present.
    private static func away(_ gone: [OutputRecord], _ missing: [String]) -> [Pictures] {
        var rest = gone
        // The outermost of several missing folders is the one that is gone.
        return Set(missing.map(PathKey.init)).sorted().compactMap { folder in
            let start = rest.partition { PathNames.isBelow($0.input, folder.path) }
            let own = rest[start...].sorted { PathKey($0.path) < PathKey($1.path) }
            rest.removeSubrange(start...)
            guard !own.isEmpty else { return nil }
            return Pictures(
                .missing(folder: folder.path, link: DeadLink(onWayTo: folder.path)), records: own, disk: nil)
        }
    }
}

extension MissingDisks {
    /// Whether the file at a picture's path is not the recorded one. The folder below a mount point may have
    /// older pictures with the same names.
    private static func isForeign(_ record: OutputRecord) -> Bool {
        // Only the size is compared, because the time of a picture that was recorded just after it was written
        // is not known.
        FileStamp(of: record.input).map { $0.size != record.source.stamp.size } ?? false
    }
}

// MARK: Outputs

extension MissingDisks {
    /// Outputs whose disk is not mounted. Creates nothing, so that it can be called before a run creates
    /// folders.
    package static func outputsOfDisks(
        of job: JobSpec, state: String, mount: (String) -> KnownDisks.Mount = MountLookup.make()
    ) -> [Outputs] {
        // Without a lock, another run may be using the database, or the database may not exist. The run checks
        // again once it has the locks.
        let found = try? inspect(job, state, timeout: 0) { known, records in
            try lost(known, OutputFolders.of(job), records, mount)
        }
        return found ?? []
    }

    /// The same, and output folders that have lost every output and the index.
    ///
    /// A folder that was removed from a mounted disk does not count, because that is how a person has all
    /// outputs rendered again. Outputs that were removed without their index do not count either.
    ///
    /// - Parameter existing: the output folders that existed before the run created any; nil for a caller that
    ///   creates none. A run calls this only under its locks, because before that another run may be using the
    ///   database.
    package static func outputs(
        of job: JobSpec, state: String, existing: Set<PathKey>? = nil,
        mount: (String) -> KnownDisks.Mount = MountLookup.make()
    ) throws -> [Outputs] {
        let folders = OutputFolders.of(job)
        return try inspect(job, state) { known, records in
            let suspects = Set(known.suspects(mount).map(\.key))
            let disks = try lost(known, folders, records, mount)
            // An earlier version may have left an index in the folder below a mount point.
            let bare = folders.filter { folder in
                guard let key = known.disk(of: folder) else { return true }
                return !suspects.contains(key) && !FileSystem.exists(PathNames.joined(folder, OutputIndex.name))
            }
            return try disks
                + bare.compactMap { folder in
                    guard existing?.contains(PathKey(folder)) ?? FileSystem.isFolder(folder) else { return nil }
                    let own = try records().filter { record in
                        PathNames.isBelow(record.path, folder)
                            && !folders.contains { PathNames.isBelow($0, folder) && PathNames.isBelow(record.path, $0) }
                    }
                    // In a folder that may not be opened, nothing is known to be gone.
                    guard !own.isEmpty,
                        !own.contains(where: { FileSystem.exists($0.path) || FileSystem.isForbidden($0.path) })
                    else { return nil }
                    return Outputs(.emptyFolder(folder), count: own.count, folder: folder)
                }
        }
    }

    /// Outputs of disks that may be missing. One output with its recorded size proves that the disk, or a copy
    /// of it, is present.
    private static func lost(
        _ known: KnownDisks, _ folders: [String], _ records: () throws -> [OutputRecord],
        _ mount: (String) -> KnownDisks.Mount
    ) throws -> [Outputs] {
        try known.suspects(mount).compactMap { key, disk in
            let own = try records().filter { record in
                known.disk(of: PathText.folder(of: record.path)) == key
                    && folders.contains { PathNames.isBelow(record.path, $0) }
            }
            let causes = own.compactMap { disk.suspicion(PathText.folder(of: $0.path), mount) }
            guard let cause = causes.first, !own.contains(where: { $0.isInPlace(by: .size) }) else { return nil }
            let folder = folders.first { PathNames.isBelow($0, key.path) } ?? key.path
            return Outputs(cause, count: own.count, folder: folder)
        }
    }

    /// Calls `answer` with what is known of a job. The outputs are read only if they are asked for, because
    /// mostly no disk is suspicious.
    private static func inspect(
        _ job: JobSpec, _ state: String, timeout: Double = 60,
        _ answer: (KnownDisks, () throws -> [OutputRecord]) throws -> [Outputs]
    ) throws -> [Outputs] {
        guard let store = try JobStore.unmigrated(at: JobStore.databasePath(state: state), timeout: timeout) else {
            return []
        }
        return try store.read { reader in
            guard let id = try reader.job(manifest: job.manifestPath, name: job.name) else { return [] }
            var records: [OutputRecord]?
            return try answer(try reader.knownDisks(of: id)) {
                let found = try records ?? reader.outputs(of: id)
                records = found
                return found
            }
        }
    }

    /// The output folders of a job that exist now.
    package static func existingFolders(of job: JobSpec) -> Set<PathKey> {
        Set(OutputFolders.of(job).filter(FileSystem.isFolder).map(PathKey.init))
    }
}

// MARK: What a run records for the next one

extension MissingDisks {
    /// What a run found at its inputs and outputs.
    package struct Findings {
        /// The entries of `inputs`; nil for a list of files, which tells nothing about them.
        package var entries: Set<PathKey>?
        /// How many files each entry matched. Entries whose folders could not be read are missing.
        package var matches: [PathKey: Int] = [:]
        /// The paths of all inputs.
        package var inputs: [String] = []
        /// The paths of all outputs: planned and recorded ones.
        package var outputs: [String] = []
        /// Lost pictures that are expected to come back.
        package var lost: [Pictures] = []
        /// Whether the run renders a part of the job's pictures, so that it is no measure of later runs.
        package var isPart = false
        /// Whether a person has allowed entries of `inputs` that match nothing.
        package var isEmptyRight = false

        package init() {}
    }

    /// What is recorded for the next run about the disks of inputs and outputs.
    package static func known(
        _ found: Findings, job: JobSpec, before: KnownDisks, mount: (String) -> KnownDisks.Mount = MountLookup.make()
    ) -> KnownDisks {
        let outputs = folders(of: found.outputs).union(OutputFolders.of(job).map(PathKey.init))
        var kept = Set(found.lost.compactMap(\.disk))
        if found.entries == nil {
            kept.formUnion(Set(before.mounts.keys).subtracting(outputs.compactMap { before.disk(of: $0.path) }))
        }
        var disks = KnownDisks(inputs: before.inputs, mounts: before.mounts.filter { kept.contains($0.key) })
        if let entries = found.entries {
            // Entries whose folders could not be read keep their old counts.
            disks.inputs = before.inputs.filter { entries.contains($0.key) }
            for (entry, count) in found.matches {
                let isMeasure = !found.isPart && (count > 0 || found.isEmptyRight)
                // An entry that matched nothing so far is guarded from the first pictures on.
                if isMeasure || (disks.inputs[entry] ?? 0) == 0 { disks.inputs[entry] = count }
            }
        }
        for folder in outputs.union(folders(of: found.inputs)).sorted() {
            let key = disks.disk(of: folder.path)
            if let key, kept.contains(key), before.disk(of: folder.path) == key { continue }
            let now = mount(folder.path)
            guard key.flatMap({ disks.mounts[$0] }) != now else { continue }
            disks.mounts[PathKey(top(of: now, from: folder.path, mount))] = now
        }
        // These folders may be mount points. They are treated as such until something is found in them.
        for lost in found.lost where lost.disk == nil {
            let folders =
                if case .missing(let folder, _) = lost.cause { [PathKey(folder)] } else {
                    Array(folders(of: lost.records.map(\.input)))
                }
            for folder in folders {
                disks.mounts[folder] = KnownDisks.Mount(path: folder.path, disk: KnownDisks.Mount.unknown)
            }
        }
        return disks
    }

    /// The outermost folder of a disk on the path to a folder.
    private static func top(
        of disk: KnownDisks.Mount, from folder: String, _ mount: (String) -> KnownDisks.Mount
    ) -> String {
        var top = folder
        while top != "/", case let above = PathText.folder(of: top), mount(above) == disk { top = above }
        return top
    }

    /// The folders of paths, without repetitions. Mostly a path has the same folder as the path before it.
    private static func folders(of paths: [String]) -> Set<PathKey> {
        var (result, last): (Set<PathKey>, Substring.UTF8View) = ([], ""[...].utf8)
        for path in paths {
            guard let slash = path.utf8.lastIndex(of: PathNames.slash) else { continue }
            let folder = path.utf8[..<slash]
            if folder.elementsEqual(last) { continue }
            last = folder
            result.insert(PathKey(PathText.folder(of: path)))
        }
        return result
    }
}

extension KnownDisks {
    /// The key in ``mounts`` of the disk that had a folder; nil if it is not known.
    func disk(of folder: String) -> PathKey? {
        var folder = folder
        while true {
            let key = PathKey(folder)
            if mounts[key] != nil { return key }
            guard folder != "/" else { return nil }
            folder = PathText.folder(of: folder)
        }
    }

    /// The disks that may be missing now, in order.
    func suspects(_ mount: (String) -> Mount) -> [(key: PathKey, disk: Mount)] {
        mounts.filter { $0.value.suspicion($0.key.path, mount) != nil }.sorted { $0.key < $1.key }.map {
            ($0.key, $0.value)
        }
    }
}

extension KnownDisks.Mount {
    /// Why a folder is probably not on this disk any more; nil if it is. A disk that is mounted between them
    /// does not matter.
    func suspicion(_ folder: String, _ mount: (String) -> KnownDisks.Mount) -> MissingDisks.Cause? {
        if disk == Self.unknown { return FileSystem.isEmptyFolder(path) ? .emptyFolder(path) : nil }
        let now = mount(folder)
        guard PathKey(now.path) == PathKey(path) || PathNames.isBelow(now.path, path) else { return .notMounted(path) }
        if let mark = now.disk, let last = disk, mark != last { return .otherDisk(now.path) }
        return now.path != "/" && FileSystem.isEmptyDisk(now.path) ? .emptyDisk(now.path) : nil
    }
}

/// Finds the disk of a path. Remembers the result for each folder.
package struct MountLookup {
    private var known: [PathKey: KnownDisks.Mount] = [:]

    private init() {}

    /// A function that looks up disks and remembers them.
    package static func make() -> (String) -> KnownDisks.Mount {
        var lookup = MountLookup()
        return { lookup.mount(ofReal: realPath($0)) }
    }

    /// - Parameter path: a path without links. If it does not exist, the result is the disk on which it would
    ///   be created.
    private mutating func mount(ofReal path: String) -> KnownDisks.Mount {
        let key = PathKey(path)
        if let found = known[key] { return found }
        let found =
            FileSystem.isMountPoint(path)
            ? KnownDisks.Mount(path: path, disk: DiskMark.of(path))
            : mount(ofReal: PathText.folder(of: path))
        known[key] = found
        return found
    }
}

extension RecordedDisks {
    package init(of job: JobSpec, mount: (String) -> KnownDisks.Mount = MountLookup.make()) {
        let folders = OutputFolders.of(job).map { path in
            let found = mount(path)
            return Folder(path: path, mount: found.path, disk: found.disk)
        }
        self.init(host: CoordinatorToken.host, folders: folders)
    }

    /// Why a folder's disk is not there; nil where nothing speaks against any, and on other machines.
    package func loss(mount: (String) -> KnownDisks.Mount = MountLookup.make()) -> MissingDisks.Cause? {
        guard host == CoordinatorToken.host else { return nil }
        for folder in folders {
            switch KnownDisks.Mount(path: folder.mount, disk: folder.disk).suspicion(folder.path, mount) {
            // Nothing has to be there yet.
            case .emptyDisk, nil: continue
            case let cause?: return cause
            }
        }
        return nil
    }
}
