/// The versions that all workers of one engine have.
///
/// A run records the versions with which it began. If a package is upgraded meanwhile, the programs at the same paths are others, and
/// their pixels may differ. No worker of them may take part in this run.
package struct WorkerVersions: Sendable {
    /// Those of the first worker.
    private var first: [String: String]?

    package init() {}

    /// Nil if the worker may take part. The first one may.
    ///
    /// A name that only one of the workers has belongs to a plugin that was added or removed. A task that needs a removed plugin fails.
    package mutating func difference(of versions: [String: String]) -> WorkerVersionError? {
        guard let first else {
            first = versions
            return nil
        }
        let changed = versions.keys.sorted().filter { name in first[name].map { $0 != versions[name] } ?? false }
        let parts = changed.map { "\($0) \(versions[$0] ?? "") instead of \(first[$0] ?? "")" }
        return parts.isEmpty ? nil : WorkerVersionError(parts: parts)
    }
}

/// A worker has other versions than the workers before it.
package struct WorkerVersionError: Error, Hashable, CustomStringConvertible {
    let parts: [String]

    package var description: String {
        "the programs were replaced meanwhile: a new worker has \(parts.joined(separator: ", "))\n"
            + "   = run the job again, which does the rest"
    }
}
