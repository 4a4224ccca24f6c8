import Catalogs
package import JobModel

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
    /// `{date}` in the path of a picture that each input has of its own.
    case fieldOfPicture(parameter: String)
    /// `reason` says why the file at `path` cannot be used.
    case regionFileUnusable(path: String, whole: String, reason: String)
    case noRegions(parameter: String, found: String)
    case regionFileInList(parameter: String)
    /// Regions are places in the whole picture, and an earlier filter moves its pixels.
    case movedRegions(filter: String, mover: String)
    /// The pictures of a parameter belong to whole inputs, and an earlier filter moves their pixels.
    case movedPictures(parameter: String, filter: String, mover: String)
    /// The filter measures the picture as it is in its file, and another filter is right before it.
    case lateMeasure(filter: String, before: String)
    case lonely(parameter: String, others: [String])
    /// - `usual`: the one of the two that is not written, with its value.
    case notBelow(parameter: String, other: String, usual: Unwritten?)
    case implied(parameter: String, value: String, other: String, required: String, found: String)
    case excluded(parameter: String, value: String, other: String)
    case replaced(parameter: String, other: String)
    /// `reason` says why the file at `path` cannot be used.
    case pictureUnusable(
        parameter: String, path: String, whole: String, kind: NamedFileKind = .picture, isOpen: Bool = false,
        reason: String)
    /// The folder of the manifest is called like a field of a path.
    case fieldInFolder(parameter: String, folder: String)
    /// Regions of a file that would become smaller.
    case shrunkRegions(parameter: String, text: String)
    /// The folder with a picture of each input is not there.
    case folderOfPictures(parameter: String, path: String, folder: String)
    /// The settings do not list the program. `sameFile` is the name of a listed one, if its path was written.
    case programNotAllowed(String, sameFile: String?, nearest: String?, allowed: [String])
    /// The settings list the program, but its file cannot be executed.
    case programUnusable(String, path: String, reason: String)
    case longCommand(arguments: Int, bytes: Int)
    case zeroInArgument
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
    /// A parameter that a manifest does not give.
    package struct Unwritten: Hashable, Sendable {
        let parameter: String
        /// Its usual value.
        let value: String
    }
}

