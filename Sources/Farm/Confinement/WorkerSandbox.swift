import CConfinement
package import Catalogs
import Glibc

/// Keeps a worker process from the rest of the machine, by the kernel. A worker decodes pictures of strangers and runs plugins, so
/// any code may run in it.
///
/// A filter of system calls refuses what a worker does not need: programs, processes, sockets, signals to others, and files to write
/// but those that it is handed. `system_calls.c` has the list. A set of rules of Landlock that refuses nearly nothing hides the memory,
/// the environment and the open files of other processes, which are files in `/proc`. Otherwise a worker that may write could write
/// into the memory of its coordinator. Both hold for ever.
package struct WorkerSandbox: Hashable, Sendable {
    package let mode: SandboxMode
    /// Whether it may open files for writing, and create, rename and remove files.
    package let mayWrite: Bool

    package init(mode: SandboxMode, mayWrite: Bool) {
        self.mode = mode
        self.mayWrite = mayWrite
    }

    /// The sandbox that the environment asks for. A worker that somebody starts by hand has the default.
    ///
    /// - Parameter getsOpenFiles: Whether the process needs no other files to write. Otherwise it must be able to open them.
    package init(in variable: (String) -> String?, getsOpenFiles: Bool) throws(WorkerSandboxError) {
        let word = variable(SandboxMode.variable) ?? SandboxMode.auto.rawValue
        guard let mode = SandboxMode(rawValue: word) else { throw .unknownMode(word) }
        self.init(mode: mode, mayWrite: !getsOpenFiles || variable(SandboxMode.folderVariable) == "yes")
    }

    /// Before ``enter()``: from now on, a thread that the filter ends says why, on standard error. No memory of the process is written
    /// to a file when it crashes, because it has foreign pictures, and nothing limits where the file is.
    package func prepare() {
        guard mode != .off else { return }
        calls_explain_end()
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        // A lower limit is always allowed.
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }

    /// Confines this process for ever. Cost: less than a millisecond.
    ///
    /// - Precondition: it has one thread, because a filter holds for a thread and those that it starts.
    /// - Throws: if the mode requires what is missing, or if the process has more threads.
    package func enter() throws(WorkerSandboxError) -> SandboxReport {
        guard mode != .off else { return .off }
        let threads = calls_threads()
        guard threads <= 1 else { throw .tooManyThreads(threads) }
        let hiding = threads < 0 ? 0 : confinement_hide_processes()
        let code = threads < 0 ? threads : Self.refuseCalls(mayWrite: mayWrite)
        let missing =
            (hiding < 0 ? [Self.reason(withoutHiding: hiding)] : [])
            + (code < 0 ? [Self.reason(-code, isOfThreads: threads < 0)] : [])
        guard missing.isEmpty || mode != .require else { throw .incomplete(missing) }
        return SandboxReport(
            limitsCalls: code >= 0, files: code < 0 || mayWrite ? .any : .handedOver, missing: missing)
    }

    /// For a child process that tries a plugin. Its parent reports what is missing. The child calls nothing else before.
    package static func enterTrial() {
        _ = confinement_hide_processes()
        _ = refuseCalls(mayWrite: false)
    }

    /// Likewise, if a sandbox is required. Where a part is missing, the child ends before it opens a library.
    package static func enterRequiredTrial() {
        if confinement_hide_processes() < 0 || refuseCalls(mayWrite: false) < 0 { _exit(69) }
    }

    /// For a handler of SIGSYS: says why, and calls only what such a handler may.
    package static func explain(call: Int32) { calls_write_explanation(call) }

    private static func refuseCalls(mayWrite: Bool) -> Int32 {
        let code = calls_refuse()
        return code < 0 || mayWrite ? code : calls_refuse_writing()
    }

    private static func reason(withoutHiding code: Int32) -> String {
        let words = "workers can reach the memory and the open files of your other processes"
        return switch Landlock.support {
        case .missing(let reason): "\(words), because \(reason.problem)"
        case .version: "\(words), because this process may not use Landlock: \(String(cString: strerror(-code)))"
        }
    }

    private static func reason(_ code: Int32, isOfThreads: Bool) -> String {
        let words = String(cString: strerror(code))
        return switch code {
        case _ where isOfThreads: "the threads of a worker cannot be counted (/proc/self/task: \(words))"
        case EINVAL, ENOSYS: "this kernel has no filter of system calls (\(words)): it needs CONFIG_SECCOMP_FILTER"
        default:
            "something above Penumbra forbids a filter of system calls (prctl: \(words)), such as a container or a service manager"
        }
    }
}

/// Why a worker does not start.
package enum WorkerSandboxError: Error, Hashable, Sendable, CustomStringConvertible {
    case unknownMode(String)
    case tooManyThreads(Int32)
    /// The setting requires these missing parts.
    case incomplete([String])

    /// One line.
    package var description: String {
        switch self {
        case .unknownMode(let word):
            "\(SandboxMode.variable) is '\(word)', which this penumbra-worker does not know; reinstall both programs together"
        case .tooManyThreads(let count):
            "the worker has \(count) threads before it is confined, and a sandbox holds for one; report this, and set 'sandbox: off' until it is corrected"
        case .incomplete(let reasons):
            "'sandbox: require' cannot be kept, because \(reasons.joined(separator: ", and ")); correct that, or set 'sandbox: auto'"
        }
    }
}
