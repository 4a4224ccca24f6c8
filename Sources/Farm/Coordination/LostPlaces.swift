package import JobModel
package import JobStorage
import Planning

/// Inputs and outputs that the last run of a job found and that all are gone now, as when a disk is not mounted.
package enum LostPlaces {
    /// Outputs that are gone from a folder, all of them.
    package struct Outputs: Hashable, Sendable {
        package let folder: String
        package let count: Int
        /// Where the disk was mounted that had the folder; nil when it is mounted, or was none of its own.
        package let mount: String?

        package init(folder: String, count: Int, mount: String?) {
            self.folder = folder
            self.count = count
            self.mount = mount
        }
    }

    /// Entries of `inputs` that matched files in the last run and match none now, sorted.
    ///
    /// - Parameters:
    ///   - before: how many files each entry matched then.
    ///   - now: how many files it matches now; nothing of a list.
    package static func inputs(_ before: [PathKey: Int], _ now: [PathKey: Int]) -> [(pattern: String, count: Int)] {
        before.filter { $0.value > 0 && now[$0.key] == 0 }.sorted { $0.key < $1.key }.map { ($0.key.path, $0.value) }
    }

    /// The folders of outputs that have lost everything since the last run: each output that was published there, and the index
    /// beside them.
    ///
    /// A folder that was removed, where its disk is still mounted, is none of them: that is how one has all made again.
    ///
    /// - Parameters:
    ///   - there: the folders of outputs that were there before the run created what was missing; nil for who creates none. A
    ///     run asks only under its locks: until then the database may be in the hands of another run.
    ///   - mountPoint: of the disk that has a path.
    package static func outputs(
        of job: JobSpec, state: String, there: Set<PathKey>? = nil,
        mountPoint: (String) -> String = FileSystem.mountPoint
    ) throws -> [Outputs] {
        let folders = OutputFolders.of(job)
        let bare = folders.filter { !FileSystem.exists(PathNames.joined($0, OutputIndex.name)) }
        let database = Ledger.databasePath(state: state)
        // Mostly the index is there, and nothing is looked up.
        guard !bare.isEmpty, let store = try JobStore.asItIs(at: database) else { return [] }
        return try store.read { reader in
            guard let id = try reader.job(manifest: job.manifestPath, name: job.name) else { return [] }
            let (records, places) = (try reader.outputs(of: id), try reader.places(of: id))
            return bare.compactMap { folder in
                let own = records.filter { record in
                    PathNames.isBelow(record.path, folder)
                        && !folders.contains { PathNames.isBelow($0, folder) && PathNames.isBelow(record.path, $0) }
                }
                guard !own.isEmpty, !own.contains(where: { FileSystem.exists($0.path) }) else { return nil }
                let before = places.mounts[PathKey(folder)]
                let isMounted =
                    before.map { mountPoint(folder) == $0 || PathNames.isBelow(mountPoint(folder), $0) } ?? true
                let isThere = there?.contains(PathKey(folder)) ?? FileSystem.isFolder(folder)
                guard !isMounted || isThere else { return nil }
                return Outputs(folder: folder, count: own.count, mount: isMounted ? nil : before)
            }
        }
    }

    /// The folders of a job's outputs that are there now.
    package static func foldersThere(of job: JobSpec) -> Set<PathKey> {
        Set(OutputFolders.of(job).filter(FileSystem.isFolder).map(PathKey.init))
    }

    /// What the next run is to know of the places of a job's inputs and outputs.
    ///
    /// - Parameter matches: how many files each entry of `inputs` matched; empty for a list, which says nothing of them.
    package static func found(_ matches: [PathKey: Int], job: JobSpec, before: KnownPlaces) -> KnownPlaces {
        let folders = OutputFolders.of(job)
        return KnownPlaces(
            inputs: matches.isEmpty ? before.inputs : matches,
            mounts: Dictionary(folders.map { (PathKey($0), FileSystem.mountPoint($0)) }) { $1 })
    }
}
