import Coordination
import Dispatch
import Glibc
import JobModel
import Scheduling
import Synchronization
import WorkerProtocol

/// SIGINT, SIGTERM and SIGHUP as streams, instead of an end of the process.
///
/// A thread of their own hears them: it is there before anything else can take the last thread that this process may have. Where
/// nothing else runs any more, for want of threads, the process ends itself.
final class Signals: Sendable {
    /// For runs, of which a process may have several, one after the other: what ends one ends all.
    static let ofRuns = Signals()

    /// Each signal stops what has it.
    let control = RunControl()

    /// If a process has several, a signal reaches the latest one alone.
    init() { SignalThread.tell(control) }

    /// The first signal; nil for none.
    var first: Int32? { if case .interrupted(let signal) = control.stop { signal } else { nil } }

    /// What signals stop now; nil as long as they end the process.
    static var current: RunControl? { SignalThread.current }
}

/// The thread that hears signals.
private enum SignalThread {
    /// How long a process that was asked to end may have no thread that could do so, in seconds.
    private static let patience: UInt32 = 10

    private static let control = Mutex<RunControl?>(nil)

    /// Both ends of a pipe, and what the process would end with if nothing else ended it. Handlers may touch nothing more.
    private struct Wires: Sendable {
        let reads: Int32
        let writes: Int32
    }

    /// Nil where no thread or pipe can be had: signals end the process at once then, as they end any other, and workers leave when
    /// they see the end of their input.
    private static let wires: Wires? = {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        let (reads, writes) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { _ in
                SignalThread.listen()
                return nil
            }, nil)
        guard code == 0 else {
            close(reads)
            close(writes)
            return nil
        }
        pthread_detach(thread)
        return Wires(reads: reads, writes: writes)
    }()

    static var current: RunControl? { control.withLock { $0 } }

    static func tell(_ listener: RunControl) {
        control.withLock { $0 = listener }
        guard wires != nil else { return }
        for number in [SIGINT, SIGTERM, SIGHUP] { handle(number) { SignalThread.pass($0) } }
        handle(SIGALRM) { _ in SignalThread.giveUp() }
    }

    private static func handle(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = handler
        action.sa_flags = SA_RESTART
        sigaction(number, &action, nil)
    }

    /// In a signal's handler.
    private static func pass(_ number: Int32) {
        guard let wires else { return }
        let code = errno
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(wires.writes, &byte, 1)
        errno = code
    }

    private static let asked = Atomic<Int32>(SIGTERM)

    /// In a signal's handler.
    private static func giveUp() { _exit(128 + asked.load(ordering: .relaxed)) }

    private static func listen() {
        guard let wires else { return }
        var byte: UInt8 = 0
        while true {
            let count = read(wires.reads, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return }
            receive(Int32(byte))
        }
    }

    private static func receive(_ number: Int32) {
        asked.store(number, ordering: .relaxed)
        alarm(patience)
        let count = control.withLock { $0 }?.stop(.interrupted(signal: number)) ?? 0
        // Who asks three times is not made to wait: workers see the end of their input and leave, and what they were
        // writing is removed by the next run.
        if count >= 3 { _exit(128 + number) }
        // Whoever listens runs, too, then.
        StarvationWatch.whenWorkRuns { alarm(0) }
    }
}

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
            let shortage = now == last ? Shortage.found(for: "go on") : nil
            looks = shortage == nil ? 0 : looks + 1
            last = now
            guard let shortage, looks >= patience else { continue }
            Console.complain("\(shortage)")
            _exit(RunOutcome.unavailable.rawValue)
        }
    }
}
