import Dispatch
import Glibc
import JobModel
import Synchronization
import WorkerProtocol

/// Ends this process when nothing runs in it any more for want of threads: what hands out work then waits for ever.
///
/// Its two threads start before anything else can take the last ones that this process may have. Workers see the end of their input
/// and leave, and the next run goes on with the work.
enum StarvationWatch {
    /// How often is looked, in seconds.
    private static let interval: UInt32 = 3
    /// So many looks in vain, one after the other, and no new thread at any of them.
    private static let patience = 4

    /// How often work was seen to run.
    private static let beats = Atomic(0)

    static func start() {
        let starts: [@convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?] = [
            { _ in StarvationWatch.beat() }, { _ in StarvationWatch.watch() },
        ]
        for start in starts {
            var thread = pthread_t()
            // Without this watch a process works as well, as long as there are threads.
            if pthread_create(&thread, nil, start, nil) == 0 { pthread_detach(thread) }
        }
    }

    private static let queue = DispatchQueue(label: "penumbra.liveness")

    /// Calls `body` once time, queues and tasks have all gone on. Each of them has threads of its own that may be missing.
    static func whenWorkRuns(_ body: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: .now() + .milliseconds(1)) {
            // Nobody waits for it: that it runs is all that is wanted.
            Task { body() }
        }
    }

    /// Asking for a task may itself wait for ever, and so is done by a thread of its own.
    private static func beat() -> Never {
        while true {
            whenWorkRuns { beats.add(1, ordering: .relaxed) }
            sleep(interval)
        }
    }

    private static func watch() -> Never {
        var (last, looks) = (-1, 0)
        while true {
            sleep(interval)
            let now = beats.load(ordering: .relaxed)
            let shortage = now == last ? ResourceLimitError.found(for: "go on") : nil
            looks = shortage == nil ? 0 : looks + 1
            last = now
            guard let shortage, looks >= patience else { continue }
            Console.complain("\(shortage)")
            _exit(RunOutcome.unavailable.rawValue)
        }
    }
}
