package import Catalogs
import JobModel

/// What has changed between the way that an output was made and the way that it would be made now.
package struct RecipeComparison: Hashable, Sendable {
    /// What the manifest says otherwise: `radius 12 → 14`.
    package private(set) var changes: [String] = []
    /// Filters that give other pixels in this version: `gaussian's pixels (rendering version 2 → 3)`.
    package private(set) var upgrades: [String] = []

    package init(from old: Recipe, to new: Recipe, catalog: Catalog) {
        let words = Words(catalog: catalog, chain: new.steps)
        if old.steps.map(\.filter) == new.steps.map(\.filter) {
            for (old, new) in zip(old.steps, new.steps) {
                changes += words.differences(of: new.filter, old.values, new.values)
                if old.version != new.version {
                    upgrades.append("\(new.filter)'s pixels (rendering version \(old.version) → \(new.version))")
                }
            }
        } else {
            changes.append("filters \(Self.names(old)) → \(Self.names(new))")
        }
        if old.version != new.version {
            upgrades.append("what is done around the filters (rendering version \(old.version) → \(new.version))")
        }
        compare("color", old.color.rawValue, new.color.rawValue)
        compare("format", old.format, new.format)
        compare("metadata", old.save.metadata.rawValue, new.save.metadata.rawValue)
        compare("background", "\(old.save.background)", "\(new.save.background)")
        compare("dither", "\(old.save.dither)", "\(new.save.dither)")
        if old.pages != new.pages { changes.append("which pages of a file are read") }
        if old.format == new.format { changes += words.differences(ofFormat: new.format, old.save, new.save) }
    }

    private mutating func compare(_ name: String, _ old: String, _ new: String) {
        if old != new { changes.append("\(name) \(old) → \(new)") }
    }

    private static func names(_ recipe: Recipe) -> String { recipe.steps.map(\.filter).joined(separator: ", ") }
}

private struct Words {
    let catalog: Catalog
    let chain: [Recipe.Step]

    func differences(
        of filter: String, _ old: [String: ParameterValue], _ new: [String: ParameterValue]
    ) -> [String] {
        let descriptors = catalog.filter(named: filter)?.parameters ?? []
        return differences(descriptors, old, new).map { name, change in
            let isPlain = chain.count { $0.values[name] != nil } <= 1
            return "\(isPlain ? name : "\(filter).\(name)") \(change)"
        }
    }

    func differences(ofFormat format: String, _ old: SaveOptions, _ new: SaveOptions) -> [String] {
        let descriptors = catalog.formats.first { $0.name == format }?.options ?? []
        return differences(descriptors, old.values, new.values).map { "\($0) \($1)" }
    }

    /// Pictures are what their bytes are, wherever they lie.
    private func change(from old: PictureReference, to new: PictureReference) -> String? {
        if old.hasContent(of: new) { return nil }
        return old.path == new.path ? "\(new.path) has changed" : "\(old.path) → \(new.path)"
    }

    /// An old recipe lacks parameters that came later; their fallbacks do what was done before there were any.
    private func differences(
        _ descriptors: [ParameterDescriptor], _ old: [String: ParameterValue], _ new: [String: ParameterValue]
    ) -> [(name: String, change: String)] {
        Set(old.keys).union(new.keys).sorted().compactMap { name in
            let fallback = descriptors.first { $0.name == name }?.fallback
            let (before, after) = (old[name] ?? fallback, new[name] ?? fallback)
            if case .picture(let old)? = before, case .picture(let new)? = after {
                return change(from: old, to: new).map { (name, $0) }
            }
            return before == after ? nil : (name, "\(before?.words ?? "(none)") → \(after?.words ?? "(none)")")
        }
    }
}
