import CCrashRecord
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
