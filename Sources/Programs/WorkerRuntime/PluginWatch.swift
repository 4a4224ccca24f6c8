import Catalogs
import Filters
import Geometry
import Raster
import Synchronization
import WorkerProtocol

/// Tells the coordinator when a plugin's code is about to run and when it has returned, so that a crash in it is laid
/// to its door by name.
final class PluginWatch: Sendable {
    private let lease: LeaseID
    private let channel: Channel
    /// The outputs of a frame are rendered on several threads at once.
    private let running = Mutex<[String]>([])

    init(lease: LeaseID, channel: Channel) {
        self.lease = lease
        self.channel = channel
    }

    func within<Result>(_ plugin: String, _ body: () throws -> Result) throws -> Result {
        try change { $0.append(plugin) }
        let result = Swift.Result { try body() }
        try change { running in
            if let index = running.lastIndex(of: plugin) { running.remove(at: index) }
        }
        return try result.get()
    }

    /// Of several that run, the one that was called last is told.
    private func change(_ body: (inout [String]) -> Void) throws {
        try running.withLock { running in
            body(&running)
            try channel.send(.inPlugin(lease, running.last))
        }
    }
}

/// A plugin's filter, watched while it renders.
struct WatchedFilter: Filter {
    let filter: any Filter
    let name: String
    let watch: PluginWatch

    var isIdentity: Bool { filter.isIdentity }
    var edge: Edge { filter.edge }
    var halo: Halo { filter.halo }

    func extent(of input: PixelRect) -> PixelRect { filter.extent(of: input) }

    func needed(for output: PixelRect, in input: PixelRect) -> PixelRect { filter.needed(for: output, in: input) }

    func outputLayout(for layout: PixelLayout) -> PixelLayout { filter.outputLayout(for: layout) }

    var isEven: Bool { filter.isEven }
    func halo(in input: PixelRect) -> Halo { filter.halo(in: input) }

    func scale(in input: PixelRect) -> (x: Double, y: Double) { filter.scale(in: input) }

    func isRowLocal(in input: PixelRect) -> Bool { filter.isRowLocal(in: input) }

    func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double { filter.cost(layout, format) }

    func render(_ source: FilterSource, into destination: inout AnyRaster) throws {
        try watch.within(name) { try filter.render(source, into: &destination) }
    }
}
