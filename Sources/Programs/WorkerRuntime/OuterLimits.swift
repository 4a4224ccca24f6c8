import Glibc
import WorkerProtocol

/// The limits that the coordinator has set for this process during its task, see `TaskLimits`. A picture that reaches one is to
/// blame for it, not the machine.
enum OuterLimits {
    /// The soft limits before the first order. They are the user's or the system's.
    private static let first = (memory: soft(RLIMIT_DATA), fileSize: soft(RLIMIT_FSIZE))

    /// Notes the present limits. Must be called before the first order.
    static func record() { _ = first }

    /// In bytes. Nil if the coordinator has set no limit, or if the process began with the same one.
    private static var memory: Int? { current(RLIMIT_DATA, unless: first.memory) }
    private static var fileSize: Int? { current(RLIMIT_FSIZE, unless: first.fileSize) }

    private static func current(_ resource: __rlimit_resource, unless before: rlim_t) -> Int? {
        let now = soft(resource)
        return now == before || now >= rlim_t(Int.max) ? nil : Int(now)
    }

    private static func soft(_ resource: __rlimit_resource) -> rlim_t {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 else { return rlim_t.max }
        return limit.rlim_cur
    }

    /// The failure of a task that has reached a limit. Nil if none is reached, as far as can be known.
    ///
    /// - Parameter failure: what the error means without such limits.
    static func failure(of error: any Error, classed failure: TaskFailure) -> TaskFailure? {
        switch failure.kind {
        case .data, .value, .output, .storage, .resourceLimit, .transient, .damagedCanvas: break
        // Some were judged when they happened, in a part of the task. Others have another cause.
        case .plugin, .input, .permission, .limit, .damagedTile, .mismatch: return nil
        }
        let code = error.systemCode
        // Without the remedy, which is another one here.
        let message = failure.message.prefix { $0 != "\n" }
        if code == EFBIG, let fileSize {
            return TaskFailure(
                .limit,
                "\(message); no file of this task may grow beyond \(fileSize >> 20) MB, which is more than four times its "
                    + "pixels; look at the picture; if it is sound, report this, and set 'sandbox: off' until it is corrected"
            )
        }
        guard let memory, code == ENOMEM || namesMemory(error.words) || isUsedUp(memory), !isScarceOtherwise else {
            return nil
        }
        return TaskFailure(
            .limit,
            "\(message); the sandbox allows a worker \(memory >> 20) MB of memory for this task; look at the picture; if it "
                + "is sound, raise 'memory', or give fewer --workers")
    }

    /// Libraries report a shortage only in words. The last ones are Penumbra's own.
    private static func namesMemory(_ words: String) -> Bool {
        ["out of memory", "failed to allocate", "no memory"].contains { words.contains($0) }
    }

    /// Many small pieces may have used up the memory, so that a library got no thread.
    private static func isUsedUp(_ memory: Int) -> Bool {
        guard let pages = dataPages() else { return false }
        return pages * Int(getpagesize()) > memory - reserve
    }

    /// In bytes: the stacks of some threads.
    private static let reserve = 64 << 20

    /// The sixth number of `/proc/self/statm`.
    private static func dataPages() -> Int? {
        let words = text(of: "/proc/self/statm").split(separator: " ")
        return words.count > 5 ? Int(words[5]) : nil
    }

    /// Whether the system may refuse memory below the limit: it has a limit for addresses, or grants no more than it has.
    private static var isScarceOtherwise: Bool {
        soft(RLIMIT_AS) < rlim_t(Int.max) || text(of: "/proc/sys/vm/overcommit_memory").hasPrefix("2")
    }

    /// Empty if the file cannot be read.
    private static func text(of path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
