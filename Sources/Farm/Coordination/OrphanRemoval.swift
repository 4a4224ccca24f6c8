import Glibc
import JobModel
package import JobStorage
import Planning
import SafeFiles
package import WorkerProtocol

/// Removes outputs whose inputs are gone: those alone that this job published, and nobody has edited since.
package struct OrphanRemoval: Sendable {
    package private(set) var removed: [String] = []
    /// Paths that stay, and why.
    package private(set) var kept: [(path: String, reason: String)] = []

    /// More than this part of a job's outputs is no tidying up.
    package static let mostPercent = 10

    package static func isTooMuch(_ orphans: Int, of outputs: Int) -> Bool {
        orphans * 100 > outputs * mostPercent
    }

    /// Outputs that have to be read to know that they are as they were published.
    package static func touched(_ orphans: [OutputRecord]) -> [DigestTask.File] {
        orphans.filter { !$0.isAdopted && !$0.isInPlace() }.map { DigestTask.File(path: $0.path) }
    }

    /// - Parameters:
    ///   - folders: those that the job's outputs are below. Below them no link is followed.
    ///   - findings: of the files that ``touched(_:)`` names.
    package init(_ orphans: [OutputRecord], below folders: [String], findings: Freshness.Findings) {
        for record in orphans {
            if let reason = Self.objection(to: record, findings) ?? Self.remove(record.path, below: folders) {
                kept.append((record.path, reason))
            } else {
                removed.append(record.path)
            }
        }
    }

    /// Why an output is never removed; nil where nothing speaks for it.
    ///
    /// - Parameter findings: as for ``init(_:below:findings:)``.
    package static func objection(to record: OutputRecord, _ findings: Freshness.Findings) -> String? {
        if record.isAdopted { return "was adopted, not published by Penumbra" }
        return record.isInPlace() || isSame(record, findings) ? nil : "was edited"
    }

    private static func isSame(_ record: OutputRecord, _ findings: Freshness.Findings) -> Bool {
        !FileSystem.isLink(record.path)
            && (findings[DigestTask.File(path: record.path)] ?? nil)?.digest == record.file.digest
    }

    /// Removes an output, and its receipt.
    ///
    /// - Returns: why it stays.
    private static func remove(_ path: String, below roots: [String]) -> String? {
        do throws(FileTrouble) {
            guard let folder = try folder(of: path, below: roots) else { return nil }
            let name = PathNames.last(of: path)
            guard let found = try folder.status(of: name) else { return nil }
            if found.st_mode & S_IFMT == S_IFDIR {
                guard DeepZoomNames(of: path).all(FileSystem.files(below: path)) else { return unremovable }
                folder.removeTree(name)
            } else {
                try folder.remove(name)
            }
            guard try folder.status(of: name) == nil else { return unremovable }
            ReceiptFile.remove(beside: path, in: folder)
            return nil
        } catch {
            return error.code == FileTrouble.refusal && error.reason != nil
                ? "lies behind a link, which nothing is removed through" : unremovable
        }
    }

    private static let unremovable = "could not be removed"

    /// Nil where it is gone.
    private static func folder(of path: String, below roots: [String]) throws(FileTrouble) -> SafeFolder? {
        let parent = PathText.folder(of: path)
        let above = roots.filter { $0 == parent || PathNames.relative(parent, to: $0) != nil }
        let root = above.max { $0.utf8.count < $1.utf8.count } ?? parent
        let folder = try SafeFolder(root, trusting: .everybody)
        guard let way = PathNames.relative(parent, to: root), root != parent else { return folder }
        return try folder.folder(at: way)
    }
}
