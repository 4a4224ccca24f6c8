package import Catalogs
package import JobModel
package import JobStorage
import Synchronization

/// How an output is made: everything that determines its bytes except its input and the codecs' versions.
package struct Recipe: Hashable, Sendable, StoredJSON {
    /// A filter with its parameters.
    package struct Step: Hashable, Sendable, Codable {
        package let filter: String
        package let values: [String: ParameterValue]
        /// The rendering version of the filter. For a plugin, ` of ` and its own version follow: `2 of 1.0.3`. For `text`, the versions of
        /// the libraries that place its letters follow.
        package let version: String
    }

    package private(set) var steps: [Step]
    package let color: ColorPolicy
    /// The output's format, by its name in the catalog.
    package let format: String
    package private(set) var save: SaveOptions
    package let pages: PageChoice
    /// How finely PDF and SVG are drawn. Nil for 72.
    package let dpi: Int?
    /// Changes whenever the pixels of the steps around the filters change.
    package let version: String

    /// - Parameters:
    ///   - chain: from the input to the output.
    ///   - catalog: knows the filters' versions.
    package init(
        chain: [FilterInvocation], color: ColorPolicy, format: String, save: SaveOptions, pages: PageChoice,
        dpi: Int? = nil, catalog: Catalog
    ) {
        steps = chain.map { step in
            Step(filter: step.filter, values: step.values, version: Self.version(of: step.filter, catalog))
        }
        self.color = color
        self.format = format
        self.save = save
        // A page's number says which page it is, not how it is made.
        self.pages = pages.unnumbered
        self.dpi = dpi
        version = catalog.versions["rendering"] ?? ""
    }

    /// The same with the fallbacks of missing parameters and options. A parameter that was added later has a
    /// fallback that does what Penumbra did before.
    func complete(_ catalog: Catalog) -> Recipe {
        var recipe = self
        recipe.steps = steps.map { step in
            let fallbacks = catalog.filter(named: step.filter)?.fallbacks(beside: step.values) ?? [:]
            return Step(filter: step.filter, values: fallbacks.merging(step.values) { $1 }, version: step.version)
        }
        let fallbacks = Self.fallbacks(of: catalog.formats.first { $0.name == format }?.options ?? [])
        recipe.save = SaveOptions(
            metadata: save.metadata, background: save.background, dither: save.dither,
            precision: save.precision, depth: save.depth, color: save.color, texts: save.texts,
            values: fallbacks.merging(save.values) { $1 })
        return recipe
    }

    private static func fallbacks(of parameters: [ParameterDescriptor]) -> [String: ParameterValue] {
        Dictionary(parameters.compactMap { parameter in parameter.fallback.map { (parameter.name, $0) } }) { $1 }
    }

    /// A plugin has its own version in addition to the version of its pixels. A new version of a plugin may render a picture that
    /// the old one could not.
    private static func version(of filter: String, _ catalog: Catalog) -> String {
        let rendering = catalog.filter(named: filter).map { "\($0.renderingVersion)" } ?? ""
        return catalog.versions[filter].map { "\(rendering)\(Step.pluginSeparator)\($0)" } ?? rendering
    }
}

extension Recipe.Step {
    fileprivate static let pluginSeparator = " of "

    /// Whether other software than Penumbra, with a version of its own, makes its pixels, too.
    private var hasOwnVersion: Bool { version.contains(Self.pluginSeparator) }

    /// The rendering version, which changes only if the pixels change.
    private var renderingVersion: String {
        String(version.prefix(upTo: version.firstRange(of: Self.pluginSeparator)?.lowerBound ?? version.endIndex))
    }

    /// How the pixels of the same filter have changed since an older step. Nil if they have not changed. If only the version of a
    /// plugin is new, and not its rendering version, its pixels are the same.
    fileprivate func upgrade(from old: Recipe.Step, _ catalog: Catalog) -> RecipeUpgrade? {
        let (from, to) =
            hasOwnVersion == old.hasOwnVersion ? (old.renderingVersion, renderingVersion) : (old.version, version)
        guard from != to else { return nil }
        let isPlugin = hasOwnVersion && catalog.filter(named: filter)?.origin != .builtIn
        return RecipeUpgrade(
            pixels: "\(filter)'s pixels (rendering version \(from) → \(to))", plugin: isPlugin ? filter : nil)
    }
}

/// A change of pixels that the manifest does not ask for.
package struct RecipeUpgrade: Hashable, Sendable {
    /// `gaussian's pixels (rendering version 2 → 3)`
    package let pixels: String
    /// The filter, if a new version of a plugin made the change; nil for a new version of Penumbra.
    package let plugin: String?

    package init(pixels: String, plugin: String? = nil) {
        self.pixels = pixels
        self.plugin = plugin
    }
}

