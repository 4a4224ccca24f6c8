import Catalogs
import FoundationEssentials
import Glibc
import JobModel
import Settings

extension Settings {
    /// Gathers the settings of a command line.
    ///
    /// - Throws: ``CommandError`` with the exit code of a wrong or missing config.
    static func load(_ place: PlaceOptions) throws -> Settings {
        var flags = Flags()
        flags.configFile = place.configFile
        flags.stateFolder = place.stateDir
        flags.scratch = place.scratch
        flags.workers = place.workers
        let environment = ProcessInfo.processInfo.environment
        let surroundings = Surroundings(
            environment: environment, currentFolder: currentFolder(), programFolder: programFolder(),
            cores: Machine.cores(), memory: Machine.memory(), homeFolder: Machine.homeFolder(environment)
        ) { foundFile(at: $0) }
        do {
            let settings = try Settings(flags, surroundings)
            try settings.refuseNetworkState()
            return settings
        } catch let problem as Problem {
            throw CommandError(problem.kind == .missing ? .missingInput : .badManifest, problem.message)
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
func programFolder() -> String {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &bytes, bytes.count)
    let path = String(decoding: bytes.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return PathNames.folder(of: path) ?? "."
}

func isReadable(_ path: String) -> Bool { access(path, R_OK) == 0 }
