package import JobModel
import Planning
import SafeFiles

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

/// The folders that a job's outputs are below: what stands before the first field of each output's path.
///
/// A run locks them, and an index lies in each.
package enum OutputFolders {
    /// Absolute, sorted, each once.
    package static func of(_ job: JobSpec) -> [String] {
        Set(job.outputs.map { PathKey(folder(of: $0.template, job)) }).sorted().map(\.path)
    }

    private static func folder(of template: OutputTemplate, _ job: JobSpec) -> String {
        var text = ""
        for piece in template.pieces {
            if case .literal(let literal) = piece {
                text += literal
            } else if piece == .field(.job) {
                text += job.name
            } else {
                break
            }
        }
        guard let folder = PathNames.folder(of: text) else { return job.folder }
        return PathText.normalized(folder + "/", in: job.folder)
    }
}
