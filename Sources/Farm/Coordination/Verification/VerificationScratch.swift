import Glibc
import JobModel
package import SafeFiles

/// A folder for what is rendered only to be compared; it goes with this value.
///
///     SCRATCH/penumbra-verify-1a2b3c/{lock,…}
package final class VerificationScratch: Sendable {
    package let path: String
    private let lock: KernelLock

    private static let prefix = "penumbra-verify-"

    /// Removes what such commands have left that were killed, too.
    ///
    /// - Parameters:
    ///   - name: unique on this machine.
    package init(in folder: String, name: String) throws(FileTrouble) {
        _ = try FileSystem.createFolders(folder)
        Self.sweep(folder)
        for attempt in 0..<10 {
            let path = PathNames.joined(folder, "\(Self.prefix)\(name)-\(attempt)")
            // Others may write to the folder that it lies in.
            guard
                try SafeFolder(folder, trusting: .everybody)
                    .makingFolder(PathNames.last(of: path), mode: 0o700).isOwn()
            else { continue }
            // Another command's sweep may have come between.
            guard let lock = try KernelLock.take("\(path)/lock"), lock.isStillAt("\(path)/lock") else { continue }
            (self.path, self.lock) = (path, lock)
            return
        }
        throw FileTrouble(path: folder, code: EAGAIN, action: "lock a folder of its own")
    }

    deinit { Self.remove(PathNames.last(of: path), in: PathNames.folder(of: path) ?? "") }

    private static func remove(_ name: String, in folder: String) {
        // What cannot be removed now the next command removes.
        try? SafeFolder(folder.isEmpty ? "/" : folder, trusting: .everybody).removeTree(name)
    }

    private static func sweep(_ folder: String) {
        for name in FileSystem.names(in: folder) where name.hasPrefix(prefix) {
            let path = PathNames.joined(folder, name)
            // Without its lock it has just been made.
            guard FileSystem.isOwnFolder(path), (try? SafeFolder(path).isOwn()) == true,
                FileSystem.exists("\(path)/lock"), let lock = try? KernelLock.take("\(path)/lock")
            else { continue }
            withExtendedLifetime(lock) { remove(name, in: folder) }
        }
    }
}
