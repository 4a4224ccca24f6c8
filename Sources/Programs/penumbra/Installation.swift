import Catalogs
import Dispatching
import Glibc
import Settings

/// The programs and settings that a command works with.
struct Installation {
    let settings: Settings
    let worker: WorkerCommand

    init(_ settings: Settings) {
        self.settings = settings
        var environment: [String: String] = [:]
        let folders = settings.plugins.value
        if !folders.isEmpty { environment["PENUMBRA_PLUGIN_PATH"] = folders.joined(separator: ":") }
        worker = WorkerCommand(executable: settings.worker.value, environment: environment)
    }

    /// - Throws: ``CommandError`` with the exit code of a missing component.
    func catalog() async throws -> Catalog {
        do {
            return try await CatalogReader.read(worker)
        } catch {
            throw CommandError(
                .unavailable,
                "\(error.message)\n   = penumbra-worker belongs beside penumbra; 'worker' in the config file or "
                    + "PENUMBRA_WORKER names another path")
        }
    }
}
