import Catalogs
import Filters
import Geometry
import GuardedMemory
import Kernels
import Raster

/// Runs a plugin as a filter: does for it all that has to do with edges, alpha, light, masks and sample formats.
struct PluginFilter: Filter {
    private let plugin: PluginDescription
    private let values: [Double]
    private let options: PluginOptions
    private let geometry: PluginGeometry
    private let isCancelled: CancellationQuestion
    private let memory = GuardedPool()
    let isIdentity: Bool

    init(
        _ plugin: PluginDescription, _ arguments: FilterArguments, isCancelled: CancellationQuestion
    ) throws(FilterError) {
        let values = try plugin.values(arguments)
        guard let geometry = PluginGeometry(plugin.functions, values) else {
            let reason = "the plugin asks for a halo or growth outside 0…16384; report this to its author"
            throw FilterError(filter: plugin.name, problem: .failed(reason: reason))
        }
        self.plugin = plugin
        self.values = values
        self.geometry = geometry
        self.isCancelled = isCancelled
        options = try PluginOptions(plugin, arguments)
        isIdentity =
            plugin.functions.isIdentity.map { ask in
                FloatingPointMode.kept { values.withUnsafeBufferPointer { ask($0.baseAddress) != 0 } }
            } ?? false
    }

    var edge: Edge { options.area?.edge ?? .clamp }
    var halo: Halo { geometry.halo(in: .empty) }
    var hasForeignGeometry: Bool { !geometry.isPlain }

    func halo(in input: PixelRect) -> Halo { geometry.halo(in: input) }

    func isRowLocal(in input: PixelRect) -> Bool {
        geometry.isPlain && (edge != .wrap || halo.top + halo.bottom == 0)
    }

    func extent(of input: PixelRect) -> PixelRect {
        geometry.extent(of: input) ?? options.area?.extent(of: input, growth: geometry.growth) ?? input
    }

    func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        guard geometry.isPlain else { return output.union(geometry.needed(for: output, in: input)) }
        return options.area?.needed(for: output, in: input, halo: halo) ?? output
    }

    func outputLayout(for layout: PixelLayout) -> PixelLayout { options.area?.outputLayout(for: layout) ?? layout }

    func render(_ source: FilterSource, into destination: inout AnyRaster) throws {
        let call = PluginCall(
            render: plugin.functions.render, values: values, image: source.extent, frame: source.frame,
            isCancelled: isCancelled, memory: memory)
        let rendering = PluginRendering(
            call: call, plugin: plugin, options: options, geometry: geometry, source: source)
        try naming {
            try geometry.check()
            try rendering.render(into: &destination)
        }
    }

    func checkGeometry() throws { try naming { try geometry.check() } }

    /// Puts the filter's name before what a plugin did.
    private func naming(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let problem as PluginProblem {
            throw FilterError(filter: plugin.name, problem: .failed(reason: problem.description))
        } catch let fault as PluginFault {
            throw FilterError(filter: plugin.name, problem: .fault(reason: fault.description))
        }
    }
}
