import Catalogs
import Coordination
import Glibc
import JobModel
import RenderFarm
import Runs
import Settings

extension Settings {
    /// Gathers the settings of a command line.
    ///
    /// - Throws: ``FarmError`` for a config that is wrong or missing.
    static func load(_ place: LocationOptions, engine: EngineName? = nil) throws -> Settings {
        let settings = try load(flags(place, engine), folder: currentFolder())
        try settings.refuseNetworkState()
        return settings
    }

    /// The folder in which this user's runs are remembered, for a command that keeps its own state elsewhere. Nil where no database
    /// can be there, or the settings are wrong, which the command itself tells.
    static func ownState(_ place: LocationOptions) -> String? { try? load(place).stateFolder.value }

    /// For an element of a cluster's job, which keeps no state and has its cores and memory from the cluster.
    static func load(_ place: LocationOptions, allocation: Allocation) throws -> Settings {
        var place = place
        place.workers = place.workers ?? min(allocation.cores ?? .max, Machine.cores(), 1024)
        return try load(
            flags(place, nil), folder: currentFolder(), memory: min(allocation.memory ?? .max, Machine.memory()))
    }

    private static func flags(_ place: LocationOptions, _ engine: EngineName?) -> Flags {
        var flags = Flags()
        (flags.configFile, flags.stateFolder) = (place.configFile, place.stateDir)
        (flags.scratch, flags.workers, flags.engine) = (place.scratch, place.workers, engine)
        return flags
    }
}

extension RunRequest {
    /// The manifests of a command line.
    init(_ options: ManifestOptions) {
        self.init(manifests: options.manifests.map { Manifest(path: $0) }, folder: currentFolder())
        overrides = options.overrides
    }
}

extension ManifestFiles {
    /// Those of a command line.
    init(options: ManifestOptions, catalog: Catalog, settings: Settings) {
        self.init(RunRequest(options), catalog: catalog, settings: settings, control: Signals.current)
    }
}

func currentFolder() -> String {
    guard let path = getcwd(nil, 0) else { return "/" }
    defer { free(path) }
    return String(cString: path)
}
