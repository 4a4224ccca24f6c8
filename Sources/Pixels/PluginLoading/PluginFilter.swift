import Catalogs
import Filters
import Geometry
import GuardedMemory
import Kernels
import Raster

/// Runs a plugin as a filter. It handles edges, alpha, light, masks and sample formats for the plugin.
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
    ) throws {
        let values = try plugin.values(arguments)
        try Self.check(values, plugin)
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

    private static func check(_ values: [Double], _ plugin: PluginDescription) throws(FilterError) {
        do {
            try plugin.functions.check(values)
        } catch let fault as PluginFaultError {
            throw FilterError(filter: plugin.name, problem: .fault(reason: fault.description))
        } catch {
            throw FilterError(filter: plugin.name, problem: .failed(reason: "\(error)"))
        }
    }

    var masking: MaskOptions? { options.masking }
    var edge: Edge { options.area?.edge ?? .clamp }
    var halo: Halo { geometry.halo(in: .empty) }
    var hasForeignGeometry: Bool { !geometry.isPlain }

    func halo(in input: PixelRect) -> Halo { geometry.halo(in: input) }

    func isRowLocal(in input: PixelRect) -> Bool { geometry.isPlain && (edge != .wrap || halo.top + halo.bottom == 0) }

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

    /// Adds the filter's name to a plugin's errors.
    private func naming(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let problem as PluginError {
            throw FilterError(filter: plugin.name, problem: .failed(reason: problem.description))
        } catch let fault as PluginFaultError {
            throw FilterError(filter: plugin.name, problem: .fault(reason: fault.description))
        }
    }
}

/// The host's parameters for a plugin.
struct PluginOptions {
    /// Nil for a point filter, which has neither edges nor light.
    let area: AreaOptions?
    /// Nil for the whole picture.
    let masking: MaskOptions?

    init(_ plugin: PluginDescription, _ arguments: FilterArguments) throws {
        let masks = plugin.masks
        switch plugin.kind {
        case .area: area = try AreaOptions(arguments, masks: masks)
        case .point, .geometry, .animation: area = nil  // the interface has only area and point plugins
        }
        masking = try area.map(\.masking) ?? MaskOptions(arguments, of: masks)
    }
}

extension PluginDescription {
    /// The host's parameters that limit the filter to a part of the picture. A parameter of the plugin takes the place of one with its name.
    /// A filter that chooses its extent has none.
    var masks: [ParameterDescriptor] {
        guard functions.extent == nil else { return [] }
        let own = Set(parameters.map(\.name))
        // A mask without its place, or a place without its mask, would be of no use.
        let hasMask = MaskOptions.pictureParameters.contains { own.contains($0.name) }
        return (hasMask ? MaskOptions.parametersWithoutMask : MaskOptions.parameters)
            .filter { !own.contains($0.name) }
    }

    /// The plugin's descriptor: its own parameters and the host's.
    func descriptor(path: String) -> FilterDescriptor {
        let canGrow = functions.growth != nil
        let hosts: [ParameterDescriptor] =
            switch kind {
            case .point, .geometry, .animation: masks
            case .area where canGrow: [AreaOptions.edge, AreaOptions.extent, AreaOptions.light] + masks
            case .area: [AreaOptions.edge, AreaOptions.light] + masks
            }
        return FilterDescriptor(
            name: name, kind: kind, summary: summary, renderingVersion: renderingVersion,
            parameters: parameters + hosts,
            rules: (canGrow ? AreaOptions.rules(with: masks) : MaskOptions.rules(of: masks)) + needs,
            origin: .plugin(path: path),
            hasOwnGeometry: functions.extent != nil || functions.regionOfInterest != nil)
    }

    /// The parameters' values for the plugin: choices as indices, booleans as 0 or 1.
    func values(_ arguments: FilterArguments) throws(FilterError) -> [Double] {
        var values: [Double] = []
        for parameter in parameters {
            switch parameter.kind {
            case .choice(let words):
                let word = try arguments.word(parameter.name)
                values.append(Double(words.firstIndex(of: word) ?? 0))
            case .boolean:
                values.append(try arguments.boolean(parameter.name) ? 1 : 0)
            default:
                values.append(try arguments.number(parameter.name))
            }
        }
        return values
    }
}

/// The rendering of one rectangle of a plugin's output.
struct PluginRendering {
    let call: PluginCall
    let plugin: PluginDescription
    let options: PluginOptions
    let geometry: PluginGeometry
    let source: FilterSource

