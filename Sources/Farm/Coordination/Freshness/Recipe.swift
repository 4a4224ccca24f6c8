package import Catalogs
package import JobModel
import JobStorage

/// How an output is made: all that its bytes depend on beside its input and the codecs' versions.
package struct Recipe: Hashable, Sendable, StoredJSON {
    /// A filter with its parameters.
    package struct Step: Hashable, Sendable, Codable {
        package let filter: String
        package let values: [String: ParameterValue]
        /// Changes with the filter's pixels.
        package let version: String
    }

    package private(set) var steps: [Step]
    package let color: ColorPolicy
    /// The output's format, by its name in the catalog.
    package let format: String
    package private(set) var save: SaveOptions
    package let pages: PageChoice
    /// Changes with the pixels of what is done around the filters.
    package let version: String

    /// - Parameters:
    ///   - chain: from the input to the output.
    ///   - catalog: knows the filters' versions.
    package init(
        chain: [FilterInvocation], color: ColorPolicy, format: String, save: SaveOptions, pages: PageChoice,
        catalog: Catalog
    ) {
        steps = chain.map { step in
            Step(filter: step.filter, values: step.values, version: Self.version(of: step.filter, catalog))
        }
        self.color = color
        self.format = format
        self.save = save
        // A page's number tells which page it is, not how it is made.
        self.pages = pages.unnumbered
        version = catalog.versions["rendering"] ?? ""
    }

    /// The same with the fallbacks of parameters and options that it does not give. (Those that came after it was written
    /// have fallbacks that do what was done before there were any.)
    func complete(_ catalog: Catalog) -> Recipe {
        var recipe = self
        recipe.steps = steps.map { step in
            let fallbacks = catalog.filter(named: step.filter)?.fallbacks(beside: step.values) ?? [:]
            return Step(filter: step.filter, values: fallbacks.merging(step.values) { $1 }, version: step.version)
        }
        let fallbacks = Self.fallbacks(of: catalog.formats.first { $0.name == format }?.options ?? [])
        recipe.save = SaveOptions(
            metadata: save.metadata, background: save.background, dither: save.dither,
            values: fallbacks.merging(save.values) { $1 })
        return recipe
    }

    private static func fallbacks(of parameters: [ParameterDescriptor]) -> [String: ParameterValue] {
        Dictionary(parameters.compactMap { parameter in parameter.fallback.map { (parameter.name, $0) } }) { $1 }
    }

    /// Plugins have a version of their own beside that of their pixels.
    private static func version(of filter: String, _ catalog: Catalog) -> String {
        let rendering = catalog.filter(named: filter).map { "\($0.renderingVersion)" } ?? ""
        return catalog.versions[filter].map { "\(rendering) of \($0)" } ?? rendering
    }
}
