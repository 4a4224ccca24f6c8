import Dispatch
import Foundation
import Glibc
import Synchronization

/// Ctrl-C and SIGTERM end the harness and all that it started.
struct Interruptions {
    /// After that nothing is judged any more.
    private static let began = Atomic(false)

    static var hasBegun: Bool { began.load(ordering: .relaxed) }

    private let sources: [any DispatchSourceSignal]

    /// - Parameter folder: of all workspaces.
    init(folder: String) {
        sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                Self.began.store(true, ordering: .relaxed)
                ProcessTable(home: folder, isParent: true).killAll()
                _exit(128 + number)
            }
            source.resume()
            return source
        }
    }
}
