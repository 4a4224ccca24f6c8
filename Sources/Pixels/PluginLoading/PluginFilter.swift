import Catalogs
import FilterKit
import Geometry
import Kernels
import Raster

/// Runs a plugin as a filter: does for it all that has to do with edges, alpha, light, masks and sample formats.
struct PluginFilter: Filter {
    private let plugin: PluginDescription
    private let values: [Double]
    private let options: PluginOptions
    private let growth: Halo
    let halo: Halo

    init(_ plugin: PluginDescription, _ arguments: FilterArguments) throws(FilterError) {
        let values = try plugin.values(arguments)
        guard let halo = Halo(plugin.functions.halo, values: values),
            let growth = Halo(plugin.functions.growth, values: values)
        else {
            let reason = "the plugin asks for a halo or growth outside 0…16384; report this to its author"
            throw FilterError(filter: plugin.name, problem: .failed(reason: reason))
        }
        self.plugin = plugin
        self.values = values
        self.halo = halo
        self.growth = growth
        options = try PluginOptions(plugin, arguments)
    }

    let isIdentity = false
    var edge: Edge { options.area?.edge ?? .clamp }

    func extent(of input: PixelRect) -> PixelRect { options.area?.extent(of: input, growth: growth) ?? input }

    func needed(for output: PixelRect, in input: PixelRect) -> PixelRect {
        options.area?.needed(for: output, in: input, halo: halo) ?? output
    }

    func outputLayout(for layout: PixelLayout) -> PixelLayout { options.area?.outputLayout(for: layout) ?? layout }

    func render(_ source: FilterSource, into destination: inout AnyRaster) throws {
        let mask = options.within.map { RoundedRect($0, in: source.extent) }
        let area = mask?.bounds(in: destination.rect) ?? destination.rect
        let light = options.area?.light ?? .encoded
        let original = PixelReader(source.pixels, layout: destination.layout, light: light)
        if mask != nil { source.pixels.copyPixels(to: &destination) }
        guard !area.isEmpty else { return }
        let result = try result(source, original, area, destination)
        if let mask {
            var sink = MaskedWriter(destination.take(), mask: mask, original: original)
            result.write(to: &sink, light: light)
            destination = sink.raster
        } else if case .stored(let raster) = result {
            destination = raster
        } else {
            var sink = PixelWriter(destination.take(), light: light)
            result.write(to: &sink, light: light)
            destination = sink.raster
        }
    }

    /// Gives the plugin the pixels that its kind gets. `destination` only says their layout and sample format.
    private func result(
        _ source: FilterSource, _ original: PixelReader, _ area: PixelRect, _ destination: AnyRaster
    ) throws -> PluginResult {
        let call = PluginCall(render: plugin.functions.render, values: values, image: source.extent)
        let (layout, format) = (destination.layout, destination.format)
        let isArea = options.area != nil
        do {
            if isArea, layout.hasAlpha || original.light == .linear {
                let floats = original.floats(in: area.expanded(by: halo))
                return .working(try call.render(.f32(floats), area: area), full: format.full)
            }
            var stored = AnyRaster(zeroed: area.expanded(by: halo), layout: layout, format: format)
            source.pixels.copyPixels(to: &stored)
            let taken = plugin.formats.contains(format) ? stored : stored.converted(to: .f32)
            let written = try call.render(taken, area: area).converted(to: format)
            return .stored(written.clearingTransparent())
        } catch let problem as PluginProblem {
            throw FilterError(filter: plugin.name, problem: .failed(reason: problem.description))
        }
    }
}
