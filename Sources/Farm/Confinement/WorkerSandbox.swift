import CConfinement
package import Catalogs
import Glibc
import JobModel
import Planning

/// Keeps a worker process from the rest of the machine, by the kernel. A worker decodes pictures of strangers and runs plugins, so
/// any code may run in it.
///
/// A filter of system calls refuses what a worker does not need: programs, processes, sockets, and signals to others. A worker opens
/// no file to write, because it is handed those of its tasks. `system_calls.c` has the list. Rules of Landlock let the worker read only
/// its ``WorkerPlaces``. They also hide the memory, the environment and the open files of other processes. Both hold for ever.
package struct WorkerSandbox: Hashable, Sendable {
    /// The files that it may open itself.
    package enum Reach: Hashable, Sendable {
        /// These.
        case places(WorkerPlaces)
        /// All files, also for writing, creating, renaming and removing.
        case everything
    }

    package let mode: SandboxMode
    package let reach: Reach

    package init(mode: SandboxMode, reach: Reach) {
        self.mode = mode
        self.reach = reach
    }

    /// The sandbox that the environment asks for. A worker that somebody starts by hand has the default.
    ///
    /// - Parameter getsOpenFiles: Whether the process needs no other files to write. Otherwise it must be able to open them.
    package init(in variable: (String) -> String?, getsOpenFiles: Bool) throws(WorkerSandboxError) {
        let word = variable(SandboxMode.variable) ?? SandboxMode.auto.rawValue
        guard let mode = SandboxMode(rawValue: word) else { throw .unknownMode(word) }
        let places = WorkerPlaces(
            reading: variable(SandboxMode.readVariable) ?? "", writing: variable(SandboxMode.folderVariable) ?? "")
        self.init(mode: mode, reach: getsOpenFiles ? .places(places) : .everything)
    }

    /// The same sandbox, with more files and folders that its process may read.
    package func reading(_ paths: [String]) -> WorkerSandbox {
        guard case .places(var places) = reach else { return self }
        places.plugins += paths
        return WorkerSandbox(mode: mode, reach: .places(places))
    }

    /// The same sandbox. Its process may also open one library, and read the library's folder.
    package func checking(_ library: String) -> WorkerSandbox {
        let path = realPath(library)
        return reading([path] + [PathNames.folder(of: path)].compactMap(\.self))
    }

    /// What the settings name and this process cannot read, as sentences.
    package var unreadable: [String] {
        guard case .places(let places) = reach, mode != .off else { return [] }
        return places.unreadable
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

    /// Confines this process for ever, as ``PreparedSandbox/enter(opening:)`` does.
    package func enter() throws(WorkerSandboxError) -> SandboxReport { try PreparedSandbox(self).enter(opening: []) }

    enum Writing {
        case nowhere
        case inSomeFolders
        case everywhere
    }

    func refuseCalls() -> Int32 {
        switch reach {
        case .everything: Self.refuseCalls(.everywhere)
        case .places(let places): Self.refuseCalls(places.writable.isEmpty ? .nowhere : .inSomeFolders)
        }
    }

    /// For a handler of SIGSYS: says why, and calls only what such a handler may.
    package static func explain(call: Int32) { calls_write_explanation(call) }

    static func refuseCalls(_ writing: Writing) -> Int32 {
        let code = calls_refuse()
        guard code >= 0 else { return code }
        return switch writing {
        case .nowhere: calls_refuse_writing()
        case .inSomeFolders: calls_refuse_changes()
        case .everywhere: code
        }
    }

    func reason(withoutLandlock code: Int32) -> String {
        let files = reach == .everything ? "" : "all files that you can read, and "
        let words = "workers can reach \(files)the memory and the open files of your other processes"
        return switch Landlock.support {
        case .missing(let reason): "\(words), because \(reason.problem)"
        case .version: "\(words), because this process may not use Landlock: \(String(cString: strerror(-code)))"
        }
    }

    static func reason(_ code: Int32, isOfThreads: Bool) -> String {
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
