import Digests
import Filters
import Glibc
import ImageFiles
import Raster
import WorkerProtocol

extension TaskFailure {
    /// The class of a failure decides whether the picture, the place, or neither is to blame.
    init(classing error: any Error) {
        self = Self.plainly(error)
        // Libraries take a thread or memory that they cannot have for a fault of the picture.
        switch kind {
        case .data, .value, .transient, .output, .place:
            if let shortage = Shortage.found(threads: Self.threads, for: "render") {
                self.init(.machine, "\(shortage)")
            }
        case .machine, .plugin, .input, .permission, .limit, .damagedTile, .damagedCanvas, .mismatch: break
        }
    }

    /// What rendering a picture may take at the same time: those of a chain, of outputs, of the decoder and of the encoder.
    static let threads = 8

    private static func plainly(_ error: any Error) -> TaskFailure {
        if let shortage = error.systemCode.flatMap(Shortage.init(ofFile:)) {
            return TaskFailure(.machine, "\(shortage)")
        }
        return switch error {
        case let failure as TaskFailure: failure
        case let shortage as Shortage: TaskFailure(.machine, "\(shortage)")
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
        case .place: .place
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
        case .system(_, let code): [ENOSPC, EDQUOT, EROFS, EIO, EFBIG].contains(code) ? .place : .transient
        }
    }
}

extension Error {
    /// What a call of the operating system answered, as in `errno.h`; nil for errors of other kinds.
    var systemCode: Int32? {
        switch self {
        case let error as ImageFileError: if case .system(_, let code) = error.problem { code } else { nil }
        case let error as CanvasError: if case .system(_, let code) = error.problem { code } else { nil }
        case let error as DigestFileError: error.code
        default: nil
        }
    }
}

extension Shortage {
    /// - Parameter code: of a call that opens or maps a file. When one looks afterwards, whatever failed has closed its files
    ///   again, and nothing is missing any more.
    init?(ofFile code: Int32) {
        guard [EMFILE, ENFILE, ENOMEM].contains(code) else { return nil }
        self.init(code: code, "render")
    }
}
