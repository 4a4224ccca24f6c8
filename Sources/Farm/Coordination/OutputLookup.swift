import Catalogs
package import JobModel
import Planning
import SafeFiles

/// Looks up the files at outputs' paths. Changes nothing.
package struct OutputLookup {
    /// The last folder, and whether it is missing: a first run looks up a thousand outputs in each new folder.
    private var lastFolder = ""
    private var isMissing = false

    package init() {}

    /// Whether a file or a link is at an input's path. True if that cannot be found out.
    ///
    /// - Parameter path: the path as it is shown. Bytes that are not UTF-8 appear in it as `%E9`, which may
    ///   also be the name itself.
    package static func inputMayExist(at path: String) -> Bool {
        !FileSystem.isGone(path) || NonUTF8Name.possibleBytes(of: path).map(FileSystem.exists) == true
    }

    /// The stamp of an output; nil if there is no file. If paths come folder by folder, each folder is looked
    /// up once.
    package mutating func stamp(at path: String, isFolder: Bool) -> FileStamp? {
        if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), !path.utf8[..<slash].elementsEqual(lastFolder.utf8) {
            lastFolder = String(path[..<slash])
            isMissing = !lastFolder.isEmpty && !FileSystem.exists(lastFolder)
        }
        return isMissing ? nil : FileSystem.outputStamp(path, isFolder: isFolder)
    }
}

/// The folders of a job's outputs: the parts of the output paths before the first field.
///
/// A run locks these folders, and each has an index.
package enum OutputFolders {
    /// Absolute paths, sorted, without repetitions.
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
