package import JobModel
package import JobStorage

/// On which disks the folders of a run's outputs were when it was prepared. Hours may lie between that and the work: a disk
/// that is not mounted any more would be written to from below.
package struct RecordedDisks: Hashable, Sendable, Codable {
    private struct Folder: Hashable, Sendable, Codable {
        let path: String
        let mount: String
        let disk: String?
    }

    /// Other machines may mount the same disks elsewhere.
    private let host: String
    private let folders: [Folder]

    package init(of job: JobSpec, mount: (String) -> KnownDisks.Mount = MountLookup.make()) {
        host = CoordinatorToken.host
        folders = OutputFolders.of(job).map { path in
            let found = mount(path)
            return Folder(path: path, mount: found.path, disk: found.disk)
        }
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
