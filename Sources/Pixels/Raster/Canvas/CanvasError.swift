import Glibc

/// A canvas file that could not be made, read or written.
public struct CanvasError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Problem: Hashable, Sendable {
        /// The system refused; `code` is as in `errno.h`.
        case system(Step, code: Int32)
        /// The file has fewer or more bytes than the picture.
        case wrongSize(bytes: Int, expected: Int)
    }

    public enum Step: String, Hashable, Sendable {
        case create
        case allocate
        case open
        case read
        case write
        case flush
    }

    public let path: String
    public let problem: Problem

    public init(path: String, problem: Problem) {
        self.path = path
        self.problem = problem
    }

    public var description: String {
        switch problem {
        case .system(let step, let code):
            "cannot \(step.rawValue) the canvas \(path): \(String(cString: strerror(code)))"
        case .wrongSize(let bytes, let expected):
            "the canvas \(path) has \(bytes) bytes, but its picture has \(expected)"
        }
    }
}
