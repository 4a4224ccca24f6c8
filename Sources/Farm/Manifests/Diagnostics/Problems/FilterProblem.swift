/// The problems of a filter of the chain, or of its parameters.
package enum FilterProblem: Hashable, Sendable {
    // Entries of the list.
    case notAList(found: String)
    case notAnEntry(found: String)
    case severalInEntry(first: String, second: String)
    /// `name: gaussian`, as other tools write it.
    case nameAsValue(key: String, filter: String)
    /// An override names a filter, but the manifest has another one there.
    case otherFilterThere(written: String, present: String)
    /// Entries of `animate:`.
    case animationInChain(String)
    case unknown(String, nearest: String?, plugins: UnusedPlugins)
    /// `gaussian: 12`. `example` is the long form. Nil for a filter without parameters.
    case valueInsteadOfParameters(filter: String, found: String, example: String?)

    // Parameters.
    case givenTwice(parameter: String, names: [String])
    case emptyRegion(side: String)
    case tooManyRegions(parameter: String, most: Int)
    /// `{date}` in the path of a file with regions.
    case fieldOfRegionFile
    /// `reason` says why the file at `path` cannot be used.
    case regionFileUnusable(path: String, whole: String, reason: String)
    case noRegions(parameter: String, found: String)
    case regionFileInList(parameter: String)
    /// Regions are places in the whole picture, and an earlier filter moves its pixels.
    case movedRegions(filter: String, mover: String)
    case lonely(parameter: String, others: [String])
    case notBelow(parameter: String, other: String)
    case implied(parameter: String, value: String, other: String, required: String, found: String)
    case excluded(parameter: String, value: String, other: String)
    case replaced(parameter: String, other: String)
    /// `reason` says why the file at `path` cannot be used.
    /// It is a table of colours, or else a picture.
    case pictureUnusable(
        parameter: String, path: String, whole: String, isTable: Bool = false, isOpen: Bool = false, reason: String)
    /// A worker cannot make the filter, and gives the reason.
    case impossible(filter: String, reason: String)

    // Warnings.
    case zeroRadius(filter: String)
    /// A worker found that the filter changes nothing.
    case changesNothing(filter: String)
    case fewSamples(samples: Int, gap: Double)
    /// `other` has the value `value`, but the parameter has an effect only with `words`.
    case withoutEffect(parameter: String, other: String, value: String, words: [String])
    /// A length without a unit, where the author may have meant percent.
    case pixelsWithoutUnit(parameter: String, written: String)
    /// Less than one percent, where other tools take parts of 1.
    case tinyPercent(parameter: String, written: String, meant: String)
}

