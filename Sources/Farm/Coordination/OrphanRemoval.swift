import JobModel
package import JobStorage
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
    package static func touched(_ orphans: [OutputRecord]) -> [CompareTask.File] {
        orphans.filter { !$0.isAdopted && !$0.isInPlace() }.map { CompareTask.File(path: $0.path) }
    }

    /// - Parameter findings: of the files that ``touched(_:)`` names.
    package init(_ orphans: [OutputRecord], findings: Freshness.Findings) {
        for record in orphans {
            if record.isAdopted {
                kept.append((record.path, "was adopted, not published by Penumbra"))
            } else if !record.isInPlace(), !Self.isSame(record, findings) {
                kept.append((record.path, "was edited"))
            } else if !Self.remove(record.path) {
                kept.append((record.path, "could not be removed"))
            } else {
                ReceiptFile.remove(beside: record.path)
                removed.append(record.path)
            }
        }
    }

    private static func isSame(_ record: OutputRecord, _ findings: Freshness.Findings) -> Bool {
        !FileSystem.isLink(record.path)
            && (findings[CompareTask.File(path: record.path)] ?? nil)?.digest == record.file.digest
    }

    private static func remove(_ path: String) -> Bool {
        guard FileSystem.isOwnFolder(path) else {
            FileSystem.remove(path)
            return !FileSystem.exists(path)
        }
        guard DeepZoomNames(of: path).all(FileSystem.files(below: path)) else { return false }
        FileSystem.removeTree(path)
        return !FileSystem.exists(path)
    }
}
