package import JobModel
package import JobStorage
import Runs

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
