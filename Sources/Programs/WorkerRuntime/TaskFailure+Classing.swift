import Digests
import Filters
import Glibc
import ImageFiles
import Raster
import WorkerProtocol

extension TaskFailure {
    /// The kind of a failure decides whether the picture, the disk, or neither is to blame.
    init(classing error: any Error) {
        self = Self.classify(error)
        if let failure = OuterLimits.failure(of: error, classed: self) {
            self = failure
            return
        }
        // Libraries blame the picture if they cannot get a thread or memory.
        switch kind {
        case .data, .value, .transient, .output, .storage:
            // Threads that were missing a moment ago may be there again.
            if message.contains(Self.noThread) {
                self.init(.resourceLimit, "\(ResourceLimitError(noThread: EAGAIN, "render"))")
            } else if let shortage = ResourceLimitError.found(threads: Self.threads, for: "render") {
                self.init(.resourceLimit, "\(shortage)")
            }
        case .resourceLimit, .plugin, .input, .permission, .limit, .damagedTile, .damagedCanvas, .mismatch: break
        }
    }

    /// The number of threads that rendering a picture may need at once: chain, outputs, decoder and encoder.
    static let threads = 8

    /// How GLib says that a library has got no thread.
    private static let noThread = "Error creating thread: "

    private static func classify(_ error: any Error) -> TaskFailure {
        if let shortage = error.systemCode.flatMap(ResourceLimitError.init(ofFile:)) {
            return TaskFailure(.resourceLimit, "\(shortage)")
        }
        return switch error {
        case let failure as TaskFailure: failure
        case let shortage as ResourceLimitError: TaskFailure(.resourceLimit, "\(shortage)")
        case let error as ImageFileError: TaskFailure(kind(of: error), "\(error)")
        case let error as FilterError: TaskFailure(kind(of: error), "\(error)")
        case let error as CanvasError: TaskFailure(kind(of: error), "\(error)")
        case let error as DigestFileError: TaskFailure(.transient, "\(error)")
        default: TaskFailure(.transient, "\(error)")
        }
    }

    private static func kind(of error: FilterError) -> Kind {
        if case .fault = error.problem { .plugin(error.filter) } else { .value }
    }

    private static func kind(of error: ImageFileError) -> Kind {
        switch error.kind {
        case .storage: .storage
        case .process: .transient
        case .limit: .limit
        case .data: .data
        case .value: .value
        case .missing, .unreadable: .input
        case .permission: .permission
        }
    }

    private static func kind(of error: CanvasError) -> Kind {
        switch error.problem {
        case .wrongSize: .damagedCanvas
        case .system(.open, _), .system(.read, _): .damagedCanvas
        case .system(_, let code): [ENOSPC, EDQUOT, EROFS, EIO, EFBIG].contains(code) ? .storage : .transient
        }
    }
}

extension Error {
    /// The system call's error number, as in `errno.h`. Nil for errors of other kinds.
    var systemCode: Int32? {
        switch self {
        case let error as ImageFileError: if case .system(_, let code) = error.problem { code } else { nil }
        case let error as CanvasError: if case .system(_, let code) = error.problem { code } else { nil }
        case let error as DigestFileError: error.code
        default: nil
        }
    }
}

extension Error {
    /// What a library, or a part without error numbers, says of the cause. Contains no path. Empty if it says nothing.
    var words: String {
        switch self {
        case let error as ImageFileError:
            switch error.problem {
            case .brokenHeader(_, let detail), .broken(_, _, _, let detail), .encoder(_, let detail): detail
            default: ""
            }
        case is CanvasError, is DigestFileError, is TaskFailure: ""
        default: "\(self)"
        }
    }
}

extension ResourceLimitError {
    /// - Parameter code: The error of a call that opens or maps a file. A later check finds nothing missing, because the
    ///   failed call has closed its files by then.
    init?(ofFile code: Int32) {
        guard [EMFILE, ENFILE, ENOMEM].contains(code) else { return nil }
        self.init(code: code, "render")
    }
}