extension FilterProblem {
    /// What an administrator adds to which file, and what may be named instead.
    private static func remedy(
        forProgram name: String, sameFile: String?, nearest: String?, allowed: [String]
    ) -> String {
        if let sameFile { return "write its name in the settings, '\(sameFile)', and not its path" }
        if let nearest { return "did you mean '\(nearest)'? allowed are \(allowed.map { "'\($0)'" }.enumeration)" }
        // The program may be written as a path, or with its arguments. Keys have no dots.
        let words = name.split(separator: " ")
        let file = words.first?.split(separator: "/").last ?? "name"
        let key = String(file.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") ? $0 : "-" }).cut(to: 40)
        let separate = words.count > 1 ? "write each argument as an item of its own, as in [\(key), -x]; " : ""
        return separate
            + "an administrator allows it by 'programs: {\(key): /path/of/the/program}' in /etc/penumbra/penumbra.yaml, and a user "
            + "in ~/.config/penumbra/penumbra.yaml; "
            + (allowed.isEmpty ? "none is allowed yet" : "allowed are \(allowed.map { "'\($0)'" }.enumeration)")
    }

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
        case .fieldOfPicture(let parameter):
            Words(
                "the path of '\(parameter)' has the fields {dir}, {stem} and {ext}, and no others",
                remedy: "write \(parameter): masks/{stem}.png, or the path of one picture for all inputs")
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
        case .movedPictures(let parameter, let filter, let mover):
            Words(
                "the pictures of '\(parameter)' of '\(filter)' belong to the pictures as they are in their files, and '\(mover)' "
                    + "before it moves these",
                remedy: "write '\(filter)' before '\(mover)'")
        case .lateMeasure(let filter, let before):
            Words(
                "'\(filter)' measures the picture as it is in its file, and '\(before)' before it changes the picture",
                remedy: filter == before ? "use it once" : "write '\(filter)' before '\(before)'")
        case .lonely(let parameter, let others):
            Words(
                "'\(parameter)' has no effect without \(others.map { "'\($0)'" }.alternatives)",
                remedy: "add \(others.count == 1 ? "it" : "one of them"), or remove '\(parameter)'")
        case .notBelow(let parameter, let other, let usual):
            Words(
                "'\(parameter)' must be smaller than '\(other)'",
                remedy: "write a smaller '\(parameter)', or a larger '\(other)'"
                    + (usual.map { "; '\($0.parameter)' is \($0.value) if it is not written" } ?? ""))
        case .implied(let parameter, let value, let other, let required, let found):
            Words(
                "'\(parameter): \(value)' needs '\(other): \(required)', not '\(found)'",
                remedy: "remove '\(other)': it is '\(required)' then")
        case .excluded(let parameter, let value, let other):
            Words("'\(other)' does not go with '\(parameter): \(value)'", remedy: "remove one of them")
        case .replaced(let parameter, let other):
            Words("'\(other)' does not go with '\(parameter)'", remedy: "remove one of them")
        case .pictureUnusable(let parameter, let path, let whole, let kind, let isOpen, let reason):
            Words(
                "the \(kind.noun) of '\(parameter)', \(path.quoted): \(reason)",
                remedy: kind.remedy(isOpen: isOpen) + (path == whole ? "" : "; this one leads to \(whole)"))
        case .fieldInFolder(let parameter, let folder):
            Words(
                "the folder of the manifest, \(folder.quoted), has a field in its name, which '\(parameter)' would fill in",
                remedy: "rename the folder")
        case .shrunkRegions(let parameter, let text):
            Words(
                "'\(parameter)' cannot be \(text.cut(to: 60)), because it makes regions larger",
                remedy: "write 0 or more; for smaller regions, change them in their file")
        case .folderOfPictures(let parameter, let path, let folder):
            Words(
                "the pictures of '\(parameter)', \(path.quoted): there is no folder \(folder.quoted)",
                remedy: "look for a misspelt name, or mount its disk")
        case .programNotAllowed(let name, let sameFile, let nearest, let allowed):
            Words(
                "the settings of this machine allow no program \(name.quoted)",
                remedy: Self.remedy(forProgram: name, sameFile: sameFile, nearest: nearest, allowed: allowed))
        case .programUnusable(let name, let path, let reason):
            Words(
                "the program '\(name)', \(path.quoted): \(reason)",
                remedy: "correct its path under 'programs' in the config file, or correct the file")
        case .longCommand(let arguments, let bytes):
            Words(
                "the command has \(counted(arguments, "argument")) and \(bytes) bytes",
                remedy: "it may have \(ProgramCommand.mostArguments) arguments and \(ProgramCommand.mostBytes) bytes; "
                    + "let the program read more from a file of its own")
        case .zeroInArgument:
            Words("an argument has the character U+0000", remedy: "remove it: no program can get it")
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

extension NamedFileKind {
    fileprivate var noun: String {
        switch self {
        case .picture: "picture"
        case .table: "table"
        case .font: "font"
        case .profile: "profile"
        }
    }

    /// - Parameter isOpen: whether the file could be opened, so that its content is wrong.
    fileprivate func remedy(isOpen: Bool) -> String {
        switch self {
        case .picture: "write the path of a picture that Penumbra can read"
        case .table:
            isOpen
                ? "correct the .cube file, export it once more, or write the path of another one"
                : "write the path of a .cube file that Penumbra can read"
        case .font:
            isOpen
                ? "write the path of another .ttf or .otf file"
                : "write the path of a .ttf or .otf file that Penumbra can read; Debian has its fonts in /usr/share/fonts"
        case .profile: "write the path of an ICC profile of RGB, gray or CMYK; CMYK suits JPEG and TIFF"
        }
    }
}
