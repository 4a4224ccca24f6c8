import CVips
import Catalogs
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
    package static var version: String { "\(vips_version(0)).\(vips_version(1)).\(vips_version(2))" }

    private static let hasStarted = Mutex(false)

    static func startIfNeeded() throws(ImageFileError) {
        let failure: VipsError? = hasStarted.withLock { hasStarted in
            if hasStarted { return nil }
            penumbra_keep_freed_memory()
            setenv("VIPS_WARNING", "0", 1)  // libvips prints warnings unless this is there when it starts
            guard VipsModules.withoutLoading({ vips_init("penumbra") }) == 0 else { return VipsError.take() }
            vips_cache_set_max(0)  // else a file that changed gives the pixels that it had before
            VipsWarnings.listen()
            VipsModules.allowOnlyListedFormats()
            hasStarted = true
            return nil
        }
        if let failure { throw ImageFileError(path: "", .library(failure.line)) }
    }
}

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

/// The shared libraries of this process: `libjpeg 62.3.0`, `libpng16 16.39.0`.
///
/// The kernel tells the files that were really loaded, whatever links lead to others by now, and also when a package's
/// upgrade has removed them since.
package struct LoadedLibraries {
    /// Of their files, each once.
    private let names: [Substring]

    /// Those that are loaded now.
    package init() {
        // Where the kernel does not list them, they stay unnamed.
        self.init(maps: Self.contents(of: "/proc/self/maps"))
    }

    /// The kernel makes the text while it is read, so that its size is not known before.
    private static func contents(of path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var (bytes, buffer): ([UInt8], [UInt8]) = ([], Array(repeating: 0, count: 1 << 16))
        while true {
            let count = read(file, &buffer, buffer.count)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }

    /// - Parameter maps: as in `/proc/self/maps`.
    package init(maps: String) {
        var seen: Set<Substring> = []
        names = maps.split(separator: "\n").compactMap { line in
            guard let slash = line.firstIndex(of: "/") else { return nil }
            return line[slash...].trimmingSuffix(" (deleted)").split(separator: "/").last
        }.filter { seen.insert($0).inserted }
    }

    /// Names and versions of those that are wanted, in the order of the wishes; what is not loaded is left out.
    ///
    /// - Parameter wanted: how their files' names begin, before digits or `.so`: `libpng` is `libpng16.so.16.39.0`.
    package func described(_ wanted: [String]) -> [String] {
        wanted.flatMap { name in names.filter { Self.isFile($0, of: name) }.map(Self.described) }
    }

    private static func isFile(_ file: Substring, of name: String) -> Bool {
        file.hasPrefix(name) && file.dropFirst(name.count).drop { $0.isASCII && $0.isNumber }.hasPrefix(".so")
    }

    /// One without a version in its file's name is its name alone.
    private static func described(_ file: Substring) -> String {
        guard let end = file.firstRange(of: ".so") else { return String(file) }
        let version = file[end.upperBound...].drop { $0 == "." }
        return version.isEmpty ? String(file[..<end.lowerBound]) : "\(file[..<end.lowerBound]) \(version)"
    }
}

extension Substring {
    fileprivate func trimmingSuffix(_ suffix: String) -> Substring { hasSuffix(suffix) ? dropLast(suffix.count) : self }
}
