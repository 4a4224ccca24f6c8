import JobModel
package import JobStorage
import Planning
import SafeFiles

/// Finds the disks that have paths. Remembers each folder that it has looked at.
package struct MountLookup {
    private var known: [PathKey: KnownDisks.Mount] = [:]

    private init() {}

    /// A new lookup, as a function.
    package static func make() -> (String) -> KnownDisks.Mount {
        var lookup = MountLookup()
        return { lookup.mount(ofReal: realPath($0)) }
    }

    /// - Parameter path: without links. Where nothing is there, the disk is found that would have it.
    private mutating func mount(ofReal path: String) -> KnownDisks.Mount {
        let key = PathKey(path)
        if let found = known[key] { return found }
        let found =
            FileSystem.isMountPoint(path)
            ? KnownDisks.Mount(path: path, disk: DiskMark.of(path))
            : mount(ofReal: PathText.folder(of: path))
        known[key] = found
        return found
    }
}
