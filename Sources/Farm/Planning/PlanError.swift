import JobModel

/// Why a job cannot start. Only folders have been listed so far; no file was read or written.
package enum PlanError: Error, Hashable, Sendable {
    case unreadableFolder(UnreadableFolder)
    /// The part of a glob before its first wildcard does not exist.
    case missingFolder(String, pattern: String)
    case missingFile(String)
    /// A link on the way to an entry of `inputs` has no target.
    case deadLink(DeadLink, pattern: String)
    /// An entry of `inputs` names a pipe, a socket or a device.
    case notAFile(String)
    /// An input is in an object store or on a server.
    case remotePath(String)
    case nothingMatched(patterns: [String], hints: [PatternHint] = [])
    /// The list of files with this name has no entries.
    case emptyList(String)
    /// Files matched, but `exclude` removed all of them. The count is 0 if only whole, unopened folders were removed.
    case allExcluded(count: Int)
    case allListedExcluded(count: Int)
    case patternTooWide(String)
    case collision(output: String, inputs: [String])
    /// Several outputs of one input have the same path.
    case ownCollision(output: String, input: String)
    /// The file system takes these different names of outputs for one file.
    case oneFile(outputs: [String], inputs: [String])
    /// An output would be inside a folder that is an output itself.
    case insideOutput(output: String, folder: String)
    /// An output would be a file at the path of a folder that another output needs.
    case folderOfAnother(output: String, other: String)
    /// A folder exists at the path of an output that is a file.
    case folderInTheWay(output: String)
    /// An input of a list would replace the output of another file, which still exists.
    case madeOfAnother(output: String, other: String)
    /// The file at an output's path is an input under another name.
    case linkedToInput(output: String, input: String)
    case overwritesInput(output: String, input: String)
    /// An output would replace a picture that a filter reads.
    case overwritesPicture(output: String, picture: String)
    case wouldBecomeInput(output: String, pattern: String, exclude: String)
    /// An output has the name of another output's receipt.
    case receiptInTheWay(output: String)
    case nameTooLong(output: String, input: String)
    case formatUnknown(extension: String, input: String, known: [String])

    /// Whether the inputs are missing (exit code 66) or the manifest asks for something impossible (65).
    package var isMissingInput: Bool {
        switch self {
        case .unreadableFolder, .missingFolder, .missingFile, .deadLink, .notAFile, .nothingMatched, .emptyList,
            .allExcluded, .allListedExcluded:
            true
        case .remotePath, .patternTooWide, .collision, .ownCollision, .oneFile, .insideOutput, .folderOfAnother,
            .folderInTheWay, .madeOfAnother, .linkedToInput, .overwritesInput, .overwritesPicture, .wouldBecomeInput,
            .receiptInTheWay,
            .nameTooLong, .formatUnknown:
            false
        }
    }

    /// Commands that lack options or a manifest, so that they need another remedy.
    package enum Front {
        case apply, preview
        /// A manifest that came as text, to a service or a library. Whoever has sent it may have no command line.
        case submission
    }

    /// ``message`` with a remedy that the command has.
    package func message(in front: Front) -> String {
        let remedy: String
        switch (front, self) {
        case (.apply, .nothingMatched), (.apply, .notAFile): remedy = "name picture files, or folders that hold some"
        case (.preview, .nothingMatched(_, let hints)) where hints.isEmpty: remedy = Self.previewRemedy
        case (.preview, .allExcluded): remedy = Self.previewRemedy
        case (.submission, .missingFolder), (.submission, .missingFile), (.submission, .deadLink):
            remedy = "is a disk not mounted, or the path misspelt?"
        case (.submission, .nothingMatched(_, let hints)) where hints.isEmpty:
            remedy = "correct 'inputs', or put pictures there"
        case (.submission, .allExcluded), (.submission, .allListedExcluded):
            remedy = "correct 'exclude', or put more pictures there"
        default: return message
        }
        return message.prefix { $0 != "\n" } + "\n   = \(remedy)"
    }

    private static let previewRemedy = "correct the manifest, or name a picture after it"

    private static let missingRemedy =
        "is a disk not mounted, or the path misspelt? If it was removed on purpose, 'penumbra run --allow-gone' continues "
        + "without it. If it may be away, --allow-empty does"

    package var message: String {
        switch self {
        case .unreadableFolder(let folder): folder.message
        case .missingFolder(let folder, let pattern):
            "\(PathText.visible(folder)): no such folder, wanted by the input '\(PathText.visible(pattern))'\n   = \(Self.missingRemedy)"
        case .missingFile(let path):
            "\(PathText.visible(path)): no such file or folder\n   = \(Self.missingRemedy)"
        case .deadLink(let link, let pattern):
            "\(link.message), wanted by the input '\(PathText.visible(pattern))'\n   = \(Self.missingRemedy)"
        case .notAFile(let path):
            "\(PathText.visible(path)): is a pipe, a socket or a device, and no picture file\n   = name files or folders in 'inputs'"
        case .remotePath(let path):
            Self.remotePath(path)
        case .nothingMatched(let patterns, let hints):
            "no file matches \(patterns.map { "'\(PathText.visible($0))'" }.joined(separator: ", "))"
                + (hints.isEmpty
                    ? "\n   = if that can happen, --allow-empty makes it no error"
                    : hints.map { "\n   = \($0.message)" }.joined())
        case .allExcluded(let count):
            "'exclude' leaves none of the \(count == 0 ? "" : "\(count) ")files that match 'inputs'\n   = if that can happen, --allow-empty makes "
                + "it no error"
        case .emptyList(let name):
            "\(PathText.visible(name)): the list names no file\n   = if that can happen, --allow-empty makes it no error"
        case .allListedExcluded(let count):
            "'exclude' leaves none of the \(count) listed files\n   = if that can happen, --allow-empty makes it no error"
        case .patternTooWide(let pattern):
            "the braces of '\(PathText.visible(pattern))' stand for over 1,000 names, or for names with over a million letters in all\n"
                + "   = use '*', or several patterns"
        case .collision(let output, let inputs):
            "\(inputs.count) inputs would be written to the one output \(PathText.visible(output)):\n"
                + inputs.prefix(5).map { "     \(PathText.visible($0))\n" }.joined()
                + (inputs.count > 5 ? "     …\n" : "")
                + "   = add \(Self.fields(telling: inputs)) to 'output', or exclude all but one"
        case .ownCollision(let output, let input):
            "\(PathText.visible(input)): several outputs would be written to \(PathText.visible(output))\n"
                + "   = give each entry of 'outputs' a path of its own, and put {frame} into all paths or none"
        case .oneFile(let outputs, let inputs):
            "\(inputs.count) inputs would be written to \(outputs.map(PathText.visible).joined(separator: " and ")), which are one "
                + "file here: this file system takes the names for the same\n   = rename all but one of the inputs, add {index} "
                + "to 'output', or exclude all but one"
        case .insideOutput(let output, let folder):
            "the output \(PathText.visible(output)) would lie in \(PathText.visible(folder)), a folder that is an output itself\n"
                + "   = write it to another folder: what is published as a folder holds nothing else"
        case .folderOfAnother(let output, let other):
            "the output \(PathText.visible(output)) would be a file in the place of a folder: \(PathText.visible(other)) is to be in "
                + "it\n   = add {ext} or {index} to 'output', or exclude one of the inputs"
        case .folderInTheWay(let output):
            "a folder is in the place of the output \(PathText.visible(output))\n   = move the folder away, or write to another folder"
        case .madeOfAnother(let output, let other):
            "\(PathText.visible(output)) was made of \(PathText.visible(other)), which is still there\n   = add {dir}, {ext} "
                + "or {index} to 'output'; --force replaces it"
        case .linkedToInput(let output, let input):
            "the output \(PathText.visible(output)) is the same file as the input \(PathText.visible(input)) (a hard link)\n   = "
                + "Penumbra never writes to its inputs: remove the output"
        case .overwritesInput(let output, let input):
            "the output \(PathText.visible(output)) would overwrite the input \(PathText.visible(input))\n   = Penumbra never writes to its inputs: "
                + "write to another folder"
        case .overwritesPicture(let output, let picture):
            "the output \(PathText.visible(output)) would overwrite \(PathText.visible(picture)), which a filter reads\n   = "
                + "Penumbra never writes to what it reads: write to another folder"
        case .wouldBecomeInput(let output, let pattern, let exclude):
            "the output \(PathText.visible(output)) would be an input of the next run, by '\(pattern)'\n   = add this to the manifest:\n"
                + "     exclude:\n       - \(exclude)"
        case .receiptInTheWay(let output):
            "the output \(PathText.visible(output)) is named like the receipt of another output\n   = give it another name, or "
                + "leave out 'receipts: sidecar'"
        case .nameTooLong(let output, let input):
            "the output's name for \(PathText.visible(input)) has over 255 bytes: \(PathText.visible(output))\n   = use {index} or {hash8} in place of {stem}"
        case .formatUnknown(let ext, let input, let known):
            "\(PathText.visible(input)): '{ext}' gives '.\(ext)', which Penumbra cannot write\n   = it writes "
                + known.map { ".\($0)" }.joined(separator: ", ") + "; name one of them in 'output'"
        }
    }

    /// The problem of one frame with its remedy, in one line that begins with the input.
    package func message(of input: String) -> String {
        let words =
            switch self {
            case .collision(let output, let inputs):
                "would be written to \(PathText.visible(output)), as would \(Self.others(inputs, than: input)); add "
                    + "\(Self.fields(telling: inputs)) to 'output', or exclude all but one"
            case .oneFile(let outputs, let inputs):
                "would be written to \(outputs.map(PathText.visible).joined(separator: " and ")), as would "
                    + "\(Self.others(inputs, than: input)): this file system takes the names for the same; rename or exclude all "
                    + "but one"
            case .ownCollision(let output, _):
                "several outputs would be written to \(PathText.visible(output)); give each entry of 'outputs' a path of its own, "
                    + "and put {frame} into all paths or none"
            case .insideOutput(let output, let folder):
                "the output \(PathText.visible(output)) would lie in \(PathText.visible(folder)), a folder that is an output itself; "
                    + "write it to another folder"
            case .folderOfAnother(let output, let other):
                "the output \(PathText.visible(output)) would be a file in the place of a folder: \(PathText.visible(other)) is to be "
                    + "in it; add {ext} or {index} to 'output', or exclude one of the inputs"
            case .folderInTheWay(let output):
                "a folder is in the place of the output \(PathText.visible(output)); move the folder away, or write to another folder"
            case .madeOfAnother(let output, let other):
                "would be written to \(PathText.visible(output)), which was made of \(PathText.visible(other)); add "
                    + "\(Self.fields(telling: [input, other])) to 'output'; --force replaces it"
            case .linkedToInput(let output, let linked):
                "the output \(PathText.visible(output)) is the same file as the input \(PathText.visible(linked)) (a hard link); "
                    + "Penumbra never writes to its inputs: remove the output"
            case .receiptInTheWay(let output):
                "the output \(PathText.visible(output)) is named like the receipt of another output; give it another name, or "
                    + "leave out 'receipts: sidecar'"
            case .nameTooLong(let output, _):
                "the output's name has over 255 bytes: \(PathText.visible(output)); use {index} or {hash8} in place of {stem}"
            case .formatUnknown(let ext, _, let known):
                "'{ext}' gives '.\(ext)', which Penumbra cannot write; it writes \(known.map { ".\($0)" }.joined(separator: ", "))"
            case .unreadableFolder, .missingFolder, .missingFile, .deadLink, .notAFile, .remotePath, .nothingMatched,
                .emptyList, .allExcluded, .allListedExcluded, .patternTooWide, .overwritesInput, .overwritesPicture,
                .wouldBecomeInput:
                message
            }
        return "\(input): \(words)"
    }

    /// The fields that give these inputs different outputs. The path of the output may have the others already.
    private static func fields(telling inputs: [String]) -> String {
        let folders = Set(inputs.map { PathKey(PathText.folder(of: $0)) })
        let extensions = Set(inputs.map { PathText.split(name: PathText.name(of: $0)).ext })
        let fields = (folders.count > 1 ? ["{dir}"] : []) + (extensions.count > 1 ? ["{ext}"] : [])
        return fields.isEmpty ? "{index}" : fields.joined(separator: ", ") + " or {index}"
    }

    /// A reader cannot tell names apart that look the same, so they are not listed.
    private static func others(_ inputs: [String], than input: String) -> String {
        let others = inputs.filter { PathKey($0) != PathKey(input) }.map(PathText.visible)
        guard let first = others.first else { return "another file whose name reads the same" }
        return others.count > 2
            ? "\(others.count) other inputs" : ([first] + others.dropFirst()).joined(separator: " and ")
    }

    /// The message for an entry of `inputs` and of a list alike.
    static func remotePath(_ path: String) -> String {
        "\(PathText.visible(path)): Penumbra reads files, not object stores or URLs\n   = mount the bucket or copy the "
            + "files first; the page 'Work with object stores' of the documentation shows how"
    }
}
