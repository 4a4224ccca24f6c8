import CVips
import Glibc
import Synchronization

/// Listens to libvips' warnings, which would else be printed.
enum VipsWarnings {
    /// Warnings on the threads that listen.
    private static let counts = Mutex<[pthread_t: Int]>([:])

    /// From now on no warning is printed.
    static func listen() {
        g_log_set_handler(
            "VIPS", G_LOG_LEVEL_WARNING,
            { _, _, _, _ in VipsWarnings.counts.withLock { $0[pthread_self()]? += 1 } }, nil)
    }

    /// True when libvips warns on this thread while `body` runs.
    static func occur(during body: () -> Void) -> Bool {
        counts.withLock { $0[pthread_self()] = 0 }
        body()
        return counts.withLock { $0.removeValue(forKey: pthread_self()) ?? 0 } > 0
    }
}
