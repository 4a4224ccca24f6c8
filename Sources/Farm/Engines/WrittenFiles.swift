import FoundationEssentials
import Glibc
import JobModel
import SafeFiles
import WorkerProtocol

/// What the worker writes for one order.
struct WrittenFiles {
    var files: [WrittenFile] = []
    var folders: [FolderMove] = []

    /// Removes all of it. What cannot be removed is in the run's journal.
    func remove() {
        for file in files { file.remove() }
        for folder in folders {
            FileSystem.removeTree(folder.source)
            FileSystem.removeTree(folder.target)
        }
    }

    /// Moves the folders to their places, and checks them there, where the worker cannot change them any more.
    ///
    /// - Returns: why one of them is no output.
    func moveFolders() -> TaskFailure? {
        for folder in folders {
            guard rename(folder.source, folder.target) == 0 else { return TaskFailure(moving: folder, code: errno) }
            if let name = WrittenFolder(folder).foreignName() {
                return TaskFailure(
                    .transient,
                    "\(folder.target): the worker put '\(VisibleText.line(name))' into it, which is no part of a "
                        + "\(folder.format.names.title) picture")
            }
        }
        return nil
    }
}

/// A folder that a worker has created. Code that took the worker over may have put anything into it.
private struct WrittenFolder {
    private let path: String
    private let names: any FolderNames

    init(_ folder: FolderMove) {
        path = folder.target
        names = folder.format.names.init(of: folder.name)
    }

    /// Gives all files and folders the modes that the user's new files have. The worker may not.
    ///
    /// - Returns: the path in the folder of something that is no file of its picture, or cannot be changed. Nil if there is none.
    func foreignName() -> String? { foreignName(below: "") }

    private func foreignName(below prefix: String) -> String? {
        let folder = prefix.isEmpty ? path : "\(path)/\(prefix)"
        var found = stat()
        // A folder that shares its group keeps this property.
        guard lstat(folder, &found) == 0, found.st_mode & S_IFMT == S_IFDIR,
            chmod(folder, 0o777 & ~Self.mask | found.st_mode & S_ISGID) == 0
        else {
            return prefix.isEmpty ? "." : prefix
        }
        var foreign: String?
        do {
            _ = try FileSystem.firstName(in: folder) { name in
                foreign = self.foreignName(at: prefix.isEmpty ? name : "\(prefix)/\(name)")
                return foreign != nil
            }
        } catch {
            return prefix.isEmpty ? "." : prefix
        }
        return foreign
    }

    private func foreignName(at inner: String) -> String? {
        let file = "\(path)/\(inner)"
        guard !FileSystem.isOwnFolder(file) else {
            return names.holds(folder: inner) ? foreignName(below: inner) : inner
        }
        return FileSystem.isPlain(file) && names.holds(file: inner) && chmod(file, 0o666 & ~Self.mask) == 0
            ? nil : inner
    }

    /// The rights that new files of this process do not get. Only the kernel's list tells it without changing it for other threads.
    private static let mask: mode_t = {
        // Without /proc, others get no rights, because the user may not want that they have any.
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("Umask:") }
        return line.flatMap { mode_t($0.dropFirst("Umask:".count).drop { $0 == "\t" || $0 == " " }, radix: 8) } ?? 0o077
    }()
}

extension TaskFailure {
    fileprivate init(moving folder: FolderMove, code: Int32) {
        if code == EXDEV {
            self.init(
                .value,
                "\(folder.target): is on another disk than \(PathNames.folder(of: folder.source) ?? "/"), where \(folder.format.names.title) "
                    + "outputs of the job are made; begin the job's 'output' with the folder of one disk")
        } else {
            let concernsStorage = [ENOSPC, EDQUOT, EROFS, EIO].contains(code)
            self.init(
                concernsStorage ? .storage : .transient,
                "\(folder.target): cannot be moved there from \(folder.source): \(String(cString: strerror(code)))")
        }
    }
}
