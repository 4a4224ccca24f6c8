package import Catalogs
import Glibc
package import JobModel

/// The pictures that a command line names, for commands that work on them where they lie.
package struct PictureSearch {
    /// A picture, by its real path.
    package struct Picture: Hashable, Sendable {
        package let file: InputFile
        /// Whether it was named itself, and not a folder that it is in.
        package let isNamed: Bool
        /// Its folder as it was found. Somebody may put a link, or another folder, in its place.
        package let folder: FileStamp.Identity?
    }

    /// Each once: first those that were named, in their order, then those of folders. What was named may not be there.
    package private(set) var pictures: [Picture] = []
    /// Real paths of the folders that were named.
    package private(set) var folders: [InputFile] = []
    /// How many other files the folders hold, hidden ones not counted.
    private var others = 0
    /// Of folders that could not be read.
    package private(set) var problems: [String] = []
    private var foundLinks: [(path: [UInt8], isPicture: Bool, kind: FileKind)] = []
    /// Files that are hidden, or whose names are not those of pictures.
    private var unnamed: [[UInt8]] = []
    private var hiddenFolders: [HiddenFolder] = []
    /// How many entries of those were looked at.
    private var hiddenCount = 0
    /// Where originals of blurred pictures lie: they are to stay as sharp as they are.
    private let originals: [UInt8]
    private var seen: Set<[UInt8]> = []
    /// By device and inode: one folder may be mounted at two places.
    private var seenFiles: Set<FileStamp.Identity> = []

    /// Names of pictures that no format is called by: the kinds of portable maps that Penumbra reads.
    private static let furtherExtensions = ["pgm", "pbm", "pfm"]

    /// - Parameters:
    ///   - paths: as the file system has them.
    ///   - folder: what relative ones start from; absolute.
    ///   - catalog: what makes files of folders pictures.
    ///   - originals: a folder that is passed by, for what it holds is not the user's pictures.
    package init(_ paths: [[UInt8]], in folder: String, catalog: Catalog, without originals: String) {
        self.originals = Self.realPath(Array(originals.utf8))
        let names = catalog.readableExtensions.union(Self.furtherExtensions)
        let extensions = Set(names.map { PathBytes.lowercased($0.utf8) })
        for path in paths {
            let real = Self.realPath(path, in: folder)
            let file = InputFile(bytes: real, dir: "")
            if FileKind(of: file) == .folder {
                folders.append(file)
            } else if seen.insert(real).inserted, isNew(file) {
                let parent = FileStamp(of: PathBytes.folder(of: real))?.identity
                pictures.append(Picture(file: file, isNamed: true, folder: parent))
            }
        }
        for folder in folders {
            open(folder.exactPath, extensions) { () throws(UnreadableFolder) in try OpenFolder(folder.exactPath) }
        }
    }

    /// Of what a command line names, as far as it exists.
    ///
    /// - Parameter folder: what relative paths start from; absolute.
    package static func realPath(_ path: [UInt8], in folder: String) -> [UInt8] {
        realPath(PathBytes.normalized(path, in: Array(folder.utf8)))
    }

    /// As far as it exists.
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

    /// Links in folders are not followed: what they lead to may be anywhere.
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
                if !isHidden { others += 1 }
            } else if let code = entry.trouble {
                if !isHidden { problems.append(UnreadableFolder(path: entryPath, .unknown, code: code).message) }
            } else if entry.kind == .folder {
                if entryPath == originals { continue }
                guard !isHidden else {
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
                if !isHidden { others += 1 }
            }
        }
    }

    /// A folder that is passed by, since its name is hidden.
    private struct HiddenFolder {
        let path: [UInt8]
        /// All that are in it and below.
        var files: [[UInt8]] = []
        /// Whether those are all.
        var isWhole = true
    }

    /// Of entries of hidden folders: a home folder may have millions.
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
        for entry in entries where !entry.name.starts(with: Self.ownPrefix) && !entry.isSymbolicLink {
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

    /// How the names of files begin that Penumbra keeps beside others.
    private static let ownPrefix = Array(".penumbra-".utf8)

    /// What of the folders stays as it is although it shows, or may show, pictures. Names alone do not tell: files are
    /// looked into.
    package struct SkippedFiles {
        package struct Link: Hashable, Sendable {
            package let link: InputFile
            /// By its real path, as far as it exists.
            package let target: InputFile
        }

        package struct Hidden: Hashable, Sendable {
            package let folder: InputFile
            package var pictures: [InputFile]
            /// False where some of what is in it could not be looked at.
            package let isWhole: Bool
        }

        /// Links to pictures outside of the folders that were named, and links with a picture's name that lead nowhere.
        package var links: [Link] = []
        /// Links to folders outside of those.
        package var folderLinks: [InputFile] = []
        /// Pictures that are hidden, or whose names are not those of pictures.
        package var unnamed: [InputFile] = []
        /// Hidden folders with pictures in them, or in which some may be.
        package var hidden: [Hidden] = []
        /// Pictures and films in formats that Penumbra does not read.
        package var unread: [InputFile] = []
        /// How many other files the folders hold, hidden ones not counted.
        package var others = 0

        package var isNothing: Bool {
            links.isEmpty && folderLinks.isEmpty && unnamed.isEmpty && hidden.isEmpty && unread.isEmpty
        }
    }

    package func passedBy() -> SkippedFiles {
        var found = SkippedFiles(others: others)
        for (path, isPicture, kind) in foundLinks {
            let real = Self.realPath(path)
            let target = InputFile(bytes: real, dir: "")
            let isHidden = PathBytes.name(of: path).first == PathBytes.dot
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
            if !isHidden { found.others -= 1 }
        }
        for path in unnamed where !seen.contains(path) {
            switch FileSignature.kind(at: path) {
            case .readable: found.unnamed.append(InputFile(bytes: path, dir: ""))
            case .unread: found.unread.append(InputFile(bytes: path, dir: ""))
            case nil: continue
            }
            if PathBytes.name(of: path).first != PathBytes.dot { found.others -= 1 }
        }
        for hidden in hiddenFolders { add(hidden, to: &found) }
        return found
    }

    private func add(_ hidden: HiddenFolder, to found: inout SkippedFiles) {
        let folder = InputFile(bytes: hidden.path, dir: "")
        // What was named itself is no longer hidden.
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

    /// False for a file that has another name alone by which it was found: its folder is mounted twice. (Of a file with
    /// several names of its own each is told.)
    private mutating func isNew(_ file: InputFile) -> Bool {
        guard let identity = FileStamp.onlyName(of: file) else { return true }
        return seenFiles.insert(identity).inserted
    }

    /// Whether a path lies in one of the folders that were named.
    package func holds(_ picture: InputFile) -> Bool {
        folders.contains { Self.holds($0, picture) }
    }

    /// Whether a path lies in a folder.
    package static func holds(_ folder: InputFile, _ file: InputFile) -> Bool {
        let path = folder.exactPath
        return file.exactPath.starts(with: path == [PathBytes.slash] ? [] : path + [PathBytes.slash])
    }
}
