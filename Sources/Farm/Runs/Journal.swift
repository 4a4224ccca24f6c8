import FoundationEssentials
import Glibc
package import JobModel
import Planning
package import SafeFiles
import Synchronization

/// What a run is about to do to files outside its own folder, written down before it does it.
///
/// A run that was killed leaves its journal behind; the next run reads it and removes what was not published.
package final class Journal: Sendable {
    package enum Entry: Hashable, Sendable, Codable {
        /// Canvases and tiles are kept in this folder.
        case scratch(String)
        /// This folder will be created for outputs.
        case folder(String)
        /// Files with this run's name in theirs will be written in this folder. Synced, so that a power failure leaves
        /// none of them for ever.
        case outputFolder(String)
        /// A worker will write this file, which is no output yet.
        case temporary(String)
        /// The temporary file, with this digest, will be renamed to the final path. A sweep needs only to know the
        /// temporary one; this is for whoever has to find out what happened.
        case publish(temporary: String, digest: Digest, final: String)
        /// The folder at the final path will be moved temporary, and the new one put in its place: where file systems cannot
        /// exchange them.
        case replace(old: String, final: String)

        /// These names are stored.
        private enum CodingKeys: String, CodingKey {
            case scratch, folder, temporary, publish, replace
            case outputFolder = "place"
        }

        private enum ReplaceCodingKeys: String, CodingKey {
            case old = "aside"
            case final
        }
    }

    private let descriptor: Mutex<Int32>
    private let path: String
    private let calls: FileCalls

    init(_ path: String, calls: FileCalls = .kernel) throws(FileTrouble) {
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let file = calls.open(AT_FDCWD, path, flags, 0o666)
        guard file >= 0 else { throw FileTrouble(path: path, code: errno, action: "create the journal") }
        descriptor = Mutex(file)
        self.path = path
        self.calls = calls
    }

    deinit { descriptor.withLock { _ = close($0) } }

    /// One write call, so that a kill leaves whole lines, or at worst one torn last line.
    package func write(_ entry: Entry) throws(FileTrouble) {
        // Entries hold strings alone, which JSON always can.
        guard let json = try? JSONEncoder().encode(entry) else {
            throw FileTrouble(path: path, code: EINVAL, action: "write the journal")
        }
        let line = Array(json) + [UInt8(ascii: "\n")]
        let written = descriptor.withLock { file in line.withUnsafeBytes { calls.write(file, $0.baseAddress, $0.count) }
        }
        guard written == line.count else {
            throw FileTrouble(path: path, code: written < 0 ? errno : ENOSPC, action: "write the journal")
        }
    }

    /// After a coordinator that was killed.
    func endTornLine() throws(FileTrouble) { try FileSystem.append([UInt8(ascii: "\n")], to: path) }

    /// What was written stays, whatever becomes of the power.
    package func sync() throws(FileTrouble) {
        guard descriptor.withLock({ calls.sync($0) }) == 0 else {
            throw FileTrouble(path: path, code: errno, action: "sync the journal")
        }
        try FileSystem.syncFolder(PathText.folder(of: path), calls: calls)
    }

    /// All whole entries; a torn last line was never acted on.
    package static func read(_ path: String) -> [Entry] {
        // A run that was killed before it had a journal has left nothing outside its folder. A journal that somebody else
        // has put there is not believed.
        guard let folder = try? SafeFolder(PathNames.folder(of: path) ?? ""),
            let data = try? folder.contents(of: PathNames.last(of: path), limit: 1 << 30)
        else { return [] }
        return data.split(separator: UInt8(ascii: "\n")).compactMap {
            try? JSONDecoder().decode(Entry.self, from: Data($0))
        }
    }
}