    /// The most bytes of a point filter's input for one call. With the output they fit into the second-level cache, so that
    /// copies to and from guarded memory cost little. Smaller sizes would use a faster cache, but every call has a cost.
    private static let callBytes = 192 << 10
    /// The smallest number of rows of a call. Filters that share work between rows, such as a coarse grain, repeat it for
    /// every call. So a wide picture is divided into columns, too.
    private static let callRows = 64

    private var isPoint: Bool { options.area == nil }
    private var light: Light { options.area?.light ?? .encoded }

    func render(into destination: inout AnyRaster) throws {
        guard let mask = options.masking?.mask(in: source.extent) else {
            if takesStoredPixels(of: destination) { return try renderStored(into: &destination) }
            let result = try result(for: destination.rect, like: destination)
            return result.replace(&destination, light: light, curve: source.pixels.curve)
        }
        let areas = mask.parts(in: destination.rect)
        let original = PixelReader(source.pixels, layout: destination.layout, light: light)
        source.pixels.copyPixels(to: &destination)
        guard !areas.isEmpty else { return }
        let results = try areas.map { try result(for: $0, like: destination) }
        var sink = MaskedWriter(destination.take(), mask: mask, original: original)
        for result in results { result.write(to: &sink, light: light) }
        destination = sink.raster
    }

    /// Whether the plugin supports the picture's samples, so that they are only copied.
    private func takesStoredPixels(of destination: AnyRaster) -> Bool {
        let layout = source.pixels.raster.layout
        return plugin.formats.contains(destination.format) && destination.layout == layout
            && (isPoint || !layout.hasAlpha && light == .encoded)
    }

    private func renderStored(into destination: inout AnyRaster) throws {
        let (layout, format) = (destination.layout, destination.format)
        for area in calls(for: destination.rect, pixelBytes: layout.channels * format.bytes) {
            let read = try geometry.source(for: area, in: source)
            try call(source: read, area: area, layout: layout, format: format) { rows in
                source.pixels.copyRows(read, to: rows.start, pitch: rows.pitch)
            } collect: { rows in
                destination.takeRows(of: area, from: rows, clearsTransparent: isPoint)
            }
        }
    }

    /// The parts of `whole` that are rendered by one call each.
    private func calls(for whole: PixelRect, pixelBytes: Int) -> [PixelRect] {
        guard !whole.isEmpty else { return [] }
        guard isPoint else { return [whole] }
        let rowBytes = whole.width * pixelBytes
        let height = min(max(Self.callRows, Self.callBytes / rowBytes), whole.height)
        let parts = (height * rowBytes + Self.callBytes - 1) / Self.callBytes
        let width = (whole.width + parts - 1) / parts
        // The parts of a column have one shape, which guarded memory keeps from call to call.
        return stride(from: whole.x, to: whole.right, by: width).flatMap { left in
            stride(from: whole.y, to: whole.bottom, by: height).map { top in
                PixelRect(
                    columns: left..<min(left + width, whole.right), rows: top..<min(top + height, whole.bottom))
            }
        }
    }

    /// Passes the pixels for its kind to the plugin, converted to a format that it supports.
    private func result(for area: PixelRect, like destination: AnyRaster) throws -> PluginResult {
        let (layout, format) = (destination.layout, destination.format)
        let read = try geometry.source(for: area, in: source)
        if !isPoint, layout.hasAlpha || light == .linear {
            let reader = PixelReader(source.pixels, layout: layout, light: light)
            return .working(try render(.f32(reader.floats(in: read)), area: area), full: format.full)
        }
        var stored = AnyRaster(zeroed: read, layout: layout, format: format)
        source.pixels.copyPixels(to: &stored)
        let taken = plugin.formats.contains(format) ? stored : stored.converted(to: .f32)
        let written = try render(taken, area: area).converted(to: format)
        return .stored(isPoint ? written.clearingTransparent() : written)
    }

    private func render(_ taken: AnyRaster, area: PixelRect) throws -> AnyRaster {
        var result = AnyRaster(zeroed: area, layout: taken.layout, format: taken.format)
        let pixels = KernelSource(taken)
        try call(source: taken.rect, area: area, layout: taken.layout, format: taken.format) { rows in
            pixels.copyRows(taken.rect, to: rows.start, pitch: rows.pitch)
        } collect: { rows in
            result.takeRows(of: area, from: rows, clearsTransparent: false)
        }
        return result
    }
}