extension FilterProblem {
    var words: Words {
        switch self {
        case .notAList(let found):
            Words("'filters' must be a list, not \(found)", remedy: "begin each filter with '- ' on a line of its own")
        case .notAnEntry(let found):
            Words(
                "a filter is a name, or a name with parameters, not \(found)",
                remedy: "write - name, or - name: {parameter: value}")
        case .severalInEntry(let first, let second):
            Words(
                "'\(second)' is in the same list item as '\(first)'",
                remedy: "each filter needs its own '- '; parameters of '\(first)' are indented deeper than its name")
        case .nameAsValue(let key, let filter):
            Words(
                "a filter's name stands before its colon, not behind '\(key):'",
                remedy: "write - \(filter): with the parameters indented below it")
        case .otherFilterThere(let written, let present):
            Words(
                "the filter here is '\(present)', not \(written.quoted)",
                remedy: Suggestion.nearest(to: written, among: [present]).map { "did you mean '\($0)'?" }
                    ?? "name '\(present)', or set the whole filter to another one")
        case .animationInChain(let name):
            Words(
                "'\(name)' makes frames of a picture, and is no item of 'filters'",
                remedy: "write it under 'animate:', as animate: {\(name): …}")
        case .unknown(let name, let nearest, let plugins):
            Words("unknown filter \(name.quoted)", remedy: plugins.remedy(nearest: nearest))
        case .valueInsteadOfParameters(let filter, let found, let example):
            Words(
                "'\(filter)' takes parameters with their names, not \(found)",
                remedy: example.map { "write \(filter): \($0)" } ?? "it has none: write - \(filter)")

        case .givenTwice(let parameter, let names):
            Words(
                "\(names.map { "'\($0)'" }.enumeration) are the same parameter, '\(parameter)'",
                remedy: "remove one of them")
        case .emptyRegion(let side):
            Words("the region's '\(side)' must be more than 0", remedy: "write a length such as 200 or 50%")
        case .tooManyRegions(let parameter, let most):
            Words("'\(parameter)' has more than \(most) regions", remedy: "use a mask: a picture that is white there")
        case .fieldOfRegionFile:
            Words(
                "the path of a file with regions has the fields {dir}, {stem} and {ext}, and no others",
                remedy: "write from: faces/{stem}.json, or one file for all pictures")
        case .regionFileUnusable(let path, let whole, let reason):
            Words(
                "the file with regions, \(path.quoted): \(reason)",
                remedy: "write the path of a JSON file that Penumbra can read"
                    + (path == whole ? "" : "; this one leads to \(whole)"))
        case .noRegions(let parameter, let found):
            Words(
                "'\(parameter)' takes a region, a list of regions, or a file, not \(found)",
                remedy: "write {x: 10%, y: 10%, width: 50%, height: 50%}, or {from: faces.json} for a file")
        case .regionFileInList(let parameter):
            Words(
                "a file with regions is no item of a list",
                remedy: "write \(parameter): {from: …} alone; the same filter with other regions may follow")
        case .movedRegions(let filter, let mover):
            Words(
                "the regions of '\(filter)' are places in the picture as it is in its file, and '\(mover)' before it moves them",
                remedy: "write '\(filter)' before '\(mover)'")
        case .lonely(let parameter, let others):
            Words(
                "'\(parameter)' has no effect without \(others.map { "'\($0)'" }.alternatives)",
                remedy: "add \(others.count == 1 ? "it" : "one of them"), or remove '\(parameter)'")
        case .notBelow(let parameter, let other):
            Words(
                "'\(parameter)' must be smaller than '\(other)'",
                remedy:
                    "write a smaller '\(parameter)', or a larger '\(other)'; one that is not written has its usual value"
            )
        case .implied(let parameter, let value, let other, let required, let found):
            Words(
                "'\(parameter): \(value)' needs '\(other): \(required)', not '\(found)'",
                remedy: "remove '\(other)': it is '\(required)' then")
        case .excluded(let parameter, let value, let other):
            Words("'\(other)' does not go with '\(parameter): \(value)'", remedy: "remove one of them")
        case .replaced(let parameter, let other):
            Words("'\(other)' does not go with '\(parameter)'", remedy: "remove one of them")
        case .pictureUnusable(let parameter, let path, let whole, let isTable, let isOpen, let reason):
            Words(
                "the \(isTable ? "table" : "picture") of '\(parameter)', \(path.quoted): \(reason)",
                remedy: (isTable && isOpen
                    ? "correct the .cube file, export it once more, or write the path of another one"
                    : "write the path of a \(isTable ? ".cube file" : "picture") that Penumbra can read")
                    + (path == whole ? "" : "; this one leads to \(whole)"))
        case .impossible(let filter, let reason):
            Words("'\(filter)' does not work with these values: \(reason)", remedy: "change a value")

        case .zeroRadius(let filter):
            Words("'\(filter)' with a radius of 0 changes no pixel", remedy: "remove it, or give it a radius")
        case .changesNothing(let filter):
            Words("'\(filter)' with these values changes no pixel", remedy: "remove it, or change a value")
        case .withoutEffect(let parameter, let other, let value, let words):
            Words(
                "'\(parameter)' has no effect with '\(other): \(value)'",
                remedy: "remove it" + (words.isEmpty ? "" : ", or write '\(other): \(words.alternatives)'"))
        case .tinyPercent(let parameter, let written, let meant):
            Words(
                "'\(parameter): \(written)' is \(written) %, next to nothing",
                remedy: "write \(parameter): \(meant) if a part of 1 is meant")
        case .pixelsWithoutUnit(let parameter, let written):
            Words(
                "'\(parameter): \(written)' is \(written) px, not \(written)%",
                remedy: "write \(written)% if percent are meant, and \(written)px if pixels are")
        case .fewSamples(let samples, let gap):
            Words(
                "\(counted(samples, "sample")) over so long a radius show as ghosts, \(gap.plain) px apart",
                remedy: "`samples: continuous` is smooth")
        }
    }
}
