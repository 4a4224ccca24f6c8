import Catalogs

/// Knows what a person means by a key that a job does not have: keys of later versions, keys that belong elsewhere,
/// and other tools' names.
struct ForeignKeys {
    let catalog: Catalog

    func problem(of entry: SyntaxNode.Entry) -> Problem? {
        let key = entry.key
        if let instead = Self.laterKeys[key] { return .job(.notInThisVersion(key, instead: instead)) }
        if let instead = Self.decidedElsewhere[key.lowercased()] {
            return .job(.decidedElsewhere(key, instead: instead))
        }
        if let filter = catalog.filter(named: key) {
            return .job(filter.kind == .animation ? .belongsUnderAnimate(key) : .belongsUnderFilters(key))
        }
        let options = catalog.formats.flatMap(\.options).map(\.name) + SaveReader.generalKeys
        return options.contains(key) ? .job(.belongsUnderSave(key)) : nil
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
