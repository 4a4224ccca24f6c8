import Catalogs
package import FilterKit

/// A plugin that is ready for use.
package struct LoadedPlugin: Sendable {
    package let path: String
    /// The plugin's own, for the catalog's list of versions.
    package let version: String
    package let entry: FilterEntry

    /// The filter's name.
    package var name: String { entry.descriptor.name }
}

/// Finds and opens plugins.
package enum PluginLoader {
    /// Opens every library named lib….so in `folders`, in their order and by name, that only its owner and group may
    /// write.
    ///
    /// - Parameters:
    ///   - folders: searched in this order; of two plugins with one name, the first stays.
    ///   - reservedNames: filters that no plugin may replace: the built-in ones.
    /// - Returns: the plugins, and one sentence for each file or folder that could not be used. One bad plugin never
    ///   keeps another from working.
    package static func load(
        folders: [PluginFolder], reservedNames: [String]
    ) -> (plugins: [LoadedPlugin], problems: [String]) {
        var search = PluginSearch(reservedNames: reservedNames)
        for folder in folders { search.visit(folder) }
        return (search.plugins, search.problems)
    }
}

/// What was found so far, and what was wrong with the rest.
private struct PluginSearch {
    let reservedNames: [String]
    private(set) var plugins: [LoadedPlugin] = []
    private(set) var problems: [String] = []

    init(reservedNames: [String]) {
        self.reservedNames = reservedNames
    }

    mutating func visit(_ folder: PluginFolder) {
        do {
            for path in try folder.libraries() where !plugins.contains(where: { $0.path == path }) {
                visit(path, isImplicit: folder.isImplicit)
            }
        } catch {
            problems.append("plugin folder \(folder.path) \(error)")
        }
    }

    private mutating func visit(_ path: String, isImplicit: Bool) {
        do throws(PluginProblem) {
            guard let plugin = try load(path, isImplicit: isImplicit) else { return }
            try checkName(of: plugin)
            plugins.append(plugin)
        } catch {
            problems.append("plugin \(path) \(error)")
        }
    }

    /// Nil for a library in an implicit folder that is no plugin.
    private func load(_ path: String, isImplicit: Bool) throws(PluginProblem) -> LoadedPlugin? {
        try PluginFolder.checkOwnership(of: path)
        switch try PluginLibrary.open(path) {
        case .plugin(let pointer):
            let description = try PluginDescription(pointer)
            let entry = FilterEntry(description.descriptor(path: path)) { try PluginFilter(description, $0) }
            return LoadedPlugin(path: path, version: description.version, entry: entry)
        case .somethingElse where isImplicit:
            return nil
        case .somethingElse:
            throw PluginProblem("does not export penumbra_plugin_entry; move it elsewhere if it is no plugin")
        }
    }

    private func checkName(of plugin: LoadedPlugin) throws(PluginProblem) {
        if reservedNames.contains(plugin.name) {
            throw PluginProblem("names its filter '\(plugin.name)', as a built-in one; rename it")
        }
        if let other = plugins.first(where: { $0.name == plugin.name }) {
            throw PluginProblem("names its filter '\(plugin.name)', as \(other.path) does; remove one of them")
        }
    }
}
