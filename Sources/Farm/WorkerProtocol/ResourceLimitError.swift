import Glibc

/// A limit of the operating system that a process has reached: threads, open files or memory.
///
/// No picture is to blame for it, and other pictures could not be rendered either.
package struct ResourceLimitError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Resource: Hashable, Sendable {
        /// Open files of this process.
        case files
        /// Open files of all processes together.
        case filesOfAll
        /// Processes and threads.
        case threads
        case memory
        /// Programs of this user that watch folders.
        case watchers
    }

    package let resource: Resource
    /// The action that failed: `start a thread`.
    package let action: String
    /// The process's own limit. Nil if it has none, and the limit is the machine's or the control group's.
    package let limit: Int?

    package init(_ resource: Resource, _ action: String, limit: Int?) {
        self.resource = resource
        self.action = action
        self.limit = limit
    }

    /// The limit that an error number stands for. Nil if the number does not stand for a limit.
    package init?(code: Int32, _ action: String) {
        switch code {
        case EMFILE: self.init(.files, action, limit: Self.limit(RLIMIT_NOFILE))
        case ENFILE: self.init(.filesOfAll, action, limit: nil)
        case ENOMEM: self.init(.memory, action, limit: Self.limit(RLIMIT_AS))
        // A thread's stack is memory, and the C library reports the same error for both.
        case EAGAIN where !Self.hasRoom(Self.stack): self.init(.memory, action, limit: Self.limit(RLIMIT_AS))
        case EAGAIN: self.init(.threads, action, limit: Self.limit(__RLIMIT_NPROC))
        default: return nil
        }
    }

    package var description: String { "cannot \(action): \(reason)\n   = \(remedy)" }

    private var reason: String {
        switch (resource, limit) {
        case (.files, let limit?): "this process may have no more than \(limit) open files (RLIMIT_NOFILE)"
        case (.files, nil): "this process may have no more open files"
        case (.filesOfAll, _): "the system has as many open files as it may have (fs.file-max)"
        case (.threads, let limit?):
            "this user may have no more than \(limit) processes and threads (RLIMIT_NPROC)"
        case (.threads, nil): "the system or the control group allows no more processes and threads (pids.max)"
        case (.memory, let limit?): "this process may use no more than \(limit >> 20) MB of addresses (RLIMIT_AS)"
        case (.memory, nil): "the system has no memory left"
        case (.watchers, _):
            "this user has as many programs that watch folders as it may have (fs.inotify.max_user_instances)"
        }
    }

    private var remedy: String {
        switch (resource, limit) {
        case (.files, _):
            "raise the limit by 'ulimit -n', or by 'LimitNOFILE=' of a systemd unit; or give fewer --workers"
        case (.filesOfAll, _): "raise the limit by 'sysctl fs.file-max', or end other programs"
        case (.threads, _?):
            "raise the limit by 'ulimit -u', or by 'LimitNPROC=' of a systemd unit; or give fewer --workers"
        case (.threads, nil):
            "raise 'TasksMax=' of the systemd unit, or the limit of the container; or give fewer --workers"
        case (.memory, _?):
            "raise the limit by 'ulimit -v', or by 'LimitAS=' of a systemd unit"
        case (.memory, nil): "end other programs, or give fewer --workers"
        case (.watchers, _):
            "raise the limit by 'sysctl fs.inotify.max_user_instances', or end other programs that watch folders"
        }
    }
}

extension ResourceLimitError {
    /// The stack that the kernel gives a new thread, and a reserve.
    private static let stack = 8 << 20

    /// The memory that the smallest picture needs.
    private static let working = 64 << 20

    /// The soft limit. Nil if there is none.
    private static func limit(_ resource: __rlimit_resource) -> Int? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0, limit.rlim_cur < rlim_t(Int.max) else {
            return nil
        }
        return Int(limit.rlim_cur)
    }

    private static func hasRoom(_ bytes: Int) -> Bool {
        guard let room = mmap(nil, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
            room != MAP_FAILED
        else { return false }
        munmap(room, bytes)
        return true
    }

    /// The resource that this process cannot get now, if any. It tries to open a file, to map memory, and to start
    /// `threads` threads that live at the same time.
    ///
    /// Libraries report a shortage in words or not at all, so it is tested where one may have been the cause.
    ///
    /// - Parameter room: Bytes of addresses beside the threads' stacks. Nil for the needs of the smallest picture.
    package static func found(threads: Int = 1, room: Int? = nil, for action: String) -> ResourceLimitError? {
        let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return ResourceLimitError(code: errno, action) }
        close(file)
        guard hasRoom(room ?? working) else { return ResourceLimitError(code: ENOMEM, action) }
        return ThreadTrial.run(threads, for: action)
    }

    /// Saves addresses in a process that has a limit for them (RLIMIT_AS). Otherwise the C library reserves 64 MB of
    /// them for the heap of each thread. Must be called before a second thread starts.
    package static func saveAddresses() {
        guard limit(RLIMIT_AS) != nil, let function = dlsym(nil, "mallopt") else { return }
        typealias Option = @convention(c) (Int32, Int32) -> Int32
        let arenasAtMost: Int32 = -8  // M_ARENA_MAX of malloc.h
        _ = unsafeBitCast(function, to: Option.self)(arenasAtMost, 1)
    }

    /// The shortage of a thread that could not be started.
    package init(noThread code: Int32, _ action: String = "start a thread") {
        self = ResourceLimitError(code: code, action) ?? ResourceLimitError(.threads, action, limit: nil)
    }
}

/// Threads that only prove that they can be started.
private enum ThreadTrial {
    /// All threads of a trial wait for it, so that they live at the same time.
    private final class Gate: @unchecked Sendable {
        // Sendable: the lock's memory is never moved, and is freed when no thread uses it any more.
        private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

        init() {
            lock.initialize(to: pthread_mutex_t())
            pthread_mutex_init(lock, nil)
            pthread_mutex_lock(lock)
        }

        func open() { pthread_mutex_unlock(lock) }

        func pass() {
            pthread_mutex_lock(lock)
            pthread_mutex_unlock(lock)
        }

        deinit {
            pthread_mutex_destroy(lock)
            lock.deallocate()
        }
    }

    /// - Returns: The missing resource, tested while the threads live.
    static func run(_ count: Int, for action: String) -> ResourceLimitError? {
        let gate = Gate()
        var threads: [pthread_t] = []
        var code: Int32 = 0
        while threads.count < count, code == 0 {
            var thread = pthread_t()
            let held = Unmanaged.passRetained(gate)
            code = pthread_create(
                &thread, nil,
                { argument in
                    if let argument { Unmanaged<Gate>.fromOpaque(argument).takeRetainedValue().pass() }
                    return nil
                }, held.toOpaque())
            if code == 0 { threads.append(thread) } else { held.release() }
        }
        let shortage = code == 0 ? nil : ResourceLimitError(noThread: code, action)
        gate.open()
        for thread in threads { pthread_join(thread, nil) }
        return shortage
    }
}
