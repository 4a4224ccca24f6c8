import CConfinement
import Foundation
import Glibc
import Testing

/// The filter of workers, by the list of system calls in the kernel's headers. `SandboxTests` tries the filter itself.
@Suite struct SystemCallsTests {
    /// What a worker may use: its own memory, threads, timers and signals, and files.
    private static let allowed = Set(
        """
        read write close stat fstat lstat poll lseek mmap mprotect munmap brk rt_sigaction rt_sigprocmask
        rt_sigreturn pread64 pwrite64 readv writev access pipe select sched_yield mremap msync mincore madvise dup dup2
        pause nanosleep getitimer alarm setitimer getpid recvfrom recvmsg getsockname getpeername getsockopt exit wait4
        uname shmdt fsync fdatasync ftruncate getdents getcwd chdir fchdir readlink fchmod umask gettimeofday
        getrlimit getrusage sysinfo times getuid getgid geteuid getegid getppid getpgrp getgroups getresuid getresgid
        getpgid getsid capget rt_sigpending rt_sigtimedwait rt_sigsuspend sigaltstack statfs fstatfs getpriority
        sched_getparam sched_getscheduler sched_get_priority_max sched_get_priority_min sched_rr_get_interval mlock
        munlock mlockall munlockall arch_prctl sync gettid readahead time futex sched_getaffinity set_thread_area get_thread_area epoll_create remap_file_pages
        getdents64 set_tid_address restart_syscall fadvise64 timer_create timer_settime timer_gettime timer_getoverrun
        timer_delete clock_gettime clock_getres clock_nanosleep exit_group epoll_wait epoll_ctl get_mempolicy waitid
        ioprio_get inotify_rm_watch newfstatat readlinkat faccessat pselect6 ppoll set_robust_list
        get_robust_list sync_file_range epoll_pwait signalfd timerfd_create eventfd fallocate timerfd_settime
        timerfd_gettime signalfd4 eventfd2 epoll_create1 dup3 pipe2 preadv pwritev recvmmsg syncfs getcpu sched_getattr
        seccomp getrandom memfd_create membarrier mlock2 copy_file_range preadv2 pwritev2 pkey_mprotect pkey_alloc
        pkey_free statx rseq close_range faccessat2 epoll_pwait2 landlock_create_ruleset landlock_add_rule
        landlock_restrict_self futex_waitv uretprobe uprobe cachestat map_shadow_stack futex_wake futex_wait
        futex_requeue mseal
        mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat symlink symlinkat creat
        """.split { $0.isWhitespace }.map(String.init))

    private static let depending: Set = [
        "clone", "kill", "tgkill", "prlimit64", "setrlimit", "sched_setaffinity", "ioctl", "fcntl", "prctl",
        "open", "openat",
    ]

    /// They create, rename, link or remove files, or change their modes. A worker whose files come as descriptors gives them up, too.
    private static let writing: Set = [
        "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename", "renameat", "renameat2", "link", "linkat",
        "symlink",
        "symlinkat", "creat", "fchmod",
    ]

    private struct Call {
        let name: String
        let number: Int32
    }

    private static func calls() throws -> [Call] {
        let text = try String(contentsOfFile: "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", encoding: .utf8)
        return text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 3, words[0] == "#define", words[1].hasPrefix("__NR_"), let number = Int32(words[2])
            else { return nil }
            return Call(name: String(words[1].dropFirst(5)), number: number)
        }
    }

    #if arch(x86_64)
        @Test func `each system call of the headers is allowed on purpose, or refused`() throws {
            let calls = try Self.calls()
            #expect(calls.count > 350)
            for call in calls {
                let verdict = calls_verdict(call.number)
                let isAllowed = verdict == CALLS_ALLOWED
                #expect(isAllowed == Self.allowed.contains(call.name), "\(call.name)")
                #expect((verdict == CALLS_DEPENDS_ON_ARGUMENTS) == Self.depending.contains(call.name), "\(call.name)")
                #expect((calls_is_writing(call.number) != 0) == Self.writing.contains(call.name), "\(call.name)")
            }
        }

        @Test func `no code that computes uses the calls that end a worker`() throws {
            let fatal = try Self.calls().filter { calls_verdict($0.number) == CALLS_FATAL }.map(\.name).sorted()
            #expect(
                fatal == [
                    "acct", "bpf", "chroot", "delete_module", "execve", "execveat", "finit_module", "init_module",
                    "ioperm",
                    "iopl", "kexec_file_load", "kexec_load", "mount", "pivot_root", "process_vm_readv",
                    "process_vm_writev", "ptrace", "reboot", "setdomainname", "sethostname", "setns", "swapoff",
                    "swapon",
                    "umount2", "uselib",
                ])
        }
    #endif

    @Test func `a call that is newer than the list does not exist for a worker`() {
        #expect(calls_verdict(468) == CALLS_REFUSED)
        #expect(calls_verdict(10_000) == CALLS_REFUSED)
    }

    @Test func `threads are counted`() { #expect(calls_threads() >= 1) }
}
