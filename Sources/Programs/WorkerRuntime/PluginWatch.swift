import CCrashRecord
import CProcessState
import Catalogs
import Filters
import Geometry
import Glibc
import Raster
import Synchronization
import WorkerProtocol

/// Reports to the coordinator when a plugin's code starts and ends, so that a crash is blamed on the right plugin. A
/// crashing thread names its own plugin if it still can. Otherwise all running plugins are suspects.
final class PluginWatch: Sendable {
    private struct State {
        /// Plugins whose code runs now. Outputs of a frame are rendered on several threads at once.
        var running: [String] = []
        var messages: [String: CrashMessage] = [:]
        /// For each plugin, how many more files were open after its calls than before.
        var opened: [String: Int] = [:]
        /// The first change of this process that a plugin has left behind.
        var fault: FilterError?
    }

    private let lease: LeaseID
    private let channel: Channel
    private let state = Mutex(State())

    init(lease: LeaseID, channel: Channel) {
        self.lease = lease
        self.channel = channel
    }

    /// A change of this process that a plugin of this task has left behind. If there is one, all results of the task
    /// are void.
    var fault: FilterError? { state.withLock { $0.fault } }

    func within<Result>(_ plugin: String, _ body: () throws -> Result) throws -> Result {
        let message = try enter(plugin)
        let (result, changes, opened) = ProcessState.kept { message.prepared { Swift.Result { try body() } } }
        let fault = note(changes, opened, of: plugin)
        try leave(plugin)
        if let fault { throw fault }
        return try result.get()
    }

    /// The same for calls that cannot fail. If the coordinator is gone, the thread that reads its orders ends this
    /// process.
    func asking<Result>(_ plugin: String, _ body: () -> Result) -> Result {
        guard let message = try? enter(plugin) else { return body() }
        let (result, changes, opened) = ProcessState.kept { message.prepared(body) }
        _ = note(changes, opened, of: plugin)
        try? leave(plugin)
        return result
    }

    /// Other threads open a few files meanwhile and close them. Only a leaking plugin has ever more of them open.
    private func note(_ changes: [String], _ opened: Int, of plugin: String) -> FilterError? {
        guard !changes.isEmpty || opened != 0 else { return nil }
        return state.withLock { state in
            let files = state.opened[plugin, default: 0] + opened
            state.opened[plugin] = files
            let others = Set(state.running).subtracting([plugin]).sorted()
            let fault: FilterError? =
                if !changes.isEmpty {
                    FilterError(plugin, changed: changes, others: others)
                } else if files > ProcessState.toleratedFiles {
                    FilterError(plugin, leftOpen: files)
                } else {
                    nil
                }
            state.fault = state.fault ?? fault
            return fault
        }
    }

    /// The fault of a plugin that explains a task's error, if there is one.
    ///
    /// - Parameter lost: Whether a file that the worker has open was closed.
    func fault(behind error: any Error, lost: Bool = false) -> FilterError? {
        if let fault { return fault }
        let plugins = state.withLock { $0.messages.keys.sorted() }
        // The worker itself never uses a file that it has closed.
        guard lost || error.systemCode == EBADF, let first = plugins.first else { return nil }
        return FilterError(first, closedFileOf: Array(plugins.dropFirst()))
    }

    private func enter(_ plugin: String) throws -> CrashMessage {
        try state.withLock { state in
            let message = try state.messages[plugin] ?? CrashMessage(FrameCodec.encode(report([plugin])))
            state.messages[plugin] = message
            state.running.append(plugin)
            try channel.send(report(state.running))
            return message
        }
    }

    private func leave(_ plugin: String) throws {
        try state.withLock { state in
            if let index = state.running.lastIndex(of: plugin) { state.running.remove(at: index) }
            try channel.send(report(state.running))
        }
    }

    /// Each name once, sorted, so that the order of the threads does not matter.
    private func report(_ names: [String]) -> Report { .inPlugins(lease, Set(names).sorted()) }
}

/// A plugin's filter that is watched while its code runs.
struct WatchedFilter: Filter {
    let filter: any Filter
    let name: String
    let watch: PluginWatch

    var isIdentity: Bool { filter.isIdentity }
    var masking: MaskOptions? { filter.masking }
    var edge: Edge { filter.edge }
    var halo: Halo { filter.halo }

    func extent(of input: PixelRect) -> PixelRect { watching { filter.extent(of: input) } }

    func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        watching { filter.needed(for: output, in: input) }
    }

    func checkGeometry() throws { try filter.checkGeometry() }
    var hasForeignGeometry: Bool { filter.hasForeignGeometry }

    func outputLayout(for layout: PixelLayout) -> PixelLayout { filter.outputLayout(for: layout) }

    var isEven: Bool { filter.isEven }
    func halo(in input: PixelRect) -> Halo { watching { filter.halo(in: input) } }

    func scale(in input: PixelRect) -> (x: Double, y: Double) { filter.scale(in: input) }

    func isRowLocal(in input: PixelRect) -> Bool { filter.isRowLocal(in: input) }

    func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double { filter.cost(layout, format) }

    func cost(_ layout: PixelLayout, _ format: SampleFormat, in input: PixelRect) -> Double {
        filter.cost(layout, format, in: input)
    }

    private func watching<Result>(_ body: () -> Result) -> Result {
        filter.hasForeignGeometry ? watch.asking(name, body) : body()
    }

    func render(_ source: FilterSource, into destination: inout AnyRaster) throws {
        try watch.within(name) { try filter.render(source, into: &destination) }
    }
}

/// The last message of a thread that crashes or calls `exit`.
final class CrashMessage: @unchecked Sendable {
    // Sendable: the bytes are never changed.
    private let bytes: UnsafeMutableRawBufferPointer

    init(_ message: [UInt8]) {
        bytes = .allocate(byteCount: message.count, alignment: 1)
        bytes.copyBytes(from: message)
    }

    deinit { bytes.deallocate() }

    /// Runs code that may crash on this thread.
    ///
    /// - Precondition: Calls are not nested.
    func prepared<Result>(_ body: () -> Result) -> Result {
        crash_record_set(bytes.baseAddress, bytes.count)
        defer { withExtendedLifetime(self) { crash_record_set(nil, 0) } }
        return body()
    }
}

/// The state of this process that foreign code may change, and its restoration.
enum ProcessState {
    /// Also restores these descriptors, in addition to the three that every process has.
    static func watch(_ descriptors: [Int32]) { for descriptor in descriptors { process_state_watch(descriptor) } }

    /// Records the present state as the right one.
    static func record() { process_state_record() }

    /// Records the present resource limits as the right ones.
    static func recordLimits() { process_state_record_limits() }

    /// Runs code that may change the state, and restores it.
    ///
    /// - Returns: Descriptions of the changes, and how many more files are open now.
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
