import CPenumbraPlugin
import Glibc

/// A filter's description in C structures, which live as long as the library.
enum CDescription {
    static func make(_ type: any Filter.Type) -> UnsafePointer<penumbra_plugin> {
        let description = type.description
        let parameters = UnsafeMutableBufferPointer<penumbra_parameter>.allocate(
            capacity: max(1, description.parameters.count))
        for (index, parameter) in description.parameters.enumerated() {
            parameters.initializeElement(at: index, to: penumbra_parameter(parameter.definition))
        }
        let plugin = UnsafeMutablePointer<penumbra_plugin>.allocate(capacity: 1)
        plugin.initialize(to: Self.description(of: type, description, UnsafePointer(parameters.baseAddress)))
        return UnsafePointer(plugin)
    }

    private static func description(
        of type: any Filter.Type, _ description: FilterDescription, _ parameters: UnsafePointer<penumbra_parameter>?
    ) -> penumbra_plugin {
        let isArea = type is any TileFilter.Type
        let movesPixels = type is any GeometryFilter.Type
        let all = PENUMBRA_U8 | PENUMBRA_U16 | PENUMBRA_F32
        return penumbra_plugin(
            abi: PENUMBRA_PLUGIN_ABI, struct_size: UInt32(MemoryLayout<penumbra_plugin>.size),
            name: lasting(description.name), version: lasting(description.version),
            summary: lasting(description.summary), rendering_version: UInt32(clamping: description.renderingVersion),
            kind: penumbra_kind(isArea || movesPixels ? PENUMBRA_AREA : PENUMBRA_POINT),
            formats: penumbra_format(all), parameter_count: UInt32(description.parameters.count),
            parameter_size: UInt32(MemoryLayout<penumbra_parameter>.stride), parameters: parameters,
            halo: isArea ? ExportedFilter.halo : nil,
            growth: type is any SpreadingFilter.Type ? ExportedFilter.growth : nil, render: ExportedFilter.render,
            is_identity: ExportedFilter.isIdentity, extent: movesPixels ? ExportedFilter.extent : nil,
            region_of_interest: movesPixels ? ExportedFilter.regionOfInterest : nil)
    }

    /// A copy that is never freed.
    fileprivate static func lasting(_ text: String) -> UnsafePointer<CChar>? { UnsafePointer(strdup(text)) }

    /// Words, and a null pointer behind them.
    fileprivate static func lasting(_ words: [String]) -> UnsafePointer<UnsafePointer<CChar>?>? {
        let list = UnsafeMutableBufferPointer<UnsafePointer<CChar>?>.allocate(capacity: words.count + 1)
        for (index, word) in words.enumerated() { list.initializeElement(at: index, to: lasting(word)) }
        list.initializeElement(at: words.count, to: nil)
        return UnsafePointer(list.baseAddress)
    }
}

extension penumbra_parameter {
    fileprivate init(_ parameter: ParameterDefinition) {
        self.init(
            name: CDescription.lasting(parameter.name), kind: 0, minimum: 0, maximum: 0,
            fallback: parameter.fallback, choices: nil,
            unit: parameter.unit.isEmpty ? nil : CDescription.lasting(parameter.unit),
            summary: CDescription.lasting(parameter.summary),
            needed: parameter.needs.flatMap { CDescription.lasting($0.choice) },
            needed_words: parameter.needs.flatMap { CDescription.lasting($0.words) })
        switch parameter.kind {
        case .number(let range):
            kind = penumbra_parameter_kind(PENUMBRA_NUMBER)
            (minimum, maximum) = (range.lowerBound, range.upperBound)
        case .integer(let range):
            kind = penumbra_parameter_kind(PENUMBRA_INTEGER)
            (minimum, maximum) = (Double(range.lowerBound), Double(range.upperBound))
        case .boolean:
            kind = penumbra_parameter_kind(PENUMBRA_BOOLEAN)
        case .choice(let words):
            kind = penumbra_parameter_kind(PENUMBRA_CHOICE)
            choices = CDescription.lasting(words)
        }
    }
}
