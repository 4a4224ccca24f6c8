import Glibc
import SafeFiles
import Synchronization

/// A file system of which one call fails.
final class FailingCalls: Sendable {
    enum Failure: Sendable, CustomStringConvertible {
        /// Nothing is done.
        case undone(Int32)
        /// It is done, and the answer is an error all the same: as over a network.
        case done(Int32)
        /// Nothing is done, and nothing works from then on.
        case rest(Int32)

        var description: String {
            switch self {
            case .undone(let code): "fails with \(String(cString: strerror(code)))"
            case .done(let code): "is done, and fails with \(String(cString: strerror(code)))"
            case .rest(let code): "and all after it fail with \(String(cString: strerror(code)))"
            }
        }
    }

    private struct State {
        var made: [String] = []
    }

    private let index: Int
    private let failure: Failure
    /// The file system knows no renaming with flags.
    private let isOld: Bool
    private let state = Mutex(State())

    /// - Parameter index: of the call that fails, from 0; nil for none.
    init(at index: Int?, _ failure: Failure = .undone(EIO), isOld: Bool = false) {
        self.index = index ?? .max
        self.failure = failure
        self.isOld = isOld
    }

    /// The names of the calls so far.
    var made: [String] { state.withLock { $0.made } }

    var calls: FileCalls {
        var calls = FileCalls.kernel
        let kernel = calls
        calls.open = { folder, name, flags, mode in
            self.call("open") {
                kernel.open(folder, name, flags, mode)
            } undo: {
                if $0 >= 0 { close($0) }
            }
        }
        calls.write = { file, bytes, count in self.call("write") { kernel.write(file, bytes, count) } }
        calls.sync = { file in self.call("fsync") { kernel.sync(file) } }
        calls.syncData = { file in self.call("fdatasync") { kernel.syncData(file) } }
        calls.syncFileSystem = { file in self.call("syncfs") { kernel.syncFileSystem(file) } }
        calls.rename = { folder, name, target, other, flags in
            guard !self.isOld || flags == 0 else {
                errno = EINVAL
                return -1
            }
            return self.call("rename") { kernel.rename(folder, name, target, other, flags) }
        }
        calls.link = { folder, name, target, other in
            self.call("link") { kernel.link(folder, name, target, other) }
        }
        return calls
    }

    private func call<Answer: SignedInteger>(
        _ name: String, _ body: () -> Answer, undo: (Answer) -> Void = { _ in }
    ) -> Answer {
        let number = state.withLock { state in
            state.made.append(name)
            return state.made.count - 1
        }
        switch failure {
        case .undone(let code) where number == index, .rest(let code) where number >= index:
            errno = code
            return -1
        case .done(let code) where number == index:
            undo(body())
            errno = code
            return -1
        case .undone, .done, .rest: return body()
        }
    }
}
