package import Catalogs
import Glibc
package import JobModel

/// The pictures that a command line names, for commands that change pictures in place.
package struct PictureSearch: Sendable {
    /// A picture with its real path.
    package struct Picture: Hashable, Sendable {
        package let file: InputFile
        /// Whether the command line names the picture itself, not a folder above it.
        package let isNamed: Bool
        /// The picture's folder at the time of the search. Someone may replace it by a link or by another folder later.
        package let folder: FileStamp.Identity?
    }

    /// Each picture once: first the named ones in their order, then those of folders. A named picture may not exist.
    package private(set) var pictures: [Picture] = []
    /// Real paths of the named folders.
    package private(set) var folders: [InputFile] = []
    /// The named folders, and folders below them, with originals beside their pictures. The pictures may be gone.
    package private(set) var storeFolders: [String] = []
    /// Other files in the folders, without hidden ones.
    private var others: [[UInt8]] = []
    /// Messages about folders that could not be read.
    package private(set) var problems: [String] = []
    private var foundLinks: [(path: [UInt8], isPicture: Bool, kind: FileKind)] = []
    /// Files that are hidden, or whose names are not those of pictures.
    private var unnamed: [[UInt8]] = []
    private var hiddenFolders: [HiddenFolder] = []
    /// The number of entries of hidden folders that were inspected.
    private var hiddenCount = 0
    /// The folder with the originals of blurred pictures, which must stay sharp.
    private let originals: [UInt8]
    private let storeName: [UInt8]
    private var seen: Set<[UInt8]> = []
    /// Devices and inodes: one folder may be mounted at two paths.
    private var seenFiles: Set<FileStamp.Identity> = []

    /// Extensions of pictures that no format lists: the kinds of portable maps that Penumbra reads.
    private static let furtherExtensions = ["pgm", "pbm", "pfm"]

    /// - Parameters:
    ///   - paths: As the file system has them.
    ///   - folder: The absolute path that relative paths start from.
    ///   - catalog: Its extensions make a file of a folder a picture.
    ///   - originals: A folder that the search skips, because it holds copies and not the user's pictures.
    ///   - storeName: The name of folders with originals beside their pictures. It begins as all of Penumbra's own names.
    package init(
        _ paths: [[UInt8]], in folder: String, catalog: Catalog, without originals: String, storeName: String
    ) {
        self.storeName = Array(storeName.utf8)
        self.originals = Self.realPath(Array(originals.utf8))
        let names = catalog.pictureExtensions.union(Self.furtherExtensions)
        let extensions = Set(names.map { PathBytes.lowercased($0.utf8) })
        for path in paths {
            let real = Self.realPath(path, in: folder)
            let file = InputFile(bytes: real, dir: "")
            if FileKind(of: file) == .folder {
                folders.append(file)
            } else if seen.insert(real).inserted, isNew(file) {
                // A link to a device or a pipe stands for itself, so that messages name it.
                let isOdd = FileKind(of: file) == .other && Self.isLink(path, in: folder)
                let named = isOdd ? InputFile(bytes: PathBytes.normalized(path, in: Array(folder.utf8)), dir: "") : file
                let parent = FileStamp(of: PathBytes.folder(of: named.exactPath))?.identity
                pictures.append(Picture(file: named, isNamed: true, folder: parent))
            }
        }
        for folder in folders {
            open(folder.exactPath, extensions) { () throws(UnreadableFolder) in try OpenFolder(folder.exactPath) }
        }
    }

    private static func isLink(_ path: [UInt8], in folder: String) -> Bool {
        var found = stat()
        return lstat(cPath(PathBytes.normalized(path, in: Array(folder.utf8))), &found) == 0
            && found.st_mode & S_IFMT == S_IFLNK
    }

    /// The real path of a command line's argument, as far as it exists.
    ///
    /// - Parameter folder: The absolute path that relative paths start from.
    package static func realPath(_ path: [UInt8], in folder: String) -> [UInt8] {
        realPath(PathBytes.normalized(path, in: Array(folder.utf8)))
    }

    /// The real path, as far as it exists.
    private static func realPath(_ path: [UInt8]) -> [UInt8] {
        if let resolved = realpath(cPath(path), nil) {
            defer { free(resolved) }
            return UnsafeBufferPointer(start: resolved, count: strlen(resolved)).map { UInt8(bitPattern: $0) }
        }
        let parent = PathBytes.folder(of: path)
        return parent == path ? path : PathBytes.joined(realPath(parent), Array(PathBytes.name(of: path)))
    }

    private mutating func open(
        _ path: [UInt8], _ extensions: Set<[UInt8]>, _ opening: () throws(UnreadableFolder) -> OpenFolder
    ) {
        do throws(UnreadableFolder) {
            let folder = try opening()
            search(folder, try folder.entries(), path, extensions)
        } catch {
            problems.append(error.message)
        }
    }

    /// Links in folders are not followed, because their targets may be anywhere.
    private mutating func search(
        _ folder: OpenFolder, _ entries: [DirectoryListing.Entry], _ path: [UInt8], _ extensions: Set<[UInt8]>
    ) {
        for entry in entries {
            let isHidden = entry.name.first == PathBytes.dot
            let entryPath = PathBytes.joined(path, entry.name)
            let isPicture =
                !isHidden && extensions.contains(PathBytes.lowercased(PathBytes.fileExtension(of: entry.name[...])))
            if entry.isSymbolicLink {
                foundLinks.append((entryPath, isPicture, entry.kind))
                if !isHidden { others.append(entryPath) }
            } else if let code = entry.trouble {
                if !isHidden { problems.append(UnreadableFolder(path: entryPath, .unknown, code: code).message) }
            } else if entry.kind == .folder {
                if entryPath == originals { continue }
                guard !isHidden else {
                    noteStore(entry, in: path)
                    if !entry.name.starts(with: Self.ownPrefix) { inspect(entry.name, in: folder, entryPath) }
                    continue
                }
                open(entryPath, extensions) { () throws(UnreadableFolder) in try OpenFolder(entry.name, in: folder) }
            } else if isPicture, entry.kind == .file {
                guard seen.insert(entryPath).inserted else { continue }
                let file = InputFile(bytes: entryPath, dir: "")
                if isNew(file) { pictures.append(Picture(file: file, isNamed: false, folder: folder.identity)) }
            } else {
                if entry.kind == .file, !entry.name.starts(with: Self.ownPrefix) { unnamed.append(entryPath) }
                if !isHidden { others.append(entryPath) }
            }
        }
    }

    /// Ignores folders whose paths are not UTF-8. `blur --keep beside` refuses them, so they hold no originals.
    private mutating func noteStore(_ entry: DirectoryListing.Entry, in folder: [UInt8]) {
        guard entry.name == storeName, let path = String(validating: folder, as: UTF8.self) else { return }
        storeFolders.append(path)
    }

    /// A folder that the search skips because its name is hidden.
    private struct HiddenFolder {
        let path: [UInt8]
        /// All files in it and below.
        var files: [[UInt8]] = []
        /// Whether `files` is complete.
        var isWhole = true
    }

    /// The largest number of entries of hidden folders that are inspected: a home folder may have millions.
    private static let mostHidden = 100_000

    private mutating func inspect(_ name: [UInt8], in folder: OpenFolder, _ path: [UInt8]) {
        var hidden = HiddenFolder(path: path)
        inspectHidden(path, &hidden) { () throws(UnreadableFolder) in try OpenFolder(name, in: folder) }
        hiddenFolders.append(hidden)
    }

    private mutating func inspectHidden(
        _ path: [UInt8], _ hidden: inout HiddenFolder, _ opening: () throws(UnreadableFolder) -> OpenFolder
    ) {
        let (folder, entries): (OpenFolder, [DirectoryListing.Entry])
        do throws(UnreadableFolder) {
            folder = try opening()
            entries = try folder.entries()
        } catch {
            hidden.isWhole = false
            return
        }
        for entry in entries where !entry.isSymbolicLink {
            if entry.kind == .folder { noteStore(entry, in: path) }
            guard !entry.name.starts(with: Self.ownPrefix) else { continue }
            let entryPath = PathBytes.joined(path, entry.name)
            guard entryPath != originals else { continue }
            guard hiddenCount < Self.mostHidden, entry.trouble == nil else {
                hidden.isWhole = false
                continue
            }
            hiddenCount += 1
            switch entry.kind {
            case .file: hidden.files.append(entryPath)
            case .folder:
                inspectHidden(entryPath, &hidden) { () throws(UnreadableFolder) in
                    try OpenFolder(entry.name, in: folder)
                }
            default: continue
            }
        }
    }

    /// The prefix of the names of Penumbra's own files beside others.
    private static let ownPrefix = Array(".penumbra-".utf8)

    /// Files of the folders that stay unchanged although they are pictures, or may be. Names alone do not decide, so
    /// files are opened.
    package struct SkippedFiles: Sendable {
        package struct Link: Hashable, Sendable {
            package let link: InputFile
            /// The real path, as far as it exists.
            package let target: InputFile
        }

        package struct Hidden: Hashable, Sendable {
            package let folder: InputFile
            package var pictures: [InputFile]
            /// False if some of its contents could not be inspected.
            package let isWhole: Bool
        }

        /// Links to pictures outside of the named folders, and links with a picture's name whose target does not exist.
        package var links: [Link] = []
        /// Links to folders outside of the named folders.
        package var folderLinks: [InputFile] = []
        /// Pictures that are hidden, or whose names are not those of pictures.
        package var unnamed: [InputFile] = []
        /// Hidden folders that contain pictures, or may contain some.
        package var hidden: [Hidden] = []
        /// Pictures and films in formats that Penumbra does not read.
        package var unread: [InputFile] = []
        /// Other files in the folders, without hidden ones; sorted.
        package var others: [InputFile] = []

        package var isNothing: Bool {
            links.isEmpty && folderLinks.isEmpty && unnamed.isEmpty && hidden.isEmpty && unread.isEmpty
        }
    }

    package func passedBy() -> SkippedFiles {
        var (found, reported) = (SkippedFiles(), Set<[UInt8]>())
        for (path, isPicture, kind) in foundLinks {
            let real = Self.realPath(path)
            let target = InputFile(bytes: real, dir: "")
            if kind == .folder {
                guard !holds(target), !folders.contains(where: { $0.isSameFile(as: target) }) else { continue }
                found.folderLinks.append(InputFile(bytes: path, dir: ""))
            } else if isPicture || kind == .file && FileSignature.kind(at: path) != nil {
                if !seen.contains(real) {
                    found.links.append(SkippedFiles.Link(link: InputFile(bytes: path, dir: ""), target: target))
                }
            } else {
                continue
            }
            reported.insert(path)
        }
        for path in unnamed where !seen.contains(path) {
            switch FileSignature.kind(at: path) {
            case .readable: found.unnamed.append(InputFile(bytes: path, dir: ""))
            case .unread: found.unread.append(InputFile(bytes: path, dir: ""))
            case nil: continue
            }
            reported.insert(path)
        }
        for hidden in hiddenFolders { add(hidden, to: &found) }
        // A file without a picture's name is blurred if the command line names it.
        found.others = others.filter { !reported.contains($0) && !seen.contains($0) }.map {
            InputFile(bytes: $0, dir: "")
        }
        .sorted { PathKey($0.path) < PathKey($1.path) }
        return found
    }

    private func add(_ hidden: HiddenFolder, to found: inout SkippedFiles) {
        let folder = InputFile(bytes: hidden.path, dir: "")
        // A path that the command line names is not hidden any more.
        let named = folders.filter { $0.exactPath == hidden.path || Self.holds(folder, $0) }
        guard !named.contains(where: { $0.exactPath == hidden.path }) else { return }
        var pictures: [InputFile] = []
        for path in hidden.files where !seen.contains(path) {
            let file = InputFile(bytes: path, dir: "")
            guard !named.contains(where: { Self.holds($0, file) }) else { continue }
            switch FileSignature.kind(at: path) {
            case .readable: pictures.append(file)
            case .unread: found.unread.append(file)
            case nil: continue
            }
        }
        if !pictures.isEmpty || !hidden.isWhole {
            found.hidden.append(SkippedFiles.Hidden(folder: folder, pictures: pictures, isWhole: hidden.isWhole))
        }
    }

    /// False for a file that was found before by the same name through another mount. A file with several hard links is
    /// reported once for each.
    private mutating func isNew(_ file: InputFile) -> Bool {
        guard let identity = FileStamp.onlyName(of: file) else { return true }
        return seenFiles.insert(identity).inserted
    }

    /// Whether a path is in one of the named folders.
    package func holds(_ picture: InputFile) -> Bool {
        folders.contains { Self.holds($0, picture) }
    }

    /// Whether a path is in a folder.
    package static func holds(_ folder: InputFile, _ file: InputFile) -> Bool {
        let path = folder.exactPath
        return file.exactPath.starts(with: path == [PathBytes.slash] ? [] : path + [PathBytes.slash])
    }
}
