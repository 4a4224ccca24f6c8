package import Catalogs
import ContentNames
import Glibc
import JobModel
package import Queueing
import RenderFarm
import Runs
package import Settings
import Synchronization

/// Checks manifests as `penumbra check` does, with the filters that this machine's workers have.
package final class FarmManifestChecker: ManifestChecker {
    /// How old the catalog of filters may be before a worker is asked again. Nobody waits for its answer.
    private static let catalogLifetime = Duration.seconds(10)
    private static let largestManifest = 1 << 20

    private let farm: Farm
    private let known = Mutex<(catalog: Catalog, until: ContinuousClock.Instant)?>(nil)

    package init(_ settings: Settings) { farm = Farm(settings) }

    package func check(
        _ place: ManifestSource.Place, name: String?, _ options: RunOptions
    ) async throws -> CheckedManifest {
        var manifest = Self.manifest(place, name: name)
        guard let bytes = Self.bytes(of: place), let digest = SHA256Stream.digest(of: bytes) else {
            throw ManifestRefusal(
                manifest: manifest.path,
                errors: [
                    ManifestFault(
                        message: "\(VisibleText.line(manifest.path)): the manifest cannot be read",
                        remedy: "name a file of at most 1 MB that the service's user may read")
                ], outcome: .missingInput)
        }
        // What is checked is what has the digest. A text that is no UTF-8 is read again, for the place of the first wrong byte.
        manifest.text = String(validating: bytes, as: UTF8.self)
        var outcome = try await read(manifest, options, try await catalog())
        if outcome.hasErrors {
            // A plugin may have come since the catalog was made.
            known.withLock { $0 = nil }
            outcome = try await read(manifest, options, try await catalog())
        }
        let faults = outcome.problems.map { problem in
            (
                problem.isError,
                ManifestFault(
                    message: problem.message, remedy: problem.remedy, line: problem.line, column: problem.column)
            )
        }
        guard !outcome.hasErrors, let job = outcome.jobs.first else {
            throw ManifestRefusal(
                manifest: manifest.path, errors: faults.filter(\.0).map(\.1), outcome: outcome.unread ?? .badManifest)
        }
        return CheckedManifest(job: job.name, digest: digest, warnings: faults.filter { !$0.0 }.map(\.1))
    }

    package func digest(of place: ManifestSource.Place) -> String? {
        Self.bytes(of: place).flatMap { SHA256Stream.digest(of: $0) }
    }

    private static func bytes(of place: ManifestSource.Place) -> [UInt8]? {
        switch place {
        case .uploaded(let text, _): text.utf8.count <= largestManifest ? Array(text.utf8) : nil
        case .file(let path): bytes(at: path)
        }
    }

    /// Nil for pipes and devices, for which a reader could wait for ever.
    private static func bytes(at path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var found = stat()
        guard fstat(file, &found) == 0, found.st_mode & S_IFMT == S_IFREG, found.st_size <= largestManifest else {
            return nil
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= largestManifest {
            let count = Glibc.read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { return bytes }
            bytes += buffer.prefix(count)
        }
        return nil
    }

    /// The manifest of an uploaded text has a path in its folder, where no file needs to be.
    static func manifest(_ place: ManifestSource.Place, name: String?) -> RunRequest.Manifest {
        switch place {
        case .file(let path): RunRequest.Manifest(path: path)
        case .uploaded(let text, let folder):
            RunRequest.Manifest(path: PathNames.joined(folder, "\(name ?? "job").yaml"), text: text)
        }
    }

    func read(
        _ manifest: RunRequest.Manifest, _ options: RunOptions, _ catalog: Catalog
    ) async throws -> ManifestFiles.Outcome {
        var request = RunRequest(manifests: [manifest], folder: "/")
        request.overrides = options.overrides
        let files = ManifestFiles(request, catalog: catalog, settings: farm.settings, control: nil)
        return await files.withExaminedPictures(by: farm.worker)
    }

    /// Asks a worker for the catalog, so that the first job need not wait for it. If that fails, the first job is told why.
    package func prepare() async { _ = try? await renewCatalog() }

    /// The catalog of this machine's workers, which may be some seconds old.
    package func catalog() async throws -> Catalog {
        let recent = self.known.withLock { known -> (catalog: Catalog, isOld: Bool)? in
            guard let (catalog, until) = known else { return nil }
            // One of several callers renews it.
            if until <= .now { known?.until = .now + Self.catalogLifetime }
            return (catalog, until <= .now)
        }
        guard let recent else { return try await renewCatalog() }
        if recent.isOld { Task { try? await renewCatalog() } }
        return recent.catalog
    }

    @discardableResult
    private func renewCatalog() async throws -> Catalog {
        let new = try await farm.catalog()
        known.withLock { $0 = (new, .now + Self.catalogLifetime) }
        return new
    }
}
