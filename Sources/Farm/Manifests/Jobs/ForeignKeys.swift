import Catalogs

/// Knows what a person means by a key that a job does not have: keys of later versions, keys that belong elsewhere,
/// and other tools' names.
struct ForeignKeys {
    let catalog: Catalog
    /// The value of the job's `filters`.
    let filters: SyntaxNode?

    func problem(of entry: SyntaxNode.Entry) -> Problem? {
        let key = entry.key
        if let instead = Self.laterKeys[key] { return .job(.notInThisVersion(key, instead: instead)) }
        if let instead = Self.decidedElsewhere[key.lowercased()] {
            return .job(.decidedElsewhere(key, instead: instead))
        }
        if let filter = catalog.filter(named: key) {
            if filter.kind != .animation, entry.keySpan.source != .file, let names {
                return .job(place(of: entry, among: names))
            }
            return .job(filter.kind == .animation ? .belongsUnderAnimate(key) : .belongsUnderFilters(key))
        }
        let options = catalog.formats.flatMap(\.options).map(\.name) + SaveReader.generalKeys
        return options.contains(key) ? .job(.belongsUnderSave(key)) : nil
    }

    /// Where `--set gaussian.radius=3` may have meant the filter to be.
    private func place(of entry: SyntaxNode.Entry, among names: [String]) -> JobProblem {
        var (path, value) = ("", entry.value)
        while case .mapping(let mapping) = value.content, mapping.entries.count == 1 {
            path += ".\(mapping.entries[0].key)"
            value = mapping.entries[0].value
        }
        let places = names.indices.filter { names[$0] == entry.key }.map { "filters[\($0)].\(entry.key)\(path)" }
        return .filterHasPlace(entry.key, places: places, filters: names)
    }

    /// Of the job's filters, in their order; nil where they cannot be read.
    private var names: [String]? {
        guard case .sequence(let items)? = filters?.content else { return nil }
        return items.map { item in
            if case .mapping(let mapping) = item.content { mapping.entries.first?.key ?? "" } else { item.text ?? "" }
        }
    }

    /// Keys that are planned, and what to do until then.
    private static let laterKeys = [
        "plugins": "name plugin folders in the configuration file: they belong to a machine, not to a job"
    ]

    private static let decidedElsewhere = [
        "workers": "the number of workers is a flag: --workers",
        "threads": "the number of workers is a flag: --workers",
        "parallel": "the number of workers is a flag: --workers",
        "format": "the format comes from the output's extension",
        "overwrite": "write 'existing: overwrite'",
        "force": "write 'existing: overwrite'",
        "version": "remove it: manifests have no version",
    ]
}

extension JobTyper {
    /// Other tools' names for a job's keys, in lower case.
    static let aliases = [
        "name": "job", "title": "job", "id": "job",
        "input": "inputs", "images": "inputs", "files": "inputs", "source": "inputs", "sources": "inputs",
        "src": "inputs",
        "excludes": "exclude", "ignore": "exclude",
        "filter": "filters", "chain": "filters", "pipeline": "filters", "effects": "filters", "steps": "filters",
        "operations": "filters",
        "out": "output", "destination": "output", "dest": "output", "target": "output",
        "options": "save", "encode": "save",
        "animation": "animate",
        "colour": "color", "colorspace": "color", "color_space": "color",
        "tile_size": "tile", "tilesize": "tile",
        "attempts": "retries", "retry": "retries",
        "if_exists": "existing", "on_existing": "existing",
        "check": "verify", "summary": "description",
    ]
}
