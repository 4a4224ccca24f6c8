import Glibc
import Testing
import WorkerProtocol

/// The limits of a process, and the words for them.
@Suite struct ResourceLimitErrorTests {
    @Test(arguments: [
        (
            ResourceLimitError(.files, "start a process", limit: 64),
            """
            cannot start a process: this process may have no more than 64 open files (RLIMIT_NOFILE)
               = raise the limit by 'ulimit -n', or by 'LimitNOFILE=' of a systemd unit; or give fewer --workers
            """
        ),
        (
            ResourceLimitError(.filesOfAll, "open /a", limit: nil),
            """
            cannot open /a: the system has as many open files as it may have (fs.file-max)
               = raise the limit by 'sysctl fs.file-max', or end other programs
            """
        ),
        (
            ResourceLimitError(.threads, "start a thread", limit: 20),
            """
            cannot start a thread: this user may have no more than 20 processes and threads (RLIMIT_NPROC)
               = raise the limit by 'ulimit -u', or by 'LimitNPROC=' of a systemd unit; or give fewer --workers
            """
        ),
        (
            ResourceLimitError(.threads, "start a thread", limit: nil),
            """
            cannot start a thread: the system or the control group allows no more processes and threads (pids.max)
               = raise 'TasksMax=' of the systemd unit, or the limit of the container; or give fewer --workers
            """
        ),
        (
            ResourceLimitError(.memory, "render", limit: 400 << 20),
            """
            cannot render: this process may use no more than 400 MB of addresses (RLIMIT_AS)
               = raise the limit by 'ulimit -v', or by 'LimitAS=' of a systemd unit
            """
        ),
        (
            ResourceLimitError(.memory, "render", limit: nil),
            """
            cannot render: the system has no memory left
               = end other programs, or give fewer --workers
            """
        ),
        (
            ResourceLimitError(.watchers, "watch folders", limit: nil),
            """
            cannot watch folders: this user has as many programs that watch folders as it may have (fs.inotify.max_user_instances)
               = raise the limit by 'sysctl fs.inotify.max_user_instances', or end other programs that watch folders
            """
        ),
    ])
    func `a limit is named, with what to do`(shortage: ResourceLimitError, words: String) {
        #expect("\(shortage)" == words)
    }

    @Test func `error numbers of limits are told from all others`() {
        #expect(ResourceLimitError(code: EMFILE, "open")?.resource == .files)
        #expect(ResourceLimitError(code: ENFILE, "open")?.resource == .filesOfAll)
        #expect(ResourceLimitError(code: ENOMEM, "open")?.resource == .memory)
        // This process has room for a thread's stack.
        #expect(ResourceLimitError(code: EAGAIN, "start")?.resource == .threads)
        for code in [0, ENOENT, EACCES, ENOSPC, EIO, EINTR] { #expect(ResourceLimitError(code: code, "open") == nil) }
    }

    @Test func `a process that has all it needs finds no shortage`() {
        #expect(ResourceLimitError.found(threads: 16, for: "begin") == nil)
    }
}
