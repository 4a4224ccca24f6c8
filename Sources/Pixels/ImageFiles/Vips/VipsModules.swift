import Catalogs
import CVips
import Glibc
import Synchronization

/// Parts of libvips that some of its builds keep in files of their own, with the libraries behind them: AVIF and HEIC,
/// JPEG XL, PDF.
///
/// libvips loads all of them when it starts, which takes longer than all else that it does then. Penumbra loads each when
/// a file needs it, and those that it has no use for (ImageMagick, OpenSlide) never.
enum VipsModules {
    private static let loaded = Mutex<Set<String>>([])

    /// Starts libvips without its modules. A `VIPSHOME` that is set already is left alone, and libvips then loads what it
    /// finds there.
    static func withoutLoading(_ start: () -> gint) -> gint {
        guard getenv(homeVariable) == nil else { return start() }
        setenv(homeVariable, "/nonexistent", 1)  // where libvips looks for them
        defer { unsetenv(homeVariable) }
        return start()
    }

    private static let homeVariable = "VIPSHOME"

    /// Loads what a format needs, once. That it cannot be loaded shows when the format's operations are not there.
    static func load(for format: any ImageFormat) {
        guard let module = format.module, !isRegistered(format.loader.className) else { return }
        loaded.withLock { loaded in
            guard loaded.insert(module).inserted, let path = path(of: module) else { return }
            if penumbra_load_module(path) == 0 { return }
            allowOnlyListedFormats()
        }
    }

    /// True when this libvips reads the format.
    static func offers(_ format: any ImageFormat) -> Bool {
        if format.descriptor.isFolder { return isRegistered("VipsForeignSaveDzFile") }
        if isRegistered(format.loader.className) { return true }
        return format.module.flatMap(path(of:)).map { access($0, R_OK) == 0 } ?? false
    }

    /// Whatever a file claims to be, it is read by these alone. Has to be said again of operations that came later.
    static func allowOnlyListedFormats() {
        vips_block_untrusted_set(1)
        vips_operation_block_set("VipsForeignLoad", 1)
        for format in ImageFormats.all {
            for name in [format.loader.className] + format.saverClasses where isRegistered(name) {
                vips_operation_block_set(name, 0)
            }
        }
    }

    private static func isRegistered(_ className: String) -> Bool { g_type_from_name(className) != 0 }

    /// Beside the library itself: `vips-modules-8.14/vips-heif.so`.
    private static func path(of module: String) -> String? {
        guard let folder = libraryFolder else { return nil }
        return "\(folder)/vips-modules-\(vips_version(0)).\(vips_version(1))/\(module).so"
    }

    private static let libraryFolder: String? = {
        guard let name = penumbra_library_path() else { return nil }
        let path = String(cString: name)
        return path.lastIndex(of: "/").map { String(path[..<$0]) }
    }()
}
