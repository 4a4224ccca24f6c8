import Coordination
import Runs
import Scheduling
import Synchronization

/// A prepared job with what keeps others away from it.
package final class StartedJob {
    private(set) var prepared: PreparedJob
    let directory: RunClaim
    /// Nil for jobs without a manifest, of which several may run.
    let lock: JobLock?
    let ledger: Ledger?
    /// Nil where the manifest asks for none.
    let index: IndexFile?
    private let isRun = Mutex(false)
    private let handedOver = Mutex(false)

    init(prepared: PreparedJob, directory: RunClaim, lock: JobLock?, ledger: Ledger?, index: IndexFile?) {
        self.prepared = prepared
        self.directory = directory
        self.lock = lock
        self.ledger = ledger
        self.index = index
    }

    /// Frames that fail before the run, and why.
    func fail(_ problems: [FrameID: String]) { prepared.fail(problems) }

    /// Its work was begun, and is over or stopped when the command ends.
    var hasRun: Bool { isRun.withLock { $0 } }

    /// Another coordinator goes on with it.
    var isHandedOver: Bool { handedOver.withLock { $0 } }

    func isToGoOn() { handedOver.withLock { $0 = true } }

    func beginsToRun() { isRun.withLock { $0 = true } }
}
