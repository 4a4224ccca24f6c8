package import JobModel
package import Queueing

/// What somebody asks for with a new job.
package struct SubmissionOrder: Hashable, Sendable {
    package let owner: Owner
    /// The same request has the same key. Nil for a new job each time.
    package let key: String?
    /// Where the manifest is, without its digest.
    package let place: ManifestSource.Place
    /// The name of the file that an uploaded manifest stands for, without its ending. Nil for the name of its job.
    package let name: String?
    package var options = RunOptions()
    /// Nil for the normal priority, or the highest one that the owner may choose if that is lower.
    package var priority: Priority?
    package var labels = Labels()
    package var needs: [Need] = []
    package var isHeld = false
    package var notBefore: WallTime?
    /// The folders of the owner's token. Nil if it has all.
    package var roots: [String]?
    /// Nil if the owner may choose every priority.
    package var priorityLimit: PriorityLimit?

    package init(owner: Owner, key: String?, place: ManifestSource.Place, name: String? = nil) {
        self.owner = owner
        self.key = key
        self.place = place
        self.name = name
    }
}

/// A manifest that was read and has no errors.
package struct CheckedManifest: Hashable, Sendable {
    /// The name of its job.
    package let job: String
    /// The SHA-256 digest of its text.
    package let digest: String
    package let warnings: [ManifestFault]
    /// The real paths of the folders that the job is limited to. Nil if it is not limited.
    package let roots: [String]?

    package init(job: String, digest: String, warnings: [ManifestFault], roots: [String]? = nil) {
        self.job = job
        self.digest = digest
        self.warnings = warnings
        self.roots = roots
    }
}

/// What is wrong with a manifest, at one place of it.
package struct ManifestFault: Hashable, Sendable {
    package let message: String
    package let remedy: String?
    /// Counted from 1. Nil if the problem has no place.
    package let line: Int?
    package let column: Int?

    package init(message: String, remedy: String? = nil, line: Int? = nil, column: Int? = nil) {
        self.message = message
        self.remedy = remedy
        self.line = line
        self.column = column
    }
}

/// A manifest that is refused, with all its errors.
package struct ManifestRefusal: Error, Hashable, Sendable {
    /// As the caller named it.
    package let manifest: String
    package let errors: [ManifestFault]
    /// Of `penumbra run` with this manifest.
    package let outcome: RunOutcome

    package init(manifest: String, errors: [ManifestFault], outcome: RunOutcome) {
        self.manifest = manifest
        self.errors = errors
        self.outcome = outcome
    }
}

/// A job of a token with folders that is refused because of them.
package struct FolderRefusal: Error, Hashable, Sendable {
    /// One line that says what is wrong. A line that begins with `   = ` may follow, and says what to do.
    package let message: String
    /// All paths that lie outside of the folders.
    package let errors: [ManifestFault]

    package init(_ message: String, errors: [ManifestFault] = []) {
        self.message = message
        self.errors = errors
    }
}

/// Reads manifests before jobs are accepted.
package protocol ManifestChecker: Sendable {
    /// - Parameter options: If they have roots, all paths of the job have to lie in them. A root that is no real path is refused.
    /// - Throws: ``ManifestRefusal``, ``FolderRefusal``, or an error of the farm's settings.
    func check(_ place: ManifestSource.Place, name: String?, _ options: RunOptions) async throws -> CheckedManifest

    /// The digest of the manifest as it is now. Nil if it cannot be read.
    func digest(of place: ManifestSource.Place) -> String?
}
