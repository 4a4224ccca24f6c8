package import Catalogs
import Glibc
import JobModel

/// The pictures that a command line names, for commands that work on them where they lie.
package struct PictureSearch {
    /// Real paths, each once: first those that were named, in their order, then those of folders. What was named may not be
    /// there.
    package private(set) var pictures: [(file: InputFile, isNamed: Bool)] = []
    /// Real paths of the folders that were named.
    package private(set) var folders: [InputFile] = []
    /// How many other files the folders hold, hidden ones not counted.
    package private(set) var others = 0
    /// Of folders that could not be read.
    package private(set) var problems: [String] = []
    /// Links in the folders whose names are those of pictures, and that lead to none of ``pictures``: what they show stays
    /// as it is.
    package private(set) var links: [InputFile] = []
    private var seen: Set<[UInt8]> = []
    /// By device and inode: one folder may be mounted at two places.
    private var seenFiles: Set<FileStamp.Identity> = []
    private var foundLinks: [[UInt8]] = []

    /// Names of pictures that no format is called by: the kinds of portable maps that Penumbra reads.
    private static let furtherExtensions = ["pgm", "pbm", "pfm"]

    /// - Parameters:
    ///   - paths: as the file system has them.
    ///   - folder: what relative ones start from; absolute.
    ///   - catalog: what makes files of folders pictures.
    package init(_ paths: [[UInt8]], in folder: String, catalog: Catalog) {
        let names = catalog.readableExtensions.union(Self.furtherExtensions)
        let extensions = Set(names.map { PathBytes.lowercased($0.utf8) })
        for path in paths {
            let real = Self.realPath(PathBytes.normalized(path, in: Array(folder.utf8)))
            let file = InputFile(bytes: real, dir: "")
            if FileKind(of: file) == .folder {
                folders.append(file)
            } else if seen.insert(real).inserted, isNew(file) {
                pictures.append((file, true))
            }
        }
        for folder in folders { search(folder.exactPath, extensions) }
        links = foundLinks.filter { !seen.contains(Self.realPath($0)) }.map { InputFile(bytes: $0, dir: "") }
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

    /// Links in folders are not followed: what they lead to may be anywhere.
    private mutating func search(_ folder: [UInt8], _ extensions: Set<[UInt8]>) {
        let entries: [DirectoryListing.Entry]
        do {
            entries = try DirectoryListing.entries(of: folder)
        } catch {
            problems.append(error.message)
            return
        }
        for entry in entries where entry.name.first != PathBytes.dot {
            let path = PathBytes.joined(folder, entry.name)
            let isPicture = extensions.contains(PathBytes.lowercased(PathBytes.fileExtension(of: entry.name[...])))
            if entry.isSymbolicLink, entry.kind == .file, isPicture {
                foundLinks.append(path)
            } else if entry.isSymbolicLink || entry.kind == .other {
                others += 1
            } else if entry.kind == .folder {
                search(path, extensions)
            } else if !isPicture {
                others += 1
            } else if seen.insert(path).inserted {
                let file = InputFile(bytes: path, dir: "")
                if isNew(file) { pictures.append((file, false)) }
            }
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
        folders.contains {
            picture.exactPath.starts(with: $0.exactPath == [PathBytes.slash] ? [] : $0.exactPath + [PathBytes.slash])
        }
    }
}
