package import Queueing

extension Supervisor {
    /// Reads a manifest as for a submission, and keeps nothing.
    ///
    /// - Throws: ``ManifestRefusal``, or an error of the farm's settings.
    package func check(
        _ place: ManifestSource.Place, name: String?, _ options: RunOptions
    ) async throws -> CheckedManifest {
        try await checker.check(place, name: name, options)
    }
}
