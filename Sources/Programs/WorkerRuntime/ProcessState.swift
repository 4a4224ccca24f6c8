import CProcessState
import Filters
import Glibc

/// What of this process somebody else's code may change, and how it is to be.
enum ProcessState {
    /// Also looks after a descriptor, and the three that every process has.
    static func watch(_ descriptors: [Int32]) { for descriptor in descriptors { process_state_watch(descriptor) } }

    /// From now on this is how it is to be.
    static func record() { process_state_record() }

    /// Runs code that may change it, and puts it back.
    ///
    /// - Returns: what was changed, in words, and how many more files are open now, whoever opened them.
    static func kept<Result>(_ body: () -> Result) -> (result: Result, changes: [String], opened: Int) {
        var mask = sigset_t()
        process_state_mask(&mask)
        let before = process_state_lowest_free()
        let result = body()
        let changed = process_state_restore(&mask)
        let opened = process_state_lowest_free() - before
        return (result, changed == 0 ? [] : words(changed), Int(opened))
    }

    /// How many files somebody else's code may leave open.
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
        // Nothing could be told of it, and what is written next might get into somebody's file: while the coordinator
        // takes this process to be in the plugin, which it is not told to have left.
        if changed & UInt32(PROCESS_LOST) != 0 { _exit(lostStatus) }
        return all.filter { changed & UInt32($0.0) != 0 }.map(\.1)
    }

    /// EX_SOFTWARE
    private static let lostStatus: Int32 = 70
}

extension FilterError {
    /// - Parameter others: plugins that ran at the same time.
    init(_ plugin: String, changed changes: [String], others: [String]) {
        let who =
            others.isEmpty
            ? "the plugin"
            : "the plugin, or " + others.map { "'\($0)'" }.joined(separator: ", ") + ", which ran at the same time,"
        self.init(plugin, "\(who) changed the worker's \(changes.joined(separator: ", "))")
    }

    /// - Parameter files: that were open after its calls and not before.
    init(_ plugin: String, leftOpen files: Int) { self.init(plugin, "the plugin left \(files) files open") }

    /// - Parameter others: plugins that ran in the same task.
    init(_ plugin: String, closedFileOf others: [String]) {
        let who = (["the plugin"] + others.map { "'\($0)'" }).joined(separator: ", or ")
        self.init(plugin, "\(who) closed a file that it had not opened")
    }

    private init(_ plugin: String, _ deed: String) {
        self.init(filter: plugin, problem: .fault(reason: "\(deed); report this to its author"))
    }
}

/// Makes this process give way to others. What it was started with is never raised.
///
/// Linux keeps both for each thread, and threads inherit them: this comes before any thread is started.
enum ProcessPriority {
    static func apply(_ environment: (String) -> String?) {
        if let text = environment("PENUMBRA_NICE"), let wanted = Int32(text) {
            errno = 0
            let current = getpriority(Int32(PRIO_PROCESS.rawValue), 0)
            // A system that refuses runs the work all the same.
            if errno == 0, wanted > current { _ = setpriority(Int32(PRIO_PROCESS.rawValue), 0, wanted) }
        }
        switch environment("PENUMBRA_IONICE") {
        case "low": setDiskPriority(class: 2, level: 7)
        case "idle": setDiskPriority(class: 3, level: 0)
        default: break
        }
    }

    /// There is no function for it but the system call. <https://man7.org/linux/man-pages/man2/ioprio_set.2.html>
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
