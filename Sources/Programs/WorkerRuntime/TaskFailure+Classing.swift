import Digests
import Filters
import Glibc
import ImageFiles
import Raster
import WorkerProtocol

extension TaskFailure {
    /// The class of a failure decides whether the picture, the place, or neither is to blame.
    init(classing error: any Error) {
        switch error {
        case let failure as TaskFailure: self = failure
        case let error as ImageFileError: self.init(Self.kind(of: error), "\(error)")
        case let error as FilterError: self.init(Self.kind(of: error), "\(error)")
        case let error as CanvasError: self.init(Self.kind(of: error), "\(error)")
        case let error as DigestFileError: self.init(.transient, "\(error)")
        default: self.init(.transient, "\(error)")
        }
    }

    private static func kind(of error: FilterError) -> Kind {
        if case .fault = error.problem { .plugin(error.filter) } else { .value }
    }

    private static func kind(of error: ImageFileError) -> Kind {
        switch error.kind {
        case .place: .place
        case .limit: .limit
        case .data: .data
        case .value: .value
        case .missing: .input
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
