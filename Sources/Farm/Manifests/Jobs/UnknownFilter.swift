package import Catalogs

/// What to do about the name of a filter that there is not.
package struct UnknownFilter {
    private let name: String
    private let catalog: Catalog

    package init(_ name: String, in catalog: Catalog) {
        self.name = name
        self.catalog = catalog
    }

    package var remedy: String { plugins.remedy(nearest: nearest) }

    var problem: FilterProblem { .unknown(name, nearest: nearest, plugins: plugins) }

    private var plugins: UnusedPlugins {
        UnusedPlugins(
            refused: catalog.unpinnedPlugins.first { Self.folded($0.libraryName) == Self.folded(name) },
            broken: catalog.pluginProblems.count, unpinned: catalog.unpinnedPlugins.count)
    }

    private var nearest: String? {
        let names = catalog.filters.map(\.name)
        let alias = Self.aliases[name.lowercased()].flatMap { names.contains($0) ? $0 : nil }
        return alias ?? Suggestion.nearest(to: name, among: names)
    }

    /// A library is mostly named after its filter, but for hyphens and capitals.
    private static func folded(_ name: String) -> String { name.lowercased().filter { $0 != "-" && $0 != "_" } }

    /// Other tools' names for filters, in lower case. One is proposed where the catalog has the filter.
    private static let aliases = [
        "blur": "gaussian", "gaussian_blur": "gaussian", "gaussian-blur": "gaussian", "gaussianblur": "gaussian",
        "gaussblur": "gaussian", "gblur": "gaussian", "cigaussianblur": "gaussian",
        "motion_blur": "motion", "motion-blur": "motion", "motionblur": "motion", "cimotionblur": "motion",
        "box_blur": "box", "boxblur": "box", "ciboxblur": "box",
        "median_blur": "median", "medianblur": "median",
        "negate": "invert", "negative": "invert", "cicolorinvert": "invert",
    ]
}

/// Plugins that are there, and whose filters are not.
package struct UnusedPlugins: Hashable, Sendable {
    /// The one that the wanted filter is in, to judge by its name.
    let refused: UnpinnedPlugin?
    let broken: Int
    let unpinned: Int

    func remedy(nearest: String?) -> String {
        if let refused {
            return "\(refused.path) is there, and refused by 'plugins: pinned-only': add '\(refused.pin)' to "
                + "'plugin_pins' in the config file"
        }
        var counts: [String] = []
        if broken > 0 { counts.append("\(counted(broken, "plugin")) could not be loaded") }
        if unpinned > 0 { counts.append("\(counted(unpinned, "plugin")) refused for want of a pin") }
        return (nearest.map { "did you mean '\($0)'? " } ?? "")
            + "`penumbra filters` lists the filters your workers offer"
            + (counts.isEmpty ? "" : " (\(counts.joined(separator: ", ")))")
    }
}
