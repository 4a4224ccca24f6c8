package import Catalogs
package import Confinement
import ContentNames
import Glibc
import JobModel
import Manifests
package import Queueing
import RenderFarm
import Runs
import SafeFiles
package import Settings
import Synchronization

/// Checks manifests as `penumbra check` does, with the filters that this machine's workers have.
package final class FarmManifestChecker: ManifestChecker {
    /// How old the catalog of filters may be before a worker is asked again. Nobody waits for its answer.
    private static let catalogLifetime = Duration.seconds(10)
    private static let largestManifest = 1 << 20

    private let farm: Farm
    private let known = Mutex<(catalog: Catalog, until: ContinuousClock.Instant)?>(nil)
    /// What no job of a token with folders may change: no folder of a token holds it, or lies in it.
    private let protected: [String]
    /// The service's own folder. Nothing in it is a manifest that a client may name.
    private let serviceFolder: String?
    private let landlock: Landlock.Support
    private let engine: EngineName

    /// - Parameters:
    ///   - serviceFolder: The service's own folder. Nil if there is none.
    ///   - protected: Paths that no folder of a token may hold or lie in.
    package init(
        _ settings: Settings, serviceFolder: String? = nil, apartFrom protected: [String] = [],
        landlock: Landlock.Support = Landlock.support
    ) {
        farm = Farm(settings)
        engine = settings.engine.value
        self.serviceFolder = serviceFolder
        self.protected = protected
        self.landlock = landlock
    }

    package func check(
        _ place: ManifestSource.Place, name: String?, _ options: RunOptions
    ) async throws -> CheckedManifest {
        var manifest = Self.manifest(place, name: name)
        let folders = try options.roots.map(folders)
        try folders?.refuse(Self.origin(of: place), of: manifest.path)
        let bytes = try contents(of: place, name: name, within: folders)
        guard let digest = SHA256Stream.digest(of: bytes) else {
            throw FarmError(.unavailable, "libcrypto gives no SHA-256 digests\n   = install OpenSSL's libcrypto again")
        }
        // What is checked is what has the digest.
        guard let text = String(validating: bytes, as: UTF8.self) else {
            // Another file may be there when it is read again for the place of the first wrong byte.
            throw ManifestRefusal(
                manifest: manifest.path, errors: [ManifestFault(message: "the manifest is not UTF-8 text")],
                outcome: .badManifest)
        }
        manifest.text = text
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
        try folders?.refuse(JobPaths(of: job).all, of: manifest.path)
        var warnings = faults.filter { !$0.0 }.map(\.1)
        if folders != nil, engine != .local {
            warnings.append(
                ManifestFault(
                    message:
                        "the job will run on the service's machine, and not with the engine '\(engine.rawValue)', because its "
                        + "token has folders",
                    remedy: "use a token without folders if the job needs the cluster"))
        }
        return CheckedManifest(job: job.name, digest: digest, warnings: warnings, roots: folders?.roots)
    }

    package func digest(of place: ManifestSource.Place) -> String? {
        // The run reports a manifest that cannot be read.
        (try? bytes(of: place)).flatMap { SHA256Stream.digest(of: $0) }
    }

    /// The bytes of a manifest that a client names or sends. Nothing else of the service's machine leaves here.
    ///
    /// Commands get these bytes. If they opened the path again, somebody could have put a link to another file there.
    func contents(
        of place: ManifestSource.Place, name: String?, _ options: RunOptions
    ) throws -> [UInt8] {
        try contents(of: place, name: name, within: try options.roots.map(folders))
    }

    private func contents(
        of place: ManifestSource.Place, name: String?, within folders: RootCheck?
    ) throws(ManifestRefusal) -> [UInt8] {
        let path = Self.manifest(place, name: name).path
        do throws(Unreadable) {
            return try bytes(of: place, within: folders)
        } catch {
            let words = error.isReadable ? error.reason : "the manifest cannot be read: \(error.reason)"
            throw ManifestRefusal(
                manifest: path,
                errors: [
                    ManifestFault(
                        message: "\(VisibleText.line(path)): \(words)", remedy: error.remedy(for: path, in: .current))
                ],
                outcome: error.outcome)
        }
    }

    // MARK: Folders

    /// Checks the folders of a token, and refuses them if this kernel cannot keep a run within them.
    private func folders(_ roots: [String]) throws(FolderRefusal) -> RootCheck {
        if case .missing(let reason) = landlock { throw FolderRefusal(Self.words(withoutLandlock: reason)) }
        let check: RootCheck
        do {
            check = try RootCheck(roots, apartFrom: protected)
        } catch {
            throw FolderRefusal(error.message)
        }
        // A token has real paths. Whoever may write above one of them could have made a link in its place.
        if let moved = check.roots.first(where: { !roots.contains($0) }) {
            throw FolderRefusal(
                "a folder of the token is a symbolic link now, and leads to '\(VisibleText.line(moved))'\n   = put the folder "
                    + "back, or ask an administrator for a token with '--root \(VisibleText.line(moved))'")
        }
        return check
    }

    /// Why jobs of tokens with folders are refused.
    package static func words(withoutLandlock reason: Landlock.Reason) -> String {
        "jobs of tokens with folders do not run on this machine: \(reason.problem)\n   = \(reason.remedy)"
    }

    private static func origin(of place: ManifestSource.Place) -> [JobPath] {
        switch place {
        case .file(let path): [JobPath(origin: "the manifest", path: path, access: .read)]
        case .uploaded(_, let folder): [JobPath(origin: "the manifest's folder", path: folder, access: .read)]
        }
    }

    /// Why a manifest cannot be read.
    private enum Unreadable: Error {
        case system(Int32)
        case folder
        /// A pipe or a device, for which a reader could wait for ever.
        case noFile
        case tooLarge
        /// Somebody has exchanged a part of the path for a link since it was checked.
        case outside
        /// A file of the service itself.
        case ofService
        /// Another file. Its text stays secret.
        case noManifest

        /// Whether the file is readable, but is no manifest.
        var isReadable: Bool { if case .noManifest = self { true } else { false } }

        var reason: String {
            switch self {
            case .system(let code): String(cString: strerror(code))
            case .folder: "it is a folder"
            case .noFile: "it is no regular file"
            case .tooLarge: "it has more than 1 MB"
            case .outside: "a link leads outside of the token's folders"
            case .ofService: "it lies in the service's own folder"
            case .noManifest:
                "this is no manifest: it has none of the keys that manifests have, such as 'job' and 'inputs'"
            }
        }

        func remedy(for path: String, in unit: SystemdUnit?) -> String {
            switch self {
            case .system where unit?.hint(about: path) != nil:
                [unit?.hint(about: path), "or send its text (--upload)"].compactMap(\.self).joined(separator: "\n")
            case .system(EACCES), .system(EPERM): "let the service's user read it, or send its text (--upload)"
            case .system(ENOENT), .system(ENOTDIR):
                "look for a misspelt name; a manifest of another machine is sent as text (--upload)"
            case .tooLarge: "a manifest has at most 1 MB"
            case .ofService, .noManifest:
                "name the file of a manifest; 'penumbra check FILE' shows what is wrong with a file of your own"
            case .system, .folder, .noFile, .outside: "name a file that the service's user may read"
            }
        }

        var outcome: RunOutcome {
            switch self {
            case .tooLarge, .noManifest: .badManifest
            default: .missingInput
            }
        }
    }

    private func bytes(
        of place: ManifestSource.Place, within folders: RootCheck? = nil
    ) throws(Unreadable) -> [UInt8] {
        switch place {
        case .uploaded(let text, _):
            guard text.utf8.count <= Self.largestManifest else { throw .tooLarge }
            return Array(text.utf8)
        case .file(let path):
            let bytes = try bytes(at: path, within: folders)
            // A text in another encoding is refused without any of its text.
            guard JobReader.isManifest(bytes) || String(validating: bytes, as: UTF8.self) == nil else {
                throw .noManifest
            }
            return bytes
        }
    }

    private func bytes(at path: String, within folders: RootCheck?) throws(Unreadable) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { throw .system(errno) }
        defer { close(file) }
        // The path of the opened file. The path of the request may lead elsewhere by now.
        let opened = RealPath.resolve("/proc/self/fd/\(file)")
        if let serviceFolder, PathNames.isBelow(opened, RealPath.resolve(serviceFolder)) { throw .ofService }
        if let folders {
            guard folders.outside([JobPath(origin: "the manifest", path: opened, access: .read)]).isEmpty else {
                throw .outside
            }
        }
        var found = stat()
        guard fstat(file, &found) == 0 else { throw .system(errno) }
        if found.st_mode & S_IFMT == S_IFDIR { throw .folder }
        guard found.st_mode & S_IFMT == S_IFREG else { throw .noFile }
        guard found.st_size <= Self.largestManifest else { throw .tooLarge }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= Self.largestManifest {
            let count = Glibc.read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system(errno) }
            if count == 0 { return bytes }
            bytes += buffer.prefix(count)
        }
        throw .tooLarge
    }

    static func manifest(_ place: ManifestSource.Place, name: String?) -> RunRequest.Manifest {
        var manifest = RunRequest.Manifest(path: place.path(name: name ?? "job"))
        if case .uploaded(let text, _) = place { manifest.text = text }
        return manifest
    }

    func read(
        _ manifest: RunRequest.Manifest, _ options: RunOptions, _ catalog: Catalog
    ) async throws -> ManifestFiles.Outcome {
        var request = RunRequest(manifests: [manifest], folder: "/")
        request.overrides = options.overrides
        let files = ManifestFiles(request, catalog: catalog, settings: farm.settings, control: nil)
        // Pictures of others are decoded only by workers that the kernel confines. The run reports what is wrong with them.
        return await files.checkedForRun(by: farm.worker, decodesPictures: options.roots == nil)
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
        // Nobody waits for the new catalog. If no worker gives one, the old one is used until the next attempt.
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

extension RootCheck {
    /// Refuses paths of a job outside of the folders, each with its reason.
    fileprivate func refuse(_ paths: [JobPath], of manifest: String) throws(FolderRefusal) {
        let errors = outside(paths).map { path in
            let lines = path.message.split(separator: "\n   = ", maxSplits: 1)
            return ManifestFault(
                message: lines.first.map(String.init) ?? "", remedy: lines.count > 1 ? String(lines[1]) : nil)
        }
        guard !errors.isEmpty else { return }
        let count = errors.count == 1 ? "a path" : "\(errors.count) paths"
        throw FolderRefusal("\(VisibleText.line(manifest)): \(count) outside of the token's folders", errors: errors)
    }
}
