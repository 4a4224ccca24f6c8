import CCrashRecord
import Glibc
import Synchronization
import WorkerProtocol

/// The pipes to the coordinator, out of reach of everybody else in this process.
///
/// What a plugin or a decoder prints must not get between the messages, so the pipe gets a descriptor of its own and
/// descriptor 1 is pointed at standard error; in the same way descriptor 0 becomes empty.
final class Channel: Sendable {
    private let input: Int32
    /// Whoever sends holds the pipe until the whole message is in it: heartbeats come from a thread of their own.
    private let output: Mutex<Int32>

    struct Closed: Error {}

    init() {
        input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
        output = Mutex(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3))
        dup2(STDERR_FILENO, STDOUT_FILENO)
        let nothing = open("/dev/null", O_RDONLY)
        dup2(nothing, STDIN_FILENO)
        close(nothing)
        ProcessState.watch([input, output.withLock { $0 }])
    }

    /// From now on, threads that crash say so with their ``CrashMessage``.
    func recordCrashes() { output.withLock { crash_record_start($0) } }

    func send(_ report: Report) throws { try send(bytes: FrameCodec.encode(report)) }

    func send(bytes: [UInt8]) throws {
        try output.withLock { output in
            crash_record_lock()
            defer { crash_record_unlock() }
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw Closed() }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Waits for bytes; nil when the coordinator has closed its end.
    func receive() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = buffer.withUnsafeMutableBytes { read(input, $0.baseAddress, $0.count) }
            if count > 0 { return Array(buffer[..<count]) }
            if count == 0 || errno != EINTR { return nil }
        }
    }
}
