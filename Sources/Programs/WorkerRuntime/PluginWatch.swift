import Catalogs
import FilterKit
import Geometry
import Raster
import WorkerProtocol

/// Tells the coordinator when a plugin's code is about to run and when it has returned, so that a crash in it is laid
/// to its door by name.
struct PluginWatch: Sendable {
    let lease: LeaseID
    let channel: Channel

    func within<Result>(_ plugin: String, _ body: () throws -> Result) throws -> Result {
        try channel.send(.inPlugin(lease, plugin))
        let result = Swift.Result { try body() }
        try channel.send(.inPlugin(lease, nil))
        return try result.get()
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

    func halo(in input: PixelRect) -> Halo { filter.halo(in: input) }

    func scale(in input: PixelRect) -> (x: Double, y: Double) { filter.scale(in: input) }

    func isRowLocal(in input: PixelRect) -> Bool { filter.isRowLocal(in: input) }

    func cost(_ layout: PixelLayout, _ format: SampleFormat) -> Double { filter.cost(layout, format) }

    func render(_ source: FilterSource, into destination: inout AnyRaster) throws {
        try watch.within(name) { try filter.render(source, into: &destination) }
    }
}
