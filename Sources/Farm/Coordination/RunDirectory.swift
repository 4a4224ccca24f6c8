import Glibc
import Planning
import Synchronization

/// The folder of one run: its lock, its journal and, unless told otherwise, its scratch space.
///
///     STATE/runs/20261121T213000Z-1a2b/{lock,journal,scratch/}
package final class RunDirectory: Sendable {
    package let name: String
    let path: String
    package let scratch: String
    let journal: Journal
    private let lock: KernelLock
    private let createdFolders = Mutex<[String]>([])

    /// Creates and locks the folder.
    ///
    /// - Parameters:
    ///   - name: unique on this machine.
    ///   - scratch: where canvases and tiles go; nil for the run's own folder.
    package init(state: String, name: String, scratch: String?) throws(FileTrouble) {
        self.name = name
        path = "\(state)/runs/\(name)"
        _ = try FileSystem.createFolders("\(state)/runs")
        let gate = try Self.gate(state)
        defer { withExtendedLifetime(gate) {} }
        _ = try FileSystem.createFolders(path)
        guard let lock = try KernelLock.take("\(path)/lock") else {
            throw FileTrouble(path: path, code: EEXIST, action: "create the run's folder")
        }
        self.lock = lock
        journal = try Journal("\(path)/journal")
        self.scratch = scratch.map { "\($0)/penumbra-\(name)" } ?? "\(path)/scratch"
        do {
            try journal.write(.scratch(self.scratch))
            _ = try FileSystem.createFolders(self.scratch)
        } catch {
            FileSystem.removeTree(path)
            throw error
        }
    }

    /// Keeps a sweep away from a run folder between its making and its locking.
    private static func gate(_ state: String) throws(FileTrouble) -> KernelLock {
        try KernelLock.wait("\(state)/runs.lock")
    }

    /// Creates a folder for outputs, with its parents; what is created and stays empty is removed at the end.
    func makeFolder(_ folder: String) throws(FileTrouble) {
        guard !FileSystem.isFolder(folder) else { return }
        for missing in FileSystem.missingFolders(folder) { try journal.write(.folder(missing)) }
        let created = try FileSystem.createFolders(folder)
        createdFolders.withLock { $0 += created }
        // An output lasts no longer than the names of its folders.
        for path in created { try FileSystem.syncFolder(PathText.folder(of: path)) }
    }

    /// A path beside outputs, for a file that is written aside; removed by the next run if this one is killed.
    package func temporaryPath(in folder: String, for purpose: String) throws -> String {
        let path = "\(folder == "/" ? "" : folder)/.penumbra-\(name)-\(purpose)"
        try journal.write(.temporary(path))
        return path
    }

    /// Removes all that the run kept. Outputs that were published stay.
    package func remove() {
        FileSystem.removeTree(scratch)
        let created = createdFolders.withLock { $0 }
        for folder in created.reversed() { FileSystem.removeIfEmpty(folder) }
        FileSystem.removeTree(path)
    }

    /// Removes what runs that were killed have left: scratch space, temporary files, empty folders.
    /// Runs whose lock is held are alive and left alone.
    package static func sweep(state: String) {
        let runs = "\(state)/runs"
        // Without a state folder there is nothing to sweep; the run that follows will say what is wrong with it.
        guard FileSystem.isFolder(runs), let gate = try? gate(state) else { return }
        defer { withExtendedLifetime(gate) {} }
        for name in FileSystem.names(in: runs) {
            let path = "\(runs)/\(name)"
            // A folder that cannot be locked is left for a later run.
            guard FileSystem.isOwnFolder(path), let lock = try? KernelLock.take("\(path)/lock") else { continue }
            withExtendedLifetime(lock) { clean(path, run: name) }
        }
    }

    private static func clean(_ path: String, run: String) {
        let entries = Journal.read("\(path)/journal")
        // By its last name: folders are removed with all that they hold.
        func isOwn(_ path: String) -> Bool { PathText.name(of: path).hasPrefix(".penumbra-\(run)-") }
        for case .temporary(let file) in entries where isOwn(file) {
            FileSystem.removeTree(file)
        }
        for case .replace(let aside, let final) in entries where isOwn(aside) {
            do {
                try Publisher.undoReplacement(aside: aside, final: final)
            } catch {
                return  // the next run tries again: the journal stays
            }
        }
        for case .scratch(let folder) in entries where folder.contains(run) {
            FileSystem.removeTree(folder)
        }
        for case .folder(let folder) in entries.reversed() {
            FileSystem.removeIfEmpty(folder)
        }
        FileSystem.removeTree(path)
    }
}
