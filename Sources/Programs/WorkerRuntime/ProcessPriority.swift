import Glibc

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
