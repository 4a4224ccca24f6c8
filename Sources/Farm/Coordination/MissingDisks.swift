package import JobModel
package import JobStorage
package import Planning
import SafeFiles

/// Inputs and outputs that the last run of a job found and that are gone now, as when a disk is not mounted.
package enum MissingDisks {
    /// Why things count as lost, and not as removed.
    package enum Cause: Hashable, Sendable {
        /// Their disk is mounted no more where it was.
        case notMounted(String)
        /// Another disk is mounted there.
        case otherDisk(String)
        /// What is mounted there holds nothing at all.
        case emptyDisk(String)
        /// Their folder is there and has none of them, and nothing is known that shows on which disk they were.
        case emptyFolder(String)
        /// A folder that an entry of `inputs` names is gone: it was renamed, or its disk is not mounted. The link that led there, where
        /// one is to blame.
        case missing(folder: String, link: DeadLink?)
    }

    /// Outputs that are gone, all of a place.
    package struct Outputs: Hashable, Sendable {
        package let cause: Cause
        package let count: Int
        /// Where they would be made again.
        package let folder: String

        package init(_ cause: Cause, count: Int, folder: String) {
            self.cause = cause
            self.count = count
            self.folder = folder
        }
    }

    /// Pictures whose outputs are known.
    package struct Pictures: Hashable, Sendable {
        package let cause: Cause
        /// What was made of them.
        package let records: [OutputRecord]
        /// The disk's key in ``KnownDisks/mounts``; nil where it is not known.
        package let place: PathKey?

        package init(_ cause: Cause, records: [OutputRecord], place: PathKey?) {
            self.cause = cause
            self.records = records
            self.place = place
        }

        package var count: Int { Set(records.map { PathKey($0.input) }).count }
    }

    /// Entries of `inputs` that matched files in the last run and match none now, sorted.
    ///
    /// - Parameters:
    ///   - before: how many files each entry matched then.
    ///   - now: how many files it matches now; nothing of a list.
    package static func inputs(_ before: [PathKey: Int], _ now: [PathKey: Int]) -> [(pattern: String, count: Int)] {
        before.filter { $0.value > 0 && now[$0.key] == 0 }.sorted { $0.key < $1.key }.map { ($0.key.path, $0.value) }
    }
}

// MARK: Pictures

extension MissingDisks {
    /// Pictures that are gone together with their disk, or with a folder that `inputs` names. Those that are gone from a disk
    /// that is there, and from folders that are there, were removed.
    ///
    /// - Parameters:
    ///   - records: all of the job's outputs.
    ///   - inputs: all of the job's inputs that were found now.
    ///   - missing: the files and folders that entries of `inputs` name, and that are not there.
    package static func pictures(
        _ records: [OutputRecord], inputs: Set<PathKey>, before: KnownDisks, missing: [String] = [],
        mount: (String) -> KnownDisks.Mount = MountLookup.make()
    ) -> [Pictures] {
        let gone = records.filter { !inputs.contains(PathKey($0.input)) && !OutputLookup.isInputThere($0.input) }
        let suspects = before.suspects(mount)
        guard !gone.isEmpty || !suspects.isEmpty else { return [] }
        let byPlace = Dictionary(grouping: gone) { before.place(of: PathText.folder(of: $0.input)) }
        let known = suspects.compactMap { place, disk -> Pictures? in
            let strangers = records.filter { record in
                let folder = PathText.folder(of: record.input)
                guard inputs.contains(PathKey(record.input)), before.place(of: folder) == place else { return false }
                // The next card of a camera has the same names, and is meant.
                guard case .notMounted = disk.suspicion(folder, mount) else { return false }
                return isStranger(record)
            }
            let own = ((byPlace[place] ?? []) + strangers).map {
                ($0, disk.suspicion(PathText.folder(of: $0.input), mount))
            }
            let lost = own.filter { $0.1 != nil }.map(\.0)
            guard let cause = own.lazy.compactMap(\.1).first else { return nil }
            // A disk that shows pictures of the last run is there, wherever it is mounted now. What else is found may lie below
            // the mount point.
            let isSameDisk = disk.disk.map { $0 == mount(place.path).disk } ?? false
            let isThere =
                isSameDisk
                && records.contains {
                    inputs.contains(PathKey($0.input)) && before.place(of: PathText.folder(of: $0.input)) == place
                }
            return isThere ? nil : Pictures(cause, records: lost, place: place)
        }
        let claimed = Set(known.flatMap(\.records).map { PathKey($0.path) })
        let away = away(gone.filter { !claimed.contains(PathKey($0.path)) }, missing)
        let unknown = Dictionary(grouping: byPlace[nil] ?? []) { PathKey(PathText.folder(of: $0.input)) }
            .sorted { $0.key < $1.key }
            .compactMap { folder, lost in
                FileSystem.isEmptyFolder(folder.path)
                    ? Pictures(.emptyFolder(folder.path), records: lost, place: nil) : nil
            }
        return known + away + unknown
    }

