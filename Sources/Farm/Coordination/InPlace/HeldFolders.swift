import JobModel
import Planning
import SafeFiles

/// The folders of some pictures, locked for as long as this value lives.
struct HeldFolders {
    private var folders: [[UInt8]: Result<PictureFolder, any Error>] = [:]

    init(of pictures: [InputFile]) {
        for picture in pictures {
            let key = Self.key(of: picture)
            if folders[key] == nil { folders[key] = Result { try PictureFolder(of: picture) } }
        }
    }

    /// The folder as the file system has it.
    static func key(of picture: InputFile) -> [UInt8] {
        let path = picture.exactPath
        return Array(path[..<(path.lastIndex(of: PathNames.slash) ?? 0)])
    }

    /// The paths of those that could be locked, where they are UTF-8.
    var held: [String] {
        folders.compactMap { key, folder in
            guard case .success = folder else { return nil }
            return key.isEmpty ? "/" : String(validating: key, as: UTF8.self)
        }
    }

    /// Nil where nothing is, or the folder cannot be had.
    func look(at picture: InputFile) -> PictureFolder.Found? {
        (try? folders[Self.key(of: picture)]?.get())?.look(at: picture)
    }

    /// - Throws: ``InPlaceResult/Outcome`` as ``InPlaceTrouble``.
    func folder(of picture: InputFile) throws(InPlaceTrouble) -> PictureFolder {
        switch folders[Self.key(of: picture)] {
        case .success(let folder): return folder
        case .failure(let trouble as FileTrouble): throw InPlaceTrouble(trouble)
        case .failure, nil: throw InPlaceTrouble(outcome: .busy)
        }
    }
}
