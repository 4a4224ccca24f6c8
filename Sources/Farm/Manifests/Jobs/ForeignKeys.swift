import Catalogs

/// Knows the meaning of keys that a job does not have: keys of later versions, keys that belong elsewhere, and other
/// tools' names.
struct ForeignKeys {
    let catalog: Catalog
    /// The value of the job's `filters`.
    let filters: SyntaxNode?
    /// The value of the job's `outputs`, which may have filters of their own.
    let outputs: SyntaxNode?

    func problem(of entry: SyntaxNode.Entry) -> Problem? {
        let key = entry.key
        if let instead = Self.laterKeys[key] { return .job(.notInThisVersion(key, instead: instead)) }
        if let instead = Self.decidedElsewhere[key.lowercased()] {
            return .job(.decidedElsewhere(key, instead: instead))
        }
        if let filter = catalog.filter(named: key) {
            if filter.kind != .animation, isSet(entry) { return .job(problem(of: entry, called: key)) }
            return .job(filter.kind == .animation ? .belongsUnderAnimate(key) : .belongsUnderFilters(key))
        }
        let options = catalog.formats.flatMap(\.options).map(\.name) + SaveReader.generalKeys
        if options.contains(key) { return .job(.belongsUnderSave(key, isSet: isSet(entry))) }
        // Keys of the job are no filters, so a misspelt key resembles them more than a filter.
        guard isSet(entry), case .mapping = entry.value.content,
            let name = Suggestion.nearest(to: key, among: mentions.map(\.name))
        else { return nil }
        return .job(problem(of: entry, called: name))
    }

    /// Whether it was given by `--set`.
    private func isSet(_ entry: SyntaxNode.Entry) -> Bool { entry.keySpan.source != .file }

    /// The probable positions of the filter that `--set gaussian.radius=3` means.
    private func problem(of entry: SyntaxNode.Entry, called name: String) -> JobProblem {
        var (path, value) = ("", entry.value)
        while case .mapping(let mapping) = value.content, mapping.entries.count == 1 {
            path += ".\(mapping.entries[0].key)"
            value = mapping.entries[0].value
        }
        let paths = mentions.filter { $0.name == name }.map { "\($0.path).\(name)\(path)" }
        return .belongsToFilter(
            entry.key, isFilter: entry.key == name, paths: paths, filters: mentions.map(\.name))
    }

    /// The job's filters and those of its outputs in order, as far as they can be read.
    private var mentions: [(name: String, path: String)] {
        var result = Self.mentions(in: filters, path: "filters")
        guard case .sequence(let items)? = outputs?.content else { return result }
        for (index, item) in items.enumerated() {
            guard case .mapping(let mapping) = item.content else { continue }
            result += Self.mentions(in: mapping["filters"], path: "outputs[\(index)].filters")
        }
        return result
    }

    private static func mentions(in chain: SyntaxNode?, path: String) -> [(name: String, path: String)] {
        guard case .sequence(let items)? = chain?.content else { return [] }
        return items.enumerated().map { index, item in
            let first = if case .mapping(let mapping) = item.content { mapping.entries.first?.key } else { item.text }
            return (first ?? "", "\(path)[\(index)]")
        }
    }

    /// Planned keys, and what to use instead.
    private static let laterKeys = [
        "plugins": "name plugin folders in the config file: they belong to a machine, not to a job"
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
