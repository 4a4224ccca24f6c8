import Glibc
import JobModel
package import JobStorage
import Planning
import SafeFiles
package import WorkerProtocol

/// Removes outputs whose inputs are gone. Only outputs that this job published, and that nobody has edited
/// since, are removed.
package struct OrphanRemoval: Sendable {
    package private(set) var removed: [String] = []
    /// The paths that were not removed, and why.
    package private(set) var kept: [(path: String, reason: String)] = []

    /// If more orphans are found, none is removed, because a disk may not be mounted. In percent of the job's
    /// outputs.
    package static let mostPercent = 10

    package static func isTooMuch(_ orphans: Int, of outputs: Int) -> Bool {
        orphans * 100 > outputs * mostPercent
    }

    /// The outputs that have to be read, because their stamps are not those of their records.
    package static func touched(_ orphans: [OutputRecord]) -> [DigestTask.File] {
        orphans.filter { !$0.isAdopted && !$0.isInPlace() }.map { DigestTask.File(path: $0.path) }
    }

    /// - Parameters:
    ///   - folders: the folders of the job's outputs. Links below them are not followed.
    ///   - findings: what was read of the files in ``touched(_:)``.
    package init(_ orphans: [OutputRecord], below folders: [String], findings: Freshness.Findings) {
        for record in orphans {
            if let reason = Self.objection(to: record, findings) ?? Self.remove(record.path, below: folders) {
                kept.append((record.path, reason))
            } else {
                removed.append(record.path)
            }
        }
    }

    /// Why an output must not be removed; nil if it may be.
    ///
    /// - Parameter findings: as in ``init(_:below:findings:)``.
    package static func objection(to record: OutputRecord, _ findings: Freshness.Findings) -> String? {
        if record.isAdopted { return "was adopted, not published by Penumbra" }
        return record.isInPlace() || isSame(record, findings) ? nil : "was edited"
    }

    private static func isSame(_ record: OutputRecord, _ findings: Freshness.Findings) -> Bool {
        !FileSystem.isLink(record.path)
            && (findings[DigestTask.File(path: record.path)] ?? nil)?.digest == record.file.digest
    }

    /// Removes an output and its receipt.
    ///
    /// - Returns: why it was not removed; nil if it was.
    private static func remove(_ path: String, below roots: [String]) -> String? {
        do throws(FileError) {
            guard let folder = try folder(of: path, below: roots) else { return nil }
            let name = PathNames.last(of: path)
            guard let found = try folder.status(of: name) else { return nil }
            if found.st_mode & S_IFMT == S_IFDIR {
                guard FolderOutput(at: path).holds(all: FileSystem.files(below: path)) else { return unremovable }
                folder.removeTree(name)
            } else {
                try folder.remove(name)
            }
            guard try folder.status(of: name) == nil else { return unremovable }
            ReceiptFile.remove(beside: path, in: folder)
            return nil
        } catch {
            return error.code == FileError.refusal && error.reason != nil
                ? "lies behind a link, which nothing is removed through" : unremovable
        }
    }

    private static let unremovable = "could not be removed"

    /// The folder of a path, opened from an output folder; nil if it is gone.
    private static func folder(of path: String, below roots: [String]) throws(FileError) -> SafeFolder? {
        let parent = PathText.folder(of: path)
        let above = roots.filter { $0 == parent || PathNames.relative(parent, to: $0) != nil }
        let root = above.max { $0.utf8.count < $1.utf8.count } ?? parent
        let folder = try SafeFolder(root, trusting: .everybody)
        guard let way = PathNames.relative(parent, to: root), root != parent else { return folder }
        return try folder.folder(at: way)
    }
}
