package import Catalogs
import JobModel

extension Recipe {
    /// The recipe as a person would write it in a manifest: filters and output, without what a manifest may leave out.
    ///
    ///     filters:
    ///       - gaussian: {radius: 8}
    ///     output: /srv/web/a.webp
    ///     save: {quality: 90}
    ///
    /// - Parameters:
    ///   - output: the path of the output. Nil if there is none.
    ///   - catalog: knows fallbacks. Values of filters and formats that it does not know are all written.
    package func manifest(output: String?, catalog: Catalog) -> String {
        let filters = steps.prefix { catalog.filter(named: $0.filter)?.kind != .animation }
        let animations = steps.dropFirst(filters.count)
        var lines: [String] = []
        if !filters.isEmpty { lines.append("filters:") }
        lines += filters.map { "  - \(Self.entry($0, catalog))" }
        if animations.count == 1 { lines += animations.map { "animate: \(Self.flowEntry($0, catalog))" } }
        if animations.count > 1 { lines += ["animate:"] + animations.map { "  - \(Self.entry($0, catalog))" } }
        if color != .keep { lines.append("color: \(color.rawValue)") }
        if let dpi { lines.append("dpi: \(dpi)") }
        if let output { lines.append("output: \(ManifestWord.text(output))") }
        let save = saved(catalog)
        if !save.isEmpty { lines.append("save: \(Self.flow(save))") }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func entry(_ step: Step, _ catalog: Catalog) -> String {
        let values = given(step, catalog)
        return ManifestWord.key(step.filter) + (values.isEmpty ? "" : ": \(flow(values))")
    }

    private static func flowEntry(_ step: Step, _ catalog: Catalog) -> String {
        let values = given(step, catalog)
        return values.isEmpty ? ManifestWord.key(step.filter) : flow([(step.filter, flow(values))])
    }

    private static func flow(_ entries: [(name: String, value: String)]) -> String {
        "{" + entries.map { "\(ManifestWord.key($0.name)): \($0.value)" }.joined(separator: ", ") + "}"
    }

    /// The values without fallbacks, in the order of the filter's own documentation.
    private static func given(_ step: Step, _ catalog: Catalog) -> [(name: String, value: String)] {
        let descriptor = catalog.filter(named: step.filter)
        var values = step.values
        for name in step.values.keys.sorted() {
            var others = values
            others[name] = nil
            if let descriptor, descriptor.fallbacks(beside: others)[name] == values[name] { values = others }
        }
        return ordered(values, descriptor?.parameters ?? [])
    }

    private func saved(_ catalog: Catalog) -> [(name: String, value: String)] {
        let usual = SaveOptions()
        var entries: [(name: String, value: String)] = []
        if save.metadata != usual.metadata { entries.append(("metadata", save.metadata.rawValue)) }
        if save.background != usual.background, save.background.count == 3 {
            let color = ParameterValue.color(
                red: save.background[0], green: save.background[1], blue: save.background[2], alpha: 255)
            entries.append(("background", color.manifestWords))
        }
        if save.dither != usual.dither { entries.append(("dither", "\(save.dither)")) }
        if save.precision != (steps.count < 2 ? .input : .auto) {
            entries.append(("precision", save.precision.rawValue))
        }
        if save.depth != usual.depth { entries.append(("depth", save.depth.rawValue)) }
        if let color = save.color {
            entries.append(("color", ManifestWord.text(color.words)))
            let usual = OutputColor(color.space)
            if color.intent != usual.intent { entries.append(("intent", color.intent.rawValue)) }
            if color.blackPoint != usual.blackPoint, color.intent != .absolute {
                entries.append(("black_point", "\(color.blackPoint)"))
            }
        }
        if let texts = save.texts {
            let fields = texts.fields.map { field in
                let words = texts[field].map(ManifestWord.text)
                return (field.rawValue, field.isList ? "[\(words.joined(separator: ", "))]" : words.first ?? "''")
            }
            entries.append(("set", Self.flow(fields)))
        }
        let options = catalog.formats.first { $0.name == format }?.options ?? []
        let given = save.values.filter { name, value in options.first { $0.name == name }?.fallback != value }
        return entries + Self.ordered(given, options)
    }

    private static func ordered(
        _ values: [String: ParameterValue], _ descriptors: [ParameterDescriptor]
    ) -> [(name: String, value: String)] {
        let known = descriptors.map(\.name).filter { values[$0] != nil }
        let others = values.keys.filter { !known.contains($0) }.sorted()
        return (known + others).compactMap { name in values[name].map { (name, $0.manifestWords) } }
    }
}

extension ParameterValue {
    /// The value as YAML. A manifest that has it gets the same value.
    fileprivate var manifestWords: String {
        switch self {
        case .word(let word), .text(let word): ManifestWord.text(word)
        case .picture(let picture): ManifestWord.text(picture.path)
        // A comment would begin with '#'.
        case .color(let red, let green, let blue, 255):
            ManifestWord.quoted(
                String(ParameterValue.color(red: red, green: green, blue: blue, alpha: 255).words.prefix(7)))
        case .color: ManifestWord.quoted(words)
        default: words
        }
    }
}
