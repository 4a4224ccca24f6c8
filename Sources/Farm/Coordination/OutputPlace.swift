package import JobModel
import Planning

/// Looks at places of outputs without touching them.
package enum OutputPlace {
    package static func exists(_ path: String) -> Bool { FileSystem.isOutput(path) }

    /// What lies at each path; nil where nothing does. Many are looked at on several threads.
    ///
    /// - Parameter paths: each with whether the output is a folder.
    package static func stamps(_ paths: [(path: String, isFolder: Bool)]) -> [FileStamp?] {
        concurrentMap(paths) { FileSystem.outputStamp($0.path, isFolder: $0.isFolder) }
    }
}
