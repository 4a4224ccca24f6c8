import Glibc

extension ImageFileError {
    package var kind: Kind {
        switch problem {
        case .missing: .missing
        case .permission: .permission
        case .tooManyPixels, .tooLarge, .slowDrawing, .costlyDrawing: .limit
        case .system(_, let code) where [EMFILE, ENFILE, ENOMEM, EBADF].contains(code): .process
        // What is read are pictures that are given. One of them says nothing of the others, or of where outputs are written.
        case .system(.open, _), .system(.read, _): .unreadable
        case .system(.turn, _): .place
        case .system(.create, ENOENT), .system(.create, ENOTDIR): .missing
        case .system(_, let code): Self.isOfThePlace(code) ? .place : .data
        case .unsuitable, .option: .value
        case .notAFile, .empty, .notAnImage, .brokenHeader, .broken, .noDecoder, .unsupported, .encoder, .library:
            .data
        }
    }

    /// The error for an input that could not be opened, as in `errno.h`.
    package init(path: String, opening code: Int32) { self.init(path: path, .open, errno: code) }

    /// The error for an input that could not be read to its end.
    package init(path: String, reading code: Int32) { self.init(path: path, .read, errno: code) }

    /// The error for a system call that failed with `code`.
    init(path: String, _ action: Action, errno code: Int32) {
        switch (code, action) {
        case (ENOENT, .open), (ENOTDIR, .open): self.init(path: path, .missing)
        case (EISDIR, _): self.init(path: path, .notAFile)
        case (EACCES, _), (EPERM, _): self.init(path: path, .permission(action))
        default: self.init(path: path, .system(action, errno: code))
        }
    }

    /// EFBIG is the limit on file sizes of the file system or of the process.
    private static func isOfThePlace(_ code: Int32) -> Bool {
        [ENOSPC, EDQUOT, EROFS, EIO, EFBIG, ESTALE].contains(code)
    }
}
