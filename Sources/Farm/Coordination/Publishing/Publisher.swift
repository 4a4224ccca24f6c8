import Glibc
import JobModel
import Runs
import SafeFiles
import Scheduling
import WorkerProtocol

/// Puts verified outputs at their final paths. The only code that does. (Pictures that are blurred in place are none.)
struct Publisher: Sendable {
    let journal: Journal
    let outputs: OutputGuard
    /// How the job tells that a file is what it was.
    var compare = ComparePolicy.stamp

    /// The file is on the disk. Its intent is recorded, and it is renamed: at any moment the final path holds either what
    /// it held before or the whole new output.
    ///
    /// - Parameter folder: the output's, opened. The file was written in it, too, and nothing is renamed by a path: that may
    ///   lead somewhere else a moment after it was looked at.
    func publish(_ publication: Publication, _ rule: ReplacementRule, in folder: SafeFolder) -> PublishFailure? {
        let (receipt, path) = (publication.receipt, publication.path)
        // A link would publish what it leads to.
        guard FileSystem.isRegular(receipt.path) || FileSystem.isOwnFolder(receipt.path),
            FileSystem.treeSize(receipt.path) == receipt.bytes
        else {
            return .refused("\(path): the file that was written is gone or was cut before it could be published")
        }
        do {
            try outputs.check(path, in: folder)
            try journal.write(.publish(temporary: receipt.path, digest: receipt.digest, final: path))
            if FileSystem.isOwnFolder(receipt.path) {
                try putFolder(receipt.path, at: path, rule, folder)
            } else {
                try put(receipt.path, at: path, rule, folder)
            }
            // What an exchange has left there is the folder that was replaced.
            FileSystem.removeTree(receipt.path)
            return nil
        } catch {
            FileSystem.removeTree(receipt.path)
            return Self.problem(error, path)
        }
    }

    private func put(
        _ temporary: String, at path: String, _ rule: ReplacementRule, _ folder: SafeFolder
    ) throws(FileTrouble) {
        try refuseChanged(path, rule, isFolder: false)
        let (from, name) = (PathNames.last(of: temporary), PathNames.last(of: path))
        switch rule {
        case .nothing: try folder.renameWithoutReplacing(from, to: folder, as: name)
        case .published where try folder.status(of: name) == nil:
            try folder.renameWithoutReplacing(from, to: folder, as: name)
        case .anything, .published: try folder.rename(from, as: name)
        }
    }

    /// What was edited while the output was rendered stays.
    private func refuseChanged(_ path: String, _ rule: ReplacementRule, isFolder: Bool) throws(FileTrouble) {
        guard case .published(let stamp) = rule else { return }
        // A folder's stamp has no inode: it has the number of its files there.
        let compare = isFolder ? .stamp : compare
        guard FileSystem.outputStamp(path, isFolder: isFolder)?.isUntouched(since: stamp, by: compare) ?? true else {
            throw FileTrouble(path: path, code: EEXIST, action: "publish")
        }
    }

    /// Replaces only a folder that holds what an output of this name holds, and nothing else.
    private func putFolder(
        _ temporary: String, at path: String, _ rule: ReplacementRule, _ folder: SafeFolder
    ) throws(FileTrouble) {
        let (from, name) = (PathNames.last(of: temporary), PathNames.last(of: path))
        guard FileSystem.exists(path), !FileSystem.isEmptyFolder(path) else {
            return try folder.rename(from, as: name)
        }
        try refuseChanged(path, rule, isFolder: true)
        guard rule != .nothing else { throw FileTrouble(path: path, code: EEXIST, action: "publish") }
        guard FileSystem.isOwnFolder(path) else { throw FileTrouble(path: path, code: ENOTDIR, action: "publish") }
        let isOurs = FileSystem.isOutput(path) || FileSystem.isEmptyFolder(path)
        guard isOurs, DeepZoomNames(of: path).all(FileSystem.files(below: path)) else {
            throw FileTrouble(path: path, code: ENOTEMPTY, action: "publish")
        }
        if folder.exchange(from, name) { return }
        let old = temporary + "-old"
        try journal.write(.replace(old: old, final: path))
        try folder.rename(name, as: PathNames.last(of: old))
        do {
            try folder.rename(from, as: name)
        } catch {
            try FileSystem.undoReplacement(old: old, final: path)
            throw error
        }
        FileSystem.removeTree(old)
    }

    static func problem(_ trouble: FileTrouble, _ path: String) -> PublishFailure {
        if trouble.concernsStorage { return PublishFailure(trouble) }
        if trouble.code == EEXIST {
            return .refused("\(path): appeared or was changed while it was rendered; left as it is")
        }
        if trouble.code == ENOTEMPTY {
            return .refused("\(path): a folder with other things in it is in the way; it is left as it is")
        }
        if trouble.code == ENOTDIR { return .refused("\(path): something that is no folder is in the way") }
        if trouble.code == EISDIR { return .refused("\(path): a folder is in the way") }
        return .refused(trouble.message)
    }
}

/// What the files of a Deep Zoom folder are called: `a.dzi`, `a_files/12/3_4.jpg`.
struct DeepZoomNames {
    private let name: String

    init(of folder: String) {
        name = PathNames.last(of: folder)
    }

    func all(_ files: [String]) -> Bool { files.allSatisfy(isOne) }

    private func isOne(_ file: String) -> Bool {
        if PathKey(file) == PathKey("\(name).dzi") { return true }
        let parts = PathNames.all(in: file)
        guard parts.count == 3, PathKey(String(parts[0])) == PathKey("\(name)_files"), isNumber(parts[1]),
            let dot = parts[2].lastIndex(of: "."),
            ["jpg", "png", "webp"].contains(parts[2][parts[2].index(after: dot)...])
        else { return false }
        let numbers = parts[2][..<dot].split(separator: "_", omittingEmptySubsequences: false)
        return numbers.count == 2 && numbers.allSatisfy(isNumber)
    }

    private func isNumber(_ text: Substring) -> Bool { !text.isEmpty && text.allSatisfy { $0.isASCII && $0.isNumber } }
}
