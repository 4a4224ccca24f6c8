import CVips
import Catalogs
import Glibc
import Synchronization

/// Starts libvips once in a process.
package enum VipsRuntime {
    /// Starts libvips without a cache, without output, and with one thread. It then reads only the formats of ``ImageFormats``,
    /// whatever the content of a file. Later calls do nothing.
    package static func start() throws(ImageFileError) { try startIfNeeded() }

    /// Loads the module with the format's operations, before several threads need it.
    package static func prepare(_ format: any ImageFormat) throws(ImageFileError) {
        try startIfNeeded()
        VipsModules.load(for: format)
    }

    /// The version, such as `8.14.1`.
    package static var version: String { "\(vips_version(0)).\(vips_version(1)).\(vips_version(2))" }

    private static let hasStarted = Mutex(false)

    private static let lowBlocks = Atomic(false)

    /// Whether libvips, once started, holds few rows between the steps of a pipeline.
    package static var hasLowBlocks: Bool { lowBlocks.load(ordering: .relaxed) }

    static func startIfNeeded() throws(ImageFileError) {
        let failure: VipsError? = hasStarted.withLock { hasStarted in
            if hasStarted { return nil }
            penumbra_keep_freed_memory()
            setenv("VIPS_WARNING", "0", 1)  // libvips prints warnings unless this is set when it starts
            guard VipsModules.withoutLoading({ vips_init("penumbra") }) == 0 else { return VipsError.take() }
            // Without this setting pictures need more memory, and nothing else changes.
            lowBlocks.store(penumbra_set_tile_height(16) != 0, ordering: .relaxed)
            vips_cache_set_max(0)  // otherwise a changed file would give its old pixels
            // With several threads, libvips 8.14 sometimes loses an error, and what a damaged file lacks becomes black.
            vips_concurrency_set(1)
            VipsWarnings.listen()
            VipsModules.allowOnlyListedFormats()
            hasStarted = true
            return nil
        }
        if let failure { throw ImageFileError(path: "", .library(failure.line)) }
    }
}

/// The parts of libvips that some builds keep in separate modules, with the libraries behind them: AVIF and HEIC, JPEG XL,
/// PDF.
///
/// libvips loads all modules when it starts, which takes longer than everything else. Penumbra loads each one when a file
/// needs it. It never loads unused ones (ImageMagick, OpenSlide).
enum VipsModules {
    private static let loaded = Mutex<Set<String>>([])

    /// Starts libvips without its modules. If `VIPSHOME` is set already, it is not changed, and libvips loads the modules
    /// there.
    static func withoutLoading(_ start: () -> gint) -> gint {
        guard getenv(homeVariable) == nil else { return start() }
        setenv(homeVariable, "/nonexistent", 1)  // the place where libvips looks for modules
        defer { unsetenv(homeVariable) }
        return start()
    }

    private static let homeVariable = "VIPSHOME"

    /// Loads the module of a format once. A failure is visible later, because the format's operations are missing.
    static func load(for format: any ImageFormat) {
        guard let module = format.module, !isRegistered(format.loader.className) else { return }
        loaded.withLock { loaded in
            guard loaded.insert(module).inserted, let path = path(of: module) else { return }
            if penumbra_load_module(path) == 0 { return }
            allowOnlyListedFormats()
        }
    }

    /// Whether this libvips reads the format.
    static func offers(_ format: any ImageFormat) -> Bool {
        guard let needed = format.neededClass else { return true }
        if isRegistered(needed) { return true }
        return format.module.flatMap(path(of:)).map { access($0, R_OK) == 0 } ?? false
    }

    /// Allows only these operations to read files. It must be called again for operations that are loaded later.
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

    /// The path of a module beside the library itself: `vips-modules-8.14/vips-heif.so`.
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
/// The kernel lists the files that were actually loaded, even if links have changed since, or if a package's upgrade has
/// removed the files.
package struct LoadedLibraries {
    /// The names of their files, each once.
    private let names: [Substring]

    /// The libraries that are loaded now.
    package init() {
        // If the kernel does not list them, they stay unnamed.
        self.init(maps: Self.contents(of: "/proc/self/maps"))
    }

    /// The libraries of another process of this user. None if it has ended.
    package init(ofProcess process: Int32) { self.init(maps: Self.contents(of: "/proc/\(process)/maps")) }

    /// Reads a text that the kernel generates, whose size is not known in advance.
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

    /// - Parameter maps: the content of `/proc/self/maps`.
    package init(maps: String) {
        var seen: Set<Substring> = []
        // There are hundreds of lines. Looked through by characters, they take a twentieth of the time of a small picture.
        names = maps.utf8.split(separator: UInt8(ascii: "\n")).compactMap { line in
            line.lastIndex(of: UInt8(ascii: "/")).map { slash in
                Substring(line[line.index(after: slash)...]).trimmingSuffix(" (deleted)")
            }
        }.filter { !$0.isEmpty && seen.insert($0).inserted }
    }

    /// The names and versions of the wanted libraries, in the given order. Libraries that are not loaded are omitted.
    ///
    /// - Parameter wanted: the prefixes of the files' names before digits or `.so`: `libpng` stands for `libpng16.so.16.39.0`.
    package func described(_ wanted: [String]) -> [String] {
        wanted.flatMap { name in names.filter { Self.isFile($0, of: name) }.map(Self.described) }
    }

    private static func isFile(_ file: Substring, of name: String) -> Bool {
        file.hasPrefix(name) && file.dropFirst(name.count).drop { $0.isASCII && $0.isNumber }.hasPrefix(".so")
    }

    /// The name and version of a library; only the name if the file's name contains no version.
    private static func described(_ file: Substring) -> String {
        guard let end = file.firstRange(of: ".so") else { return String(file) }
        let version = file[end.upperBound...].drop { $0 == "." }
        return version.isEmpty ? String(file[..<end.lowerBound]) : "\(file[..<end.lowerBound]) \(version)"
    }
}

extension Substring {
    fileprivate func trimmingSuffix(_ suffix: String) -> Substring { hasSuffix(suffix) ? dropLast(suffix.count) : self }
}