    /// - Parameter gone: what was made of pictures that are gone, from disks that are there.
    private static func away(_ gone: [OutputRecord], _ missing: [String]) -> [Pictures] {
        var rest = gone
        // The outermost folder is the one that is gone.
        return Set(missing.map(PathKey.init)).sorted().compactMap { folder in
            let place = rest.partition { PathNames.isBelow($0.input, folder.path) }
            let own = rest[place...].sorted { PathKey($0.path) < PathKey($1.path) }
            rest.removeSubrange(place...)
            guard !own.isEmpty else { return nil }
            return Pictures(
                .missing(folder: folder.path, link: DeadLink(onWayTo: folder.path)), records: own, place: nil)
        }
    }
}

extension MissingDisks {
    /// What lies at a picture's path is not the file that its outputs were made of: below a mount point there may be older
    /// pictures with the same names.
    private static func isStranger(_ record: OutputRecord) -> Bool {
        // Of a picture that was recorded just after it was written no time is known.
        FileStamp(of: record.input).map { $0.size != record.source.stamp.size } ?? false
    }
}

// MARK: Outputs

extension MissingDisks {
    /// Outputs whose disk is not there. Creates nothing, so that it can be asked before a run makes any folder.
    package static func outputsOfDisks(
        of job: JobSpec, state: String, mount: (String) -> KnownDisks.Mount = MountLookup.make()
    ) -> [Outputs] {
        // Without a lock the database may be in the hands of another run, or no database at all. Whoever gets the locks looks again.
        let found = try? look(job, state, patience: 0) { known, records in
            try lost(known, OutputFolders.of(job), records, mount)
        }
        return found ?? []
    }

    /// The same, and the folders of outputs that have lost every output and the index beside them.
    ///
    /// A folder that was removed, where its disk is still mounted, is none of them: that is how one has all made again. So are
    /// outputs that were removed from beside their index.
    ///
    /// - Parameter there: the folders of outputs that were there before the run created what was missing; nil for who creates
    ///   none. A run asks only under its locks: until then the database may be in the hands of another run.
    package static func outputs(
        of job: JobSpec, state: String, there: Set<PathKey>? = nil,
        mount: (String) -> KnownDisks.Mount = MountLookup.make()
    ) throws -> [Outputs] {
        let folders = OutputFolders.of(job)
        return try look(job, state) { known, records in
            let suspects = Set(known.suspects(mount).map(\.place))
            let disks = try lost(known, folders, records, mount)
            // What an earlier version left below a mount point may have an index, too.
            let bare = folders.filter { folder in
                guard let place = known.place(of: folder) else { return true }
                return !suspects.contains(place) && !FileSystem.exists(PathNames.joined(folder, OutputIndex.name))
            }
            return try disks
                + bare.compactMap { folder in
                    guard there?.contains(PathKey(folder)) ?? FileSystem.isFolder(folder) else { return nil }
                    let own = try records().filter { record in
                        PathNames.isBelow(record.path, folder)
                            && !folders.contains { PathNames.isBelow($0, folder) && PathNames.isBelow(record.path, $0) }
                    }
                    guard !own.isEmpty, !own.contains(where: { FileSystem.exists($0.path) }) else { return nil }
                    return Outputs(.emptyFolder(folder), count: own.count, folder: folder)
                }
        }
    }

    /// Outputs on suspicious disks, where none of them is what was published: one that is shows the disk, or a copy of it.
    private static func lost(
        _ known: KnownDisks, _ folders: [String], _ records: () throws -> [OutputRecord],
        _ mount: (String) -> KnownDisks.Mount
    ) throws -> [Outputs] {
        try known.suspects(mount).compactMap { place, disk in
            let own = try records().filter { record in
                known.place(of: PathText.folder(of: record.path)) == place
                    && folders.contains { PathNames.isBelow(record.path, $0) }
            }
            let causes = own.compactMap { disk.suspicion(PathText.folder(of: $0.path), mount) }
            guard let cause = causes.first, !own.contains(where: { $0.isInPlace(by: .size) }) else { return nil }
            let folder = folders.first { PathNames.isBelow($0, place.path) } ?? place.path
            return Outputs(cause, count: own.count, folder: folder)
        }
    }

    /// What is known of a job, and its outputs, which are read when they are asked for: mostly nothing is suspicious.
    private static func look(
        _ job: JobSpec, _ state: String, patience: Double = 60,
        _ answer: (KnownDisks, () throws -> [OutputRecord]) throws -> [Outputs]
    ) throws -> [Outputs] {
        guard let store = try JobStore.asItIs(at: JobStore.databasePath(state: state), patience: patience) else {
            return []
        }
        return try store.read { reader in
            guard let id = try reader.job(manifest: job.manifestPath, name: job.name) else { return [] }
            var records: [OutputRecord]?
            return try answer(try reader.places(of: id)) {
                let found = try records ?? reader.outputs(of: id)
                records = found
                return found
            }
        }
    }

