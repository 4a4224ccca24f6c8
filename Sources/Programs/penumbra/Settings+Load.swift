import Catalogs
import FoundationEssentials
import Glibc
import JobModel
import Settings

extension Settings {
    /// Gathers the settings of a command line.
    ///
    /// - Throws: ``CommandError`` with the exit code of a wrong or missing config.
    static func load(_ place: PlaceOptions, engine: EngineName? = nil) throws -> Settings {
        let settings = try load(place, engine: engine, cores: Machine.cores(), memory: Machine.memory())
        try settings.refuseNetworkState()
        return settings
    }

    /// The folder in which this user's runs are remembered, for a command that keeps its own state elsewhere. Nil where no database
    /// can be there, or the settings are wrong, which the command itself tells.
    static func ownState(_ place: PlaceOptions) -> String? {
        try? load(place).stateFolder.value
    }

    /// For an element of a cluster's job, which keeps no state and has its cores and memory from the cluster.
    static func load(_ place: PlaceOptions, allocation: Allocation) throws -> Settings {
        var place = place
        place.workers = place.workers ?? min(allocation.cores ?? .max, Machine.cores(), 1024)
        let memory = min(allocation.memory ?? .max, Machine.memory())
        return try load(place, engine: nil, cores: Machine.cores(), memory: memory)
    }

    private static func load(_ place: PlaceOptions, engine: EngineName?, cores: Int, memory: Int) throws -> Settings {
        var flags = Flags()
        flags.configFile = place.configFile
        flags.stateFolder = place.stateDir
        flags.scratch = place.scratch
        flags.workers = place.workers
        flags.engine = engine
        let environment = ProcessInfo.processInfo.environment
        let surroundings = Surroundings(
            environment: environment, currentFolder: currentFolder(), programFolder: programFolder(),
            cores: cores, memory: memory, homeFolder: Machine.homeFolder(environment)
        ) { foundFile(at: $0) }
        do {
            return try Settings(flags, surroundings)
        } catch {
            throw CommandError(error.kind == .missing ? .missingInput : .badManifest, error.message)
        }
    }

    /// What filters' shared parameters are where no manifest says it.
    var sharedParameters: [String: ParameterValue] {
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
    private func refuseNetworkState() throws {
        guard Machine.isNetworkFilesystem(stateFolder.value) else { return }
        throw CommandError(
            .badManifest,
            "\(stateFolder.value): the state folder is on a network filesystem; name a local one by --state-dir")
    }

}

/// The folder of the running program.
func programFolder() -> String { PathNames.folder(of: programPath()) ?? "." }

func programPath() -> String {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

func isReadable(_ path: String) -> Bool { access(path, R_OK) == 0 }
