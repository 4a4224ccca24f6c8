import SafeFiles
package import JobModel
import Planning

/// Looks at places of outputs without touching them.
package struct OutputLookup {
    /// Where the last look was, and that it is missing: the first run of a job has a thousand outputs in each new folder.
    private var lastFolder = ""
    private var isMissing = false

    package init() {}

    /// A folder, and no link to one.
    package static func isPlainFolder(_ path: String) -> Bool { FileSystem.isOwnFolder(path) }

    package static func exists(_ path: String) -> Bool { FileSystem.isOutput(path) }

    /// There is something at an input's path, if only a link that leads nowhere now, or nobody can tell.
    ///
    /// - Parameter path: as it is shown: what is not UTF-8 stands as `%E9` there, and may be what it says.
    package static func isInputThere(_ path: String) -> Bool {
        !FileSystem.isGone(path) || NonUTF8Name.possibleBytes(of: path).map(FileSystem.exists) == true
    }

    /// What lies at a path; nil where nothing does. Every folder is looked at once, as long as paths come folder by folder.
    package mutating func stamp(at path: String, isFolder: Bool) -> FileStamp? {
        if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), !path.utf8[..<slash].elementsEqual(lastFolder.utf8) {
            lastFolder = String(path[..<slash])
            isMissing = !lastFolder.isEmpty && !FileSystem.exists(lastFolder)
        }
        return isMissing ? nil : FileSystem.outputStamp(path, isFolder: isFolder)
    }
}
