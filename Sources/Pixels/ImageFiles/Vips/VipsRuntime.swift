import CVips
import Glibc
import Synchronization

/// Starts libvips, once in a process.
package enum VipsRuntime {
    /// Starts libvips so that it keeps no results, prints nothing, and reads only the formats of ``ImageFormats``
    /// whatever a file claims to be. Later calls change nothing but the number of threads.
    ///
    /// - Parameter threads: how many threads an encoder may use; 1 or more.
    package static func start(threads: Int) throws(ImageFileError) {
        try startIfNeeded()
        vips_concurrency_set(gint(clamping: max(1, threads)))
    }

    /// Loads what the format's operations need, before several threads do.
    package static func prepare(_ format: any ImageFormat) throws(ImageFileError) {
        try startIfNeeded()
        VipsModules.load(for: format)
    }

    /// `8.14.1`.
    package static var version: String {
        "\(vips_version(0)).\(vips_version(1)).\(vips_version(2))"
    }

    private static let hasStarted = Mutex(false)

    static func startIfNeeded() throws(ImageFileError) {
        let failure: VipsFailure? = hasStarted.withLock { hasStarted in
            if hasStarted { return nil }
            penumbra_keep_freed_memory()
            setenv("VIPS_WARNING", "0", 1)  // libvips prints warnings unless this is there when it starts
            guard VipsModules.withoutLoading({ vips_init("penumbra") }) == 0 else { return VipsFailure.take() }
            vips_cache_set_max(0)  // else a file that changed gives the pixels that it had before
            VipsWarnings.listen()
            VipsModules.allowOnlyListedFormats()
            hasStarted = true
            return nil
        }
        if let failure { throw ImageFileError(path: "", .library(failure.line)) }
    }
}
