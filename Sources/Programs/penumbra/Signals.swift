import Coordination
import Dispatch
import Glibc
import JobModel
import Scheduling
import Synchronization
import WorkerProtocol

/// Turns SIGINT, SIGTERM and SIGHUP into stops of a ``RunControl``.
///
/// A thread of its own receives them. It starts first, because later the process may be unable to start a thread. If
/// nothing else runs after a signal, because threads are missing, the process exits.
final class Signals: Sendable {
    /// The signals of all runs in this process, one after the other. A signal ends all of them.
    static let ofRuns = Signals()

    /// Each signal stops this control.
    let control = RunControl()

    /// If a process has several instances, a signal reaches only the latest one.
    init() { SignalThread.deliver(to: control) }

    /// The first signal; nil for none.
    var first: Int32? { if case .interrupted(let signal) = control.stop { signal } else { nil } }

    /// The control that signals stop; nil as long as they end the process.
    static var current: RunControl? { SignalThread.current }
}

/// The thread that receives signals.
private enum SignalThread {
    /// How long after a signal the process may have no running thread, in seconds.
    private static let timeout: UInt32 = 10

    private static let control = Mutex<RunControl?>(nil)

    /// Both ends of a pipe. Signal handlers may use nothing else.
    private struct Pipe: Sendable {
        let readEnd: Int32
        let writeEnd: Int32
    }

    /// Nil if no thread or pipe is available. Then signals end the process at once, and workers exit when
    /// they see the end of their input.
    private static let pipeEnds: Pipe? = {
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
        return Pipe(readEnd: reads, writeEnd: writes)
    }()

    static var current: RunControl? { control.withLock { $0 } }

    static func deliver(to listener: RunControl) {
        control.withLock { $0 = listener }
        guard pipeEnds != nil else { return }
        for number in [SIGINT, SIGTERM, SIGHUP] { handle(number) { SignalThread.pass($0) } }
        handle(SIGALRM) { _ in SignalThread.exitNow() }
    }

    private static func handle(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = handler
        action.sa_flags = SA_RESTART
        sigaction(number, &action, nil)
    }

    /// Runs in a signal handler.
    private static func pass(_ number: Int32) {
        guard let pipeEnds else { return }
        let code = errno
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(pipeEnds.writeEnd, &byte, 1)
        errno = code
    }

    private static let lastSignal = Atomic<Int32>(SIGTERM)

    /// Runs in a signal handler.
    private static func exitNow() { _exit(128 + lastSignal.load(ordering: .relaxed)) }

    private static func listen() {
        guard let pipeEnds else { return }
        var byte: UInt8 = 0
        var repeats = SignalRepeats()
        while true {
            let count = read(pipeEnds.readEnd, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return }
            if !repeats.isRepeat(Int32(byte), at: .now) { receive(Int32(byte)) }
        }
    }

    private static func receive(_ number: Int32) {
        lastSignal.store(number, ordering: .relaxed)
        alarm(timeout)
        let count = control.withLock { $0 }?.stop(.interrupted(signal: number)) ?? 0
        // The third signal ends the process at once. Workers see the end of their input and exit. The next run removes what
        // they were writing.
        if count >= 3 { _exit(128 + number) }
        // If work runs, the listener of the control runs, too.
        StarvationWatch.whenWorkRuns { alarm(0) }
    }
}

/// Ends this process if nothing runs any more because threads are missing. The runtime would wait for them forever.
///
/// Its two threads start first, because later the process may be unable to start a thread. Workers see the end of their input
/// and exit, and the next run continues the work.
enum StarvationWatch {
    /// The time between checks, in seconds.
    private static let interval: UInt32 = 3
    /// The number of failed checks in a row before the process ends.
    private static let mostFailedChecks = 4

    /// Counts the times that work has run.
    private static let beats = Atomic(0)

    static func start() {
        let starts: [@convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?] = [
            { _ in StarvationWatch.beat() }, { _ in StarvationWatch.watch() },
        ]
        for start in starts {
            var thread = pthread_t()
            // A process without this watch works as long as there are threads.
            if pthread_create(&thread, nil, start, nil) == 0 { pthread_detach(thread) }
        }
    }

    private static let queue = DispatchQueue(label: "penumbra.liveness")

    /// Calls `body` after a timer, a queue and a task have run. Each of them needs threads of its own.
    static func whenWorkRuns(_ body: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: .now() + .milliseconds(1)) {
            // Nothing waits for the task. It only has to run.
            Task { body() }
        }
    }

    /// To start a task may block forever, so a thread of its own does it.
    private static func beat() -> Never {
        while true {
            whenWorkRuns { beats.add(1, ordering: .relaxed) }
            sleep(interval)
        }
    }

    private static func watch() -> Never {
        var (last, failedChecks) = (-1, 0)
        while true {
            sleep(interval)
            let now = beats.load(ordering: .relaxed)
            let shortage = now == last ? ResourceLimitError.found(for: "continue") : nil
            failedChecks = shortage == nil ? 0 : failedChecks + 1
            last = now
            guard let shortage, failedChecks >= mostFailedChecks else { continue }
            Console.complain("\(shortage)")
            _exit(RunOutcome.unavailable.rawValue)
        }
    }
}
