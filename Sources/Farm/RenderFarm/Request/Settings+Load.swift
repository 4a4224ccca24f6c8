package import Catalogs
import Coordination
import FoundationEssentials
import Glibc
package import JobModel
import Planning
package import Runs
package import Settings

extension Settings {
    /// Gathers the settings of a request.
    package static func load(_ request: RunRequest) throws(FarmError) -> Settings {
        var flags = Flags()
        (flags.configFile, flags.stateFolder) = (request.configFile, request.stateFolder)
        (flags.scratch, flags.workers, flags.engine) = (request.scratch, request.workers, request.engine)
        let settings = try load(flags, folder: request.folder)
        try settings.refuseNetworkState()
        return settings
    }

    /// - Throws: ``FarmError`` for arguments that the engine does not take.
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
    ///   - folder: where relative paths start.
    ///   - cores: for a process that may use fewer than the machine has.
    /// - Throws: ``FarmError`` for a config file that is wrong or missing.
    package static func load(
        _ flags: Flags, folder: String, cores: Int = Machine.cores(), memory: Int = Machine.memory()
    ) throws(FarmError) -> Settings {
        let environment = ProcessInfo.processInfo.environment
        let surroundings = LaunchEnvironment(
            environment: environment, currentFolder: folder, programFolder: programFolder(),
            cores: cores, memory: memory, homeFolder: Machine.homeFolder(environment)
        ) { foundFile(at: PathText.normalized($0, in: folder)) }
        do {
            return try Settings(flags, surroundings)
        } catch {
            throw FarmError(error.kind == .missing ? .missingInput : .badManifest, error.message)
        }
    }

    /// What filters' shared parameters are where no manifest says it.
    package var sharedParameters: [String: ParameterValue] {
        ["reduce_transparency": .boolean(reduceTransparency.value)]
    }

    private static func foundFile(at path: String) -> FoundFile {
        do {
            return .bytes(Array(try Data(contentsOf: URL(filePath: path))))
        } catch {
            var found = stat()
            guard stat(path, &found) == 0 else {
                return [ENOENT, ENOTDIR].contains(errno) ? .nothing : .unreadable(String(cString: strerror(errno)))
            }
            if found.st_mode & S_IFMT == S_IFDIR { return .unreadable("it is a folder") }
            return .unreadable(access(path, R_OK) == 0 ? "\(error)" : String(cString: strerror(errno)))
        }
    }

    /// Kernel locks and durable renames cannot be had on every network filesystem.
    package func refuseNetworkState() throws(FarmError) {
        guard Machine.isNetworkFilesystem(stateFolder.value) else { return }
        throw FarmError(
            .badManifest,
            "\(stateFolder.value): the state folder is on a network filesystem; name a local one by --state-dir")
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
