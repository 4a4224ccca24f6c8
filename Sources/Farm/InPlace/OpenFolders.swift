import Glibc
import JobModel
import Planning
import SafeFiles

/// The folders of some pictures, locked for as long as this value lives.
struct OpenFolders {
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

    /// Those that could be locked, with their paths, where these are UTF-8.
    var held: [(path: String, folder: PictureFolder)] {
        folders.compactMap { key, folder in
            guard case .success(let folder) = folder else { return nil }
            return (key.isEmpty ? "/" : String(validating: key, as: UTF8.self)).map { ($0, folder) }
        }
    }

    /// Another command uses the originals there.
    mutating func markBusy(_ path: String) {
        folders[path == "/" ? [] : Array(path.utf8)] = .failure(PictureFolder.Busy())
    }

    /// Nil where nothing is, or the folder cannot be had.
    func look(at picture: InputFile) -> PictureFolder.Found? {
        (try? folders[Self.key(of: picture)]?.get())?.look(at: picture)
    }

    /// Opens a picture to read it. Nil where nothing is, or the folder cannot be had.
    func open(_ picture: InputFile) throws(FileTrouble) -> SafeFile? {
        guard case .success(let folder) = folders[Self.key(of: picture)] else { return nil }
        return try folder.open(picture)
    }

    /// Nil where there is no such folder, and so no picture.
    ///
    /// - Throws: ``InPlaceResult/Outcome`` as ``InPlaceTrouble``.
    func folder(of wanted: RequestedPicture) throws(InPlaceTrouble) -> PictureFolder? {
        switch folders[Self.key(of: wanted.picture)] {
        case .success(let folder):
            // Whoever can write in the folder above has put a link, or another folder, in its place.
            guard wanted.folder == nil || wanted.folder == folder.identity else {
                throw .refused("its folder was replaced by another one meanwhile; left as it is")
            }
            return folder
        case .failure(let trouble as FileTrouble) where [ENOENT, ENOTDIR].contains(trouble.code): return nil
        case .failure(let trouble as FileTrouble): throw InPlaceTrouble(trouble)
        case .failure, nil: throw InPlaceTrouble(outcome: .busy)
        }
    }
}
