import CProcessState
import Filters
import Glibc

/// The state of this process that foreign code may change, and its restoration.
enum ProcessState {
    /// Also restores these descriptors, in addition to the three that every process has.
    static func watch(_ descriptors: [Int32]) { for descriptor in descriptors { process_state_watch(descriptor) } }

    /// Records the present state as the right one.
    static func record() { process_state_record() }

    /// Runs code that may change the state, and restores it.
    ///
    /// - Returns: Descriptions of the changes, and how many more files are open now, whoever opened them.
    static func kept<Result>(_ body: () -> Result) -> (result: Result, changes: [String], opened: Int) {
        var mask = sigset_t()
        process_state_mask(&mask)
        let before = process_state_lowest_free()
        let result = body()
        let changed = process_state_restore(&mask)
        let opened = process_state_lowest_free() - before
        return (result, changed == 0 ? [] : words(changed), Int(opened))
    }

    /// The number of files that foreign code may leave open.
    static var toleratedFiles: Int { Int(process_state_tolerated()) }

    /// A number that grows as files are left open.
    static var lowestFreeDescriptor: Int { Int(process_state_lowest_free()) }

    private static func words(_ changed: UInt32) -> [String] {
        let all = [
            (PROCESS_UMASK, "file mode mask (umask)"), (PROCESS_LIMITS, "resource limits"),
            (PROCESS_MASK, "signal mask"), (PROCESS_HANDLERS, "signal handlers"), (PROCESS_TIMERS, "timers"),
            (PROCESS_FOLDER, "working directory"), (PROCESS_DESCRIPTORS, "descriptors"), (PROCESS_LOCALE, "locale"),
            (PROCESS_GROUP, "process group"), (PROCESS_USER, "user"), (PROCESS_ROOT, "root folder"),
        ]
        // The pipe is lost, so nothing can be reported, and the next message might go into someone's file. The
        // coordinator still believes that this process is in the plugin, and blames it.
        if changed & UInt32(PROCESS_LOST) != 0 { _exit(lostStatus) }
        return all.filter { changed & UInt32($0.0) != 0 }.map(\.1)
    }

    /// EX_SOFTWARE
    private static let lostStatus: Int32 = 70
}

extension FilterError {
    /// - Parameter others: Plugins that ran at the same time.
    init(_ plugin: String, changed changes: [String], others: [String]) {
        let who =
            others.isEmpty
            ? "the plugin"
            : "the plugin, or " + others.map { "'\($0)'" }.joined(separator: ", ") + ", which ran at the same time,"
        self.init(plugin, "\(who) changed the worker's \(changes.joined(separator: ", "))")
    }

    /// - Parameter files: The number of files that stayed open after its calls.
    init(_ plugin: String, leftOpen files: Int) { self.init(plugin, "the plugin left \(files) files open") }

    /// - Parameter others: Plugins that ran in the same task.
    init(_ plugin: String, closedFileOf others: [String]) {
        let who = (["the plugin"] + others.map { "'\($0)'" }).joined(separator: ", or ")
        self.init(plugin, "\(who) closed a file that it had not opened")
    }

    private init(_ plugin: String, _ deed: String) {
        self.init(filter: plugin, problem: .fault(reason: "\(deed); report this to its author"))
    }
}

/// Lowers the priority of this process. A priority that is lower already stays.
///
/// Linux keeps priorities for each thread, and threads inherit them, so this must come before any thread is started.
enum ProcessPriority {
    static func apply(_ environment: (String) -> String?) {
        if let text = environment("PENUMBRA_NICE"), let wanted = Int32(text) {
            errno = 0
            let current = getpriority(Int32(PRIO_PROCESS.rawValue), 0)
            // If the system refuses, the work runs nevertheless.
            if errno == 0, wanted > current { _ = setpriority(Int32(PRIO_PROCESS.rawValue), 0, wanted) }
        }
        switch environment("PENUMBRA_IONICE") {
        case "low": setDiskPriority(class: 2, level: 7)
        case "idle": setDiskPriority(class: 3, level: 0)
        default: break
        }
    }

    /// The C library has no function for this system call. <https://man7.org/linux/man-pages/man2/ioprio_set.2.html>
    private static func setDiskPriority(class priority: Int, level: Int) {
        typealias SystemCall = @convention(c) (Int, Int, Int, Int) -> Int
        #if arch(x86_64)
            let number = 251
        #else
            let number = 30
        #endif
        let (thisProcess, shift) = (1, 13)
        guard let symbol = dlsym(nil, "syscall") else { return }
        _ = unsafeBitCast(symbol, to: SystemCall.self)(number, thisProcess, 0, priority << shift | level)
    }
}
