import Digests
import Glibc
import ImageFiles
import JobModel
import Synchronization
import WorkerProtocol

extension TaskRunner {
    /// Does something with an input, and fails when the input is not the same file with the same bytes afterwards.
    func reading<Result>(_ input: InputSpec, _ body: (InputSpec, SourceFile) throws -> Result) throws -> Result {
        let source = try SourceFile(input.path, bytes: input.bytes)
        var spec = input
        // Libraries take paths as text.
        if input.bytes != nil {
            spec.path = source.openName
            names.note(source.openName, input.path)
        }
        do {
            let result = try body(spec, source)
            if source.hasChanged { throw Self.changed(source) }
            guard source.isOpen else { throw ImageFileError(path: source.path, opening: EBADF) }
            return result
        } catch {
            if let fault = watch.fault(behind: error, lost: !source.isOpen) { throw TaskFailure(classing: fault) }
            // What half of an old picture and half of a new one make looks like damage.
            if source.hasChanged { throw Self.changed(source) }
            let failure = TaskFailure(classing: error)
            // Only this attempt has had it: a picture that is held in a file while it is turned, say.
            let kind = failure.kind == .damagedCanvas ? .transient : failure.kind
            throw TaskFailure(kind, failure.message.replacing(source.openName, with: input.path))
        }
    }

    private static func changed(_ source: SourceFile) -> TaskFailure {
        TaskFailure(.transient, "\(source.path): was changed or removed while it was read")
    }

    func renderedFrame(_ task: FrameTask) throws -> TaskReceipt {
        try reading(task.input) { input, source in
            let facts = try source.facts()
            var task = task
            task.input = input
            return .outputs(try renderFrame(task), of: facts)
        }
    }

    /// Nil when nothing is there.
    func facts(_ file: DigestTask.File) throws -> FileFacts? {
        do {
            if FolderFacts.isFolder(file.path) { return try FolderFacts.read(file.path) }
            return try SourceFile(file.path, bytes: file.bytes).facts()
        } catch let error as ImageFileError where error.kind == .missing {
            return nil
        }
    }
}

/// What messages call files that a task opens by other names than their own.
final class FileNames: Sendable {
    private let names = Mutex<[String: String]>([:])

    func note(_ openName: String, _ name: String) { names.withLock { $0[openName] = name } }

    func name(of path: String) -> String { names.withLock { $0[path] ?? path } }
}

/// An output that is a folder.
enum FolderFacts {
    static func isFolder(_ path: String) -> Bool {
        var found = stat()
        return lstat(path, &found) == 0 && found.st_mode & S_IFMT == S_IFDIR
    }

    /// The stamp is not known here: whoever looks after folders makes it of all files.
    static func read(_ path: String) throws -> FileFacts {
        let tree = try TreeDigest(ofFolderAt: path)
        return FileFacts(
            stamp: FileStamp(device: 0, inode: 0, size: tree.bytes, modified: 0, changed: 0), digest: tree.digest)
    }
}
