import Dispatch
package import JobModel
import Synchronization

/// Looks at places of outputs without touching them.
package enum OutputPlace {
    package static func exists(_ path: String) -> Bool { FileSystem.isOutput(path) }

    /// What lies at each path; nil where nothing does. Many are looked at on several threads.
    ///
    /// - Parameter paths: each with whether the output is a folder.
    package static func stamps(_ paths: [(path: String, isFolder: Bool)]) -> [FileStamp?] {
        let part = 4096
        let results = Mutex<[Int: [FileStamp?]]>([:])
        DispatchQueue.concurrentPerform(iterations: (paths.count + part - 1) / part) { index in
            let range = index * part..<min((index + 1) * part, paths.count)
            let found = paths[range].map { FileSystem.outputStamp($0.path, isFolder: $0.isFolder) }
            results.withLock { $0[index] = found }
        }
        return results.withLock { $0.sorted { $0.key < $1.key }.flatMap(\.value) }
    }
}
