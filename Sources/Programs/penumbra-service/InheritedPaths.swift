import Glibc
import JobModel

/// Paths that runs get from the environment of this process. Runs begin in another folder.
enum InheritedPaths {
    private static let names = ["PENUMBRA_CONFIG", "PENUMBRA_STATE_DIR", "PENUMBRA_SCRATCH", "PENUMBRA_WORKER"]
    /// Has several paths.
    private static let list = "PENUMBRA_PLUGIN_PATH"

    /// Changes the environment, so that it means the same in every folder. Call it before other threads read the environment.
    ///
    /// - Parameter folder: where relative paths start.
    static func makeAbsolute(in folder: String) {
        for name in names {
            guard let path = value(of: name) else { continue }
            setenv(name, absolute(path, folder), 1)
        }
        guard let paths = value(of: list) else { return }
        let parts = paths.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        setenv(list, parts.map { absolute($0, folder) }.joined(separator: ":"), 1)
    }

    private static func value(of name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// An empty text stays empty: it means the default.
    private static func absolute(_ path: String, _ folder: String) -> String {
        path.isEmpty || PathNames.isAbsolute(path) ? path : PathNames.joined(folder, path)
    }
}