    /// The folders of a job's outputs that are there now.
    package static func foldersThere(of job: JobSpec) -> Set<PathKey> {
        Set(OutputFolders.of(job).filter(FileSystem.isFolder).map(PathKey.init))
    }
}

// MARK: What the next run is to know

extension MissingDisks {
    /// What a run has found, and what it leaves as it was.
    package struct Findings {
        /// The entries of `inputs`; nil for a list, which says nothing of them.
        package var entries: Set<PathKey>?
        /// How many files each entry matched, of those whose folders could be looked at.
        package var matches: [PathKey: Int] = [:]
        /// The paths of all inputs.
        package var inputs: [String] = []
        /// The paths of all outputs, those that are to come and those that are known.
        package var outputs: [String] = []
        /// What is gone, and is expected to come back.
        package var lost: [Pictures] = []
        /// A person has said that entries of `inputs` may match nothing.
        package var isEmptyRight = false

        package init() {}
    }

    /// What the next run is to know of the places of a job's inputs and outputs.
    package static func known(
        _ found: Findings, job: JobSpec, before: KnownDisks, mount: (String) -> KnownDisks.Mount = MountLookup.make()
    ) -> KnownDisks {
        let outputs = folders(of: found.outputs).union(OutputFolders.of(job).map(PathKey.init))
        var kept = Set(found.lost.compactMap(\.place))
        if found.entries == nil {
            kept.formUnion(Set(before.mounts.keys).subtracting(outputs.compactMap { before.place(of: $0.path) }))
        }
        var places = KnownDisks(inputs: before.inputs, mounts: before.mounts.filter { kept.contains($0.key) })
        if let entries = found.entries {
            // Of entries whose folders could not be looked at nothing new is known.
            places.inputs = before.inputs.filter { entries.contains($0.key) }
            for (entry, count) in found.matches where count > 0 || found.isEmptyRight || places.inputs[entry] == nil {
                places.inputs[entry] = count
            }
        }
        for folder in outputs.union(folders(of: found.inputs)).sorted() {
            let place = places.place(of: folder.path)
            if let place, kept.contains(place), before.place(of: folder.path) == place { continue }
            let now = mount(folder.path)
            guard place.flatMap({ places.mounts[$0] }) != now else { continue }
            places.mounts[PathKey(top(of: now, from: folder.path, mount))] = now
        }
        // Whether these folders are mount points, nobody knows. Until something is found in them they are taken for some.
        for lost in found.lost where lost.place == nil {
            let folders =
                if case .missing(let folder, _) = lost.cause { [PathKey(folder)] } else {
                    Array(folders(of: lost.records.map(\.input)))
                }
            for folder in folders {
                places.mounts[folder] = KnownDisks.Mount(path: folder.path, disk: KnownDisks.Mount.unknown)
            }
        }
        return places
    }

    /// The highest folder of a disk on the way to a folder.
    private static func top(
        of disk: KnownDisks.Mount, from folder: String, _ mount: (String) -> KnownDisks.Mount
    ) -> String {
        var top = folder
        while top != "/", case let above = PathText.folder(of: top), mount(above) == disk { top = above }
        return top
    }

    /// Each once. Mostly a path's folder is that of the path before it.
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
    /// The disk that had a folder, by its key in ``mounts``; nil where nothing is known.
    func place(of folder: String) -> PathKey? {
        var folder = folder
        while true {
            let key = PathKey(folder)
            if mounts[key] != nil { return key }
            guard folder != "/" else { return nil }
            folder = PathText.folder(of: folder)
        }
    }

    /// The disks that may not be there any more, in order.
    func suspects(_ mount: (String) -> Mount) -> [(place: PathKey, disk: Mount)] {
        mounts.filter { $0.value.suspicion($0.key.path, mount) != nil }.sorted { $0.key < $1.key }.map {
            ($0.key, $0.value)
        }
    }
}

extension KnownDisks.Mount {
    /// What speaks against this disk having a folder now. Something that is mounted in between does not.
    func suspicion(_ folder: String, _ mount: (String) -> KnownDisks.Mount) -> MissingDisks.Cause? {
        if disk == Self.unknown { return FileSystem.isEmptyFolder(path) ? .emptyFolder(path) : nil }
        let now = mount(folder)
        guard PathKey(now.path) == PathKey(path) || PathNames.isBelow(now.path, path) else { return .notMounted(path) }
        if let mark = now.disk, let last = disk, mark != last { return .otherDisk(now.path) }
        return now.path != "/" && FileSystem.isEmptyDisk(now.path) ? .emptyDisk(now.path) : nil
    }
}
