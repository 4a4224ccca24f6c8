import Catalogs
import Digests
import Glibc
import JobModel

/// The file of a program that the settings allow.
struct ProgramFile {
    /// Changes with the file.
    let stamp: FileStamp
    let sha256: String

    /// Why a file is not executed.
    struct Refusal: Error {
        /// The end of a sentence about the file.
        let reason: String
    }

    /// Reads the whole file.
    ///
    /// - Parameter known: facts of the same path. If the file is unchanged, it is not read again.
    init(_ path: String, known: ProgramFile? = nil) throws(Refusal) {
        let stamp = try Self.stamp(path)
        if let known, known.stamp == stamp {
            self = known
            return
        }
        guard let sha256 = SHA256.digest(ofFile: path) else {
            throw Refusal(
                reason: access(path, R_OK) == 0
                    ? "it cannot be read" : "this user cannot read it; run chmod +r on it")
        }
        if let interpreter = Self.interpreter(of: path), access(interpreter, X_OK) != 0 {
            let reason = String(cString: strerror(errno))
            throw Refusal(
                reason: "its first line names the interpreter '\(interpreter)', which cannot be executed (\(reason))")
        }
        guard try Self.stamp(path) == stamp else { throw Refusal(reason: "it changed while it was read") }
        (self.stamp, self.sha256) = (stamp, sha256)
    }

    /// - Throws: if nobody should execute the file.
    static func stamp(_ path: String) throws(Refusal) -> FileStamp {
        var found = stat()
        guard stat(path, &found) == 0 else {
            throw Refusal(
                reason: errno == ENOENT || errno == ENOTDIR
                    ? "there is no such file" : "it cannot be opened (\(String(cString: strerror(errno))))")
        }
        guard found.st_mode & S_IFMT == S_IFREG else { throw Refusal(reason: "it is no file") }
        guard access(path, X_OK) == 0 else {
            throw Refusal(reason: "this user may not execute it; run chmod +x on it")
        }
        guard found.st_mode & S_IWOTH == 0 else {
            throw Refusal(reason: "every user may write to it; run chmod o-w on it")
        }
        guard found.st_mode & (S_ISUID | S_ISGID) == 0 else {
            throw Refusal(reason: "it would run as another user; run chmod ug-s on it")
        }
        for path in Set([path, real(path)]) { try refuseReplaceable(path) }
        return FileStamp(found)
    }

    /// The program that executes a script. Nil if the file does not begin with `#!` and an absolute path.
    private static func interpreter(of path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        // The kernel reads so many bytes.
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(file, &bytes, bytes.count)
        guard count > 2, bytes.starts(with: Array("#!".utf8)) else { return nil }
        let line = bytes[2..<count].prefix { $0 != UInt8(ascii: "\n") }
        let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard let first = words.first else { return nil }
        let name = String(decoding: first, as: UTF8.self)
        return PathNames.isAbsolute(name) ? name : nil
    }

    /// The path without links.
    private static func real(_ path: String) -> String {
        guard let found = realpath(path, nil) else { return path }
        defer { free(found) }
        return String(cString: found)
    }

    /// Refuses a path of which other users may exchange a part.
    private static func refuseReplaceable(_ path: String) throws(Refusal) {
        var part = path
        while part != "/" {
            let above = PathNames.folder(of: part) ?? ""
            let parent = above.isEmpty ? "/" : above
            var (entry, folder) = (stat(), stat())
            guard lstat(part, &entry) == 0, stat(parent, &folder) == 0 else {
                throw Refusal(reason: "its folders cannot be looked at (\(String(cString: strerror(errno))))")
            }
            // With the sticky bit, as /tmp has it, only the owner of an entry may exchange it.
            let isKept = folder.st_mode & S_ISVTX != 0 && [0, geteuid()].contains(entry.st_uid)
            guard folder.st_mode & S_IWOTH == 0 || isKept else {
                throw Refusal(reason: "every user may replace it; run chmod o-w on \(parent)")
            }
            part = parent
        }
    }
}

extension AllowedProgram {
    /// Reads the program's file.
    init(_ program: NamedProgram) {
        let file: File
        do throws(ProgramFile.Refusal) {
            file = .usable(sha256: try ProgramFile(program.path).sha256)
        } catch {
            file = .unusable(reason: error.reason)
        }
        self.init(name: program.name, path: program.path, file: file)
    }
}
