package import Catalogs
import Coordination
import FoundationEssentials
import Glibc
package import JobModel
import Manifests
import Planning
package import Runs
import SafeFiles
package import Settings

extension Settings {
    /// Reads the settings for a request.
    package static func load(_ request: RunRequest) throws(FarmError) -> Settings {
        var flags = Flags()
        (flags.configFile, flags.stateFolder) = (request.configFile, request.stateFolder)
        (flags.scratch, flags.workers, flags.engine) = (request.scratch, request.workers, request.engine)
        let settings = try load(flags, folder: request.folder)
        try settings.refuseNetworkState()
        return settings
    }

    /// - Throws: ``FarmError`` for arguments that the engine does not accept.
    package func check(slurmArguments: [String]) throws(FarmError) {
        guard !slurmArguments.isEmpty, engine.value != .slurm else { return }
        guard engine.value == .local else {
            throw FarmError(
                .usage,
                "--slurm-arg is for sbatch, and the engine is \(engine.value.rawValue): give --engine slurm, or leave it out"
            )
        }
        throw FarmError(
            .usage,
            "--slurm-arg is for a cluster, and the engine is \(engine.value.rawValue): give --engine slurm, too")
    }

    /// - Parameters:
    ///   - folder: the folder where relative paths start.
    ///   - cores: the cores that the process may use.
    /// - Throws: ``FarmError`` if the config file is wrong or missing.
    package static func load(
        _ flags: Flags, folder: String, cores: Int = Machine.cores(), memory: Int = Machine.memory()
    ) throws(FarmError) -> Settings {
        let environment = ProcessInfo.processInfo.environment
        let launch = LaunchEnvironment(
            environment: environment, currentFolder: folder, programFolder: programFolder(),
            cores: cores, memory: memory, homeFolder: Machine.homeFolder(environment)
        ) { foundFile(at: PathText.normalized($0, in: folder)) }
        do {
            return try Settings(flags, launch)
        } catch {
            throw FarmError(error.kind == .missing ? .missingInput : .badManifest, error.message)
        }
    }

    /// The defaults of filters' shared parameters.
    package var sharedParameters: [String: ParameterValue] {
        ["reduce_transparency": .boolean(reduceTransparency.value)]
    }

    private static func foundFile(at path: String) -> FoundFile {
        var found = stat()
        // A pipe can be read once, but the settings of a run are read again by whoever resumes it.
        if stat(path, &found) == 0, found.st_mode & S_IFMT == S_IFIFO {
            return .unreadable("it is a pipe, and settings may be read more than once")
        }
        do throws(InputArgument.ReadError) {
            // The parser refuses a file with one byte more than it reads.
            return .bytes(try InputArgument.read(path, in: "/", limit: SyntaxLimits.bytes + 1, control: nil))
        } catch {
            switch error {
            case .system(ENOENT), .system(ENOTDIR): return .nothing
            case .system(EISDIR): return .unreadable("it is a folder")
            case .system(let code): return .unreadable(String(cString: strerror(code)))
            case .stopped(let reason): return .unreadable(reason.message())
            }
        }
    }

    /// Refuses a state folder on a network file system, because kernel locks and durable renames may not work there.
    package func refuseNetworkState() throws(FarmError) {
        guard Machine.isNetworkFilesystem(stateFolder.value) else { return }
        throw FarmError(
            .badManifest,
            "\(stateFolder.value): the state folder is on a network file system\n   = name a local folder by --state-dir"
        )
    }
}

/// The folder of the running program.
package func programFolder() -> String { PathNames.folder(of: programPath()) ?? "." }

package func programPath() -> String {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

package func isReadable(_ path: String) -> Bool { access(path, R_OK) == 0 }

/// A temporary state folder for one command. A permanent one would be useless, because other machines continue the run.
package enum TemporaryState {
    private static let prefix = "penumbra-state-"

    /// - Parameter given: the user's folder; nil for a new folder, which is removed afterwards.
    package static func with<Result>(_ given: String?, _ body: (String) async throws -> Result) async throws -> Result {
        if let given { return try await body(given) }
        let parent = FileManager.default.temporaryDirectory
        sweep(parent)
        while true {
            let folder = parent.appending(path: prefix + String(UInt64.random(in: 1 << 60 ... .max), radix: 16))
            // Everybody may write to the parent folder.
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            defer { try? FileManager.default.removeItem(at: folder) }
            let path = folder.path(percentEncoded: false)
            // Another process that sweeps may hold the lock.
            guard let lock = try KernelLock.take("\(path)/alive") else { continue }
            defer { withExtendedLifetime(lock) {} }
            return try await body(path)
        }
    }

    /// Removes folders of killed processes. Folders of other users cannot be locked.
    private static func sweep(_ parent: URL) {
        let path = parent.path(percentEncoded: false)
        guard let folder = try? SafeFolder(path, trusting: .everybody), let names = try? folder.names() else { return }
        for name in names where name.hasPrefix(prefix) {
            let alive = parent.appending(path: name).appending(path: "alive").path(percentEncoded: false)
            // Root could lock another user's folder, but that user could exchange it at the same time.
            guard let own = try? folder.folder(name), (try? own.isOwn()) == true, isReadable(alive),
                let lock = try? KernelLock.take(alive)
            else { continue }
            withExtendedLifetime(lock) { folder.removeTree(name) }
        }
    }
}
