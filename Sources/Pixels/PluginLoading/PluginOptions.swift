import Catalogs
import Filters

/// What the host does around a plugin.
struct PluginOptions {
    /// Nil for a point filter, which has neither edges nor light.
    let area: AreaOptions?
    let within: Region?

    init(_ plugin: PluginDescription, _ arguments: FilterArguments) throws(FilterError) {
        switch plugin.kind {
        case .area: area = try AreaOptions(arguments)
        case .point, .geometry, .animation: area = nil  // the interface has plugins of areas and points
        }
        within = try arguments.region(AreaOptions.within.name)
    }
}

extension PluginDescription {
    /// What the plugin offers to a manifest: its own parameters and the host's.
    func descriptor(path: String) -> FilterDescriptor {
        let canGrow = functions.growth != nil
        let hosts: [ParameterDescriptor] =
            switch kind {
            case .point, .geometry, .animation: [AreaOptions.within]
            case .area where functions.extent != nil: [AreaOptions.edge, AreaOptions.light]
            case .area where canGrow: AreaOptions.parameters
            case .area: [AreaOptions.edge, AreaOptions.light, AreaOptions.within]
            }
        return FilterDescriptor(
            name: name, kind: kind, summary: summary, renderingVersion: renderingVersion,
            parameters: parameters + hosts, rules: (canGrow ? AreaOptions.rules : []) + needs,
            origin: .plugin(path: path))
    }

    /// The parameters' values as the plugin gets them: choices as indices, booleans as 0 or 1.
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
