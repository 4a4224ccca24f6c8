import Glibc

/// The reason why an image file could not be read or written.
package struct ImageFileError: Error, Hashable, Sendable {
    /// The operation that the system refused.
    package enum Action: String, Hashable, Sendable {
        case open = "opened"
        case read
        case create = "created"
        case write = "written"
        /// A picture that must be rotated upright is held completely, in a scratch file if it is large.
        case turn = "held whole to turn it upright"
    }

    package enum Problem: Hashable, Sendable {
        case missing
        case notAFile
        case permission(Action)
        case empty
        /// The content has no known format, whatever the name suggests.
        case notAnImage
        case tooManyPixels(width: Int, height: Int, limit: Int)
        case brokenHeader(format: String, detail: String)
        /// Decoding stopped after `rows` of `height` rows.
        case broken(format: String, rows: Int, height: Int, detail: String)
        /// This machine's libvips does not support the format.
        case noDecoder(format: String)
        /// This machine has no ffmpeg for a clip.
        case noVideoProgram(format: String, remedy: String)
        /// The processes that decode a clip were ended from outside.
        case interrupted(format: String)
        /// An intact picture has a feature that Penumbra does not support.
        case unsupported(format: String, feature: String, remedy: String? = nil)
        /// An intact picture that other filters of the manifest would make readable.
        case needsOtherFilters(format: String, feature: String, remedy: String)
        /// Drawing the picture takes more than `seconds` of processor time.
        case slowDrawing(format: String, seconds: Int)
        /// According to its text, drawing the picture would clearly take longer than `seconds`.
        case costlyDrawing(format: String, work: String, seconds: Int)
        /// The output is larger than its format allows.
        case tooLarge(format: String, width: Int, height: Int, largestSide: Int)
        /// The output cannot be stored with these save options.
        case unsuitable(format: String, reason: String)
        /// A save option has an invalid value.
        case option(format: String, name: String)
        case encoder(format: String, detail: String)
        case system(Action, errno: Int32)
        case library(String)
    }

    /// The cause of the failure, which determines the reaction (invariant 7 of the design).
    package enum Kind: String, Hashable, Sendable {
        /// The picture. Another attempt cannot succeed.
        case data
        /// A save option that is not valid for the picture.
        case value
        /// A limit in a setting.
        case limit
        /// The disk or the file system: full, read-only, over quota, failing.
        case storage
        /// This process: it cannot open more files, has no more memory, or foreign code closed the file.
        case process
        case missing
        /// The disk or the server of an input does not return the file. Another attempt may succeed.
        case unreadable
        case permission
    }

    package let path: String
    package let problem: Problem

    package init(path: String, _ problem: Problem) {
        self.path = path
        self.problem = problem
    }
}

extension ImageFileError {
    package var kind: Kind {
        switch problem {
        case .missing: .missing
        case .permission: .permission
        case .tooManyPixels, .tooLarge, .slowDrawing, .costlyDrawing: .limit
        case .noVideoProgram: .unreadable
        case .interrupted: .process
        case .system(_, let code) where [EMFILE, ENFILE, ENOMEM, EBADF].contains(code): .process
        // Only inputs are opened and read. An unreadable input is independent of other inputs and of the outputs' disk.
        case .system(.open, _), .system(.read, _): .unreadable
        case .system(.turn, _): .storage
        case .system(.create, ENOENT), .system(.create, ENOTDIR): .missing
        case .system(_, let code): Self.isOfStorage(code) ? .storage : .data
        case .unsuitable, .option, .needsOtherFilters: .value
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

    /// EFBIG is a limit for the size of files, set by the file system or for the process.
    private static func isOfStorage(_ code: Int32) -> Bool {
        [ENOSPC, EDQUOT, EROFS, EIO, EFBIG, ESTALE].contains(code)
    }
}

extension ImageFileError: CustomStringConvertible {
    /// One sentence: the file, the reason, and the setting that limits it, if there is one.
    package var description: String { path.isEmpty ? reason : "\(path): \(reason)" }

    private var reason: String {
        switch problem {
        case .missing: "no such file"
        case .notAFile: "not a file"
        case .permission(let action): "may not be \(action.rawValue) (permission denied)"
        case .empty: "empty file"
        case .notAnImage: "not a picture that Penumbra reads ('penumbra formats' lists them)"
        case .tooManyPixels(let width, let height, let limit):
            "\(width) × \(height) pixels are more than max_pixels: \(Self.short(limit)); "
                + "raise it if the picture is meant"
        case .brokenHeader(let format, let detail): "broken \(format): \(detail)"
        case .broken(let format, let rows, let height, let detail):
            "broken \(format): only \(Self.grouped(rows)) of \(Self.grouped(height)) rows could be read (\(detail))"
        case .noDecoder(let format): "\(format), which the libvips of this machine cannot read"
        case .noVideoProgram(let format, let remedy): "\(format), which ffmpeg decodes; \(remedy)"
        case .interrupted(let format): "\(format), and the processes that decode it have ended"
        case .unsupported(let format, let feature, let remedy):
            "\(format) with \(feature), which Penumbra does not read" + (remedy.map { "; \($0)" } ?? "")
        case .needsOtherFilters(let format, let feature, let remedy):
            "\(format) with \(feature), which these filters do not take; \(remedy)"
        case .slowDrawing(let format, let seconds):
            "\(format) that takes more than \(seconds) s of processor time to draw; \(Self.drawingRemedy)"
        case .costlyDrawing(let format, let work, let seconds):
            "\(format) with \(work) (the limit is \(seconds) s); \(Self.drawingRemedy)"
        case .tooLarge(let format, let width, let height, let largestSide):
            "\(width) × \(height) pixels are more than \(format) can hold (\(Self.grouped(largestSide)) on a side)"
        case .unsuitable(let format, let reason): "cannot be written as \(format): \(reason)"
        case .option(let format, let name): "save.\(name) has no such value for \(format)"
        case .encoder(let format, let detail): "cannot be written as \(format): \(detail)"
        case .system(let action, let errno): "cannot be \(action.rawValue): \(Self.words(for: errno))"
        case .library(let detail): "libvips does not start: \(detail)"
        }
    }

    private static let drawingRemedy =
        "simplify it, draw it to a PNG first, or set \(DrawingTime.variable) to more seconds"

    /// A number such as `3,000`.
    static func grouped(_ number: Int) -> String {
        let digits = Array(String(number.magnitude))
        let groups = stride(from: digits.count, to: 0, by: -3).reversed().map { String(digits[max(0, $0 - 3)..<$0]) }
        return (number < 0 ? "-" : "") + groups.joined(separator: ",")
    }

    /// A number as in a manifest, such as `2000M`.
    private static func short(_ number: Int) -> String {
        number > 0 && number % 1_000_000 == 0 ? "\(number / 1_000_000)M" : "\(number)"
    }

    private static func words(for code: Int32) -> String {
        guard let text = strerror(code) else { return "error \(code)" }
        return String(cString: text).lowercased()
    }
}