/// The differences between the recipe by which an output was made and the present one.
package struct RecipeComparison: Hashable, Sendable {
    /// Changes of the manifest: `radius 12 → 14`.
    package private(set) var changes: [String] = []
    /// Changes by other versions of filters and of Penumbra.
    package private(set) var upgrades: [RecipeUpgrade] = []

    package init(from old: Recipe, to new: Recipe, catalog: Catalog) {
        let words = Words(catalog: catalog, chain: new.steps)
        if old.steps.map(\.filter) == new.steps.map(\.filter) {
            for (old, new) in zip(old.steps, new.steps) {
                changes += words.differences(of: new.filter, old.values, new.values)
                if let upgrade = new.upgrade(from: old, catalog) { upgrades.append(upgrade) }
            }
        } else {
            changes.append("filters \(Self.names(old)) → \(Self.names(new))")
        }
        if old.version != new.version {
            let versions = "rendering version \(old.version) → \(new.version)"
            upgrades.append(RecipeUpgrade(pixels: "what is done around the filters (\(versions))"))
        }
        compare("color", old.color.rawValue, new.color.rawValue)
        compare("dpi", old.dpi.map { "\($0)" } ?? "72", new.dpi.map { "\($0)" } ?? "72")
        compare("format", old.format, new.format)
        compare("metadata", old.save.metadata.rawValue, new.save.metadata.rawValue)
        compare("background", "\(old.save.background)", "\(new.save.background)")
        compare("dither", "\(old.save.dither)", "\(new.save.dither)")
        if old.save.precision == .input, new.save.precision == .auto {
            // Recipes of earlier versions have no precision.
            upgrades.append(RecipeUpgrade(pixels: "the samples between filters (precision input → auto)"))
        } else {
            compare("precision", old.save.precision.rawValue, new.save.precision.rawValue)
        }
        compare("depth", old.save.depth.rawValue, new.save.depth.rawValue)
        compareColors(old.save.color, new.save.color)
        for field in MetadataTexts.Field.allCases {
            let (before, after) = (old.save.texts?[field] ?? [], new.save.texts?[field] ?? [])
            if before != after { changes.append("the \(field.rawValue) in 'set'") }
        }
        if old.pages != new.pages { changes.append("which pages of a file are read") }
        if old.format == new.format { changes += words.differences(ofFormat: new.format, old.save, new.save) }
    }

    private mutating func compareColors(_ old: OutputColor?, _ new: OutputColor?) {
        if let before = old?.profile, let after = new?.profile {
            if let change = before.change(to: after) { changes.append("save.color \(change)") }
        } else {
            compare("save.color", old?.words ?? "keep", new?.words ?? "keep")
        }
        guard let old, let new else { return }
        compare("intent", old.intent.rawValue, new.intent.rawValue)
        compare("black_point", "\(old.blackPoint)", "\(new.blackPoint)")
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

    /// A missing parameter was added after the recipe was written. Its fallback does what Penumbra did before.
    private func differences(
        _ descriptors: [ParameterDescriptor], _ old: [String: ParameterValue], _ new: [String: ParameterValue]
    ) -> [(name: String, change: String)] {
        Set(old.keys).union(new.keys).sorted().compactMap { name in
            let fallback = descriptors.first { $0.name == name }?.fallback
            let (before, after) = (old[name] ?? fallback, new[name] ?? fallback)
            if case .picture(let old)? = before, case .picture(let new)? = after {
                return old.change(to: new).map { (name, $0) }
            }
            if case .command(let old)? = before, case .command(let new)? = after, old != new,
                before?.words == after?.words
            {
                return (name, "\(new.program) has changed")
            }
            if before != after, let old = before?.regionCount, let new = after?.regionCount,
                max(old, new) > 1 || before?.hasOutlines == true && after?.hasOutlines == true
            {
                return (
                    name,
                    old == new ? "has other regions" : "has \(new) \(new == 1 ? "region" : "regions"), and had \(old)"
                )
            }
            return before == after ? nil : (name, "\(before?.words ?? "(none)") → \(after?.words ?? "(none)")")
        }
    }
}

/// The recipes of a run, and their comparisons with the recipes of published outputs.
///
/// Outputs are many and recipes are few. Each two recipes are compared once.
package final class RecipeTable: Sendable {
    private struct State {
        var recipes: [Recipe] = []
        var keys: [Recipe: RecipeKey] = [:]
        var texts: [[RecipeKey]: String] = [:]
        var comparisons: [Pair: RecipeComparison?] = [:]
    }

    private struct Pair: Hashable {
        let old: RecipeID
        let new: RecipeKey
    }

    private let catalog: Catalog
    /// The recipes by which outputs were made.
    private let texts: [RecipeID: String]
    private let state = Mutex(State())

    package init(catalog: Catalog, texts: [RecipeID: String]) {
        self.catalog = catalog
        self.texts = texts
    }

    /// The filters that are plugins.
    var plugins: Set<String> { catalog.pluginNames }

    package func key(of recipe: Recipe) -> RecipeKey {
        state.withLock { state in
            if let key = state.keys[recipe] { return key }
            let key = RecipeKey(index: state.recipes.count)
            state.recipes.append(recipe)
            state.keys[recipe] = key
            return key
        }
    }

    package subscript(key: RecipeKey) -> Recipe { state.withLock { $0.recipes[key.index] } }

    /// The recipes of all outputs of a frame, as one text.
    func text(of keys: [RecipeKey]) -> String {
        state.withLock { state in
            if let known = state.texts[keys] { return known }
            let text = keys.map { state.recipes[$0.index].text }.joined(separator: "\n")
            state.texts[keys] = text
            return text
        }
    }

    func isText(_ id: RecipeID, of keys: [RecipeKey]) -> Bool { texts[id] == text(of: keys) }

    /// Nil if the old recipe cannot be read any more.
    func comparison(from old: RecipeID, to new: RecipeKey) -> RecipeComparison? {
        state.withLock { state in
            let pair = Pair(old: old, new: new)
            if let known = state.comparisons[pair] { return known }
            let comparison = texts[old].flatMap(Recipe.init(text:)).map {
                RecipeComparison(from: $0, to: state.recipes[new.index], catalog: catalog)
            }
            state.comparisons[pair] = comparison
            return comparison
        }
    }
}

extension PictureReference {
    /// Nil if the bytes are equal, whatever the paths.
    fileprivate func change(to new: PictureReference) -> String? {
        if hasContent(of: new) { return nil }
        return path == new.path ? "\(path) has changed" : "\(path) → \(new.path)"
    }
}

extension ParameterValue {
    /// Nil for other values.
    fileprivate var regionCount: Int? {
        switch self {
        case .region: 1
        case .regions(let set): set.count
        default: nil
        }
    }

    /// Their words do not tell outlines apart.
    fileprivate var hasOutlines: Bool { if case .regions(let set) = self { !set.outlines.isEmpty } else { false } }
}

extension RegionSet {
    /// The regions in percent if they are those of a picture of a certain size, because a manifest has no size.
    fileprivate var regionsOfAnySize: [Region] {
        guard let size else { return regions }
        func part(_ length: Length, of whole: Double) -> Length {
            if case .pixels(let pixels) = length { .percent(100 * pixels / whole) } else { length }
        }
        return regions.map { region in
            let shorter = [region.width, region.height].map { side in
                if case .pixels(let pixels) = side { pixels } else { Double.infinity }
            }.reduce(Double.infinity) { min($0, $1) }
            return Region(
                x: part(region.x, of: Double(size.width)), y: part(region.y, of: Double(size.height)),
                width: part(region.width, of: Double(size.width)), height: part(region.height, of: Double(size.height)),
                cornerRadius: shorter.isFinite && shorter > 0
                    ? part(region.cornerRadius, of: shorter) : region.cornerRadius)
        }
    }
}

extension ParameterValue {
    /// The value as a manifest has it.
    package var words: String {
        switch self {
        case .number(let value): Self.number(value)
        case .pair(let x, let y): "{x: \(Self.number(x)), y: \(Self.number(y))}"
        case .integer(let value): "\(value)"
        case .boolean(let value): "\(value)"
        case .word(let word), .text(let word): word
        case .picture(let picture): picture.path
        case .pictureTemplate(let template): template.path
        case .command(let command):
            "[" + ([command.program] + command.arguments).map(ManifestWord.text).joined(separator: ", ") + "]"
        case .template(let template): template.written
        case .length(let length): Self.length(length)
        case .size(let size): "\(size)"
        case .region(let region): Self.region(region)
        case .regions(let set):
            "["
                + (set.regionsOfAnySize.map(Self.region) + set.outlines.map { "an outline of \($0.corners) corners" })
                .joined(separator: ", ") + "]"
        case .regionFile(let file):
            "{from: \(file.path), categories: [\(file.categories.joined(separator: ", "))], grow: \(Self.length(file.grow)), "
                + "corner_radius: \(Self.length(file.cornerRadius)), unlisted: \(file.unlisted.rawValue), "
                + "shape: \(file.shape.rawValue)}"
        case .path(let points):
            "[" + points.map { "{x: \(Self.length($0.x)), y: \(Self.length($0.y))}" }.joined(separator: ", ") + "]"
        case .numbers(let numbers):
            "{"
                + numbers.sorted { $0.key < $1.key }.map { "\($0.key): \(Self.number($0.value))" }.joined(
                    separator: ", ")
                + "}"
        case .color(let red, let green, let blue, let alpha):
            "#" + [red, green, blue, alpha].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }

    private static func region(_ region: Region) -> String {
        "{x: \(length(region.x)), y: \(length(region.y)), width: \(length(region.width)), "
            + "height: \(length(region.height)), corner_radius: \(length(region.cornerRadius))}"
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && value.magnitude < 1e15 ? String(Int(value)) : "\(value)"
    }

    private static func length(_ length: Length) -> String {
        switch length {
        case .pixels(let value): number(value)
        case .percent(let value): number(value) + "%"
        }
    }
}
