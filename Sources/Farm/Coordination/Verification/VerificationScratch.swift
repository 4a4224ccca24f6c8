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
            _ = try FileSystem.createFolders(path)
            // Another command's sweep may have come between.
            guard let lock = try KernelLock.take("\(path)/lock"), lock.isStillAt("\(path)/lock") else { continue }
            (self.path, self.lock) = (path, lock)
            return
        }
        throw FileTrouble(path: folder, code: EAGAIN, action: "lock a folder of its own")
    }

    deinit { FileSystem.removeTree(path) }

    private static func sweep(_ folder: String) {
        for name in FileSystem.names(in: folder) where name.hasPrefix(prefix) {
            let path = PathNames.joined(folder, name)
            // Without its lock it has just been made, or belongs to somebody else.
            guard FileSystem.isOwnFolder(path), FileSystem.exists("\(path)/lock"),
                let lock = try? KernelLock.take("\(path)/lock")
            else { continue }
            withExtendedLifetime(lock) { FileSystem.removeTree(path) }
        }
    }
}
