import JobModel

/// The problems of a job as a whole.
package enum JobProblem: Hashable, Sendable {
    case badName(String)
    case notInThisVersion(String, instead: String)
    /// A key of the job that belongs under `save:`.
    case belongsUnderSave(String, isSet: Bool)
    /// A filter's name used as a key of the job.
    case belongsUnderFilters(String)
    /// The same by `--set`. `paths` are the positions of that filter in the job, `filters` all filters of the job.
    ///
    /// `isFilter` is false for a name that only resembles a filter's.
    case belongsToFilter(String, isFilter: Bool, paths: [String], filters: [String])
    /// A key for a setting that manifests do not have.
    case decidedElsewhere(String, instead: String)

    // Several outputs.
    /// A key that has no meaning beside `outputs:`.
    case besideOutputs(String)
    case outputsNotAList(found: String)
    case layersNotAList(found: String)
    case layerNotAMapping(found: String)
    /// The installed worker has no filter for layers.
    case noLayersHere
    /// `color: keep` together with pictures over the inputs.
    case layersKeepColors
    /// An output in a wide colour space, of a job that works in sRGB because of a filter's parameter.
    case narrowColors(String, parameter: String, of: String)
    /// A filter's colour is in sRGB, but the pictures keep their own colour spaces.
    case colorsKeepColors(String)

    // Animations. `offered` are the names of those that there are.
    /// The installed worker has no animations.
    case noAnimationsHere
    case notOneAnimation(offered: [String])
    /// A later animation of a list has another value for a parameter of ``Timeline/sharedParameters``.
    case sharedByAnimations(String)
    case fadeNotFirst
    case noSuchFrame(Int, of: Int)
    /// Holds with '{frame}' in a name.
    case holdOfPictures
    case unknownAnimation(String, isFilter: Bool, nearest: String?, offered: [String])
    /// An animation's name used as a key of the job.
    case belongsUnderAnimate(String)
    /// There is no filter to fade, or none behind the one that changes the size.
    case nothingToFade(behind: String?)
    case frameInSomeNames
    /// `{frame}` in the names of some outputs, and not of this one. A warning, since a picture may have one page.
    case pagesInSomeNames
    /// `{frame}` in the name of a video, which holds all frames.
    case frameOfVideo(format: String)
    case holdsNoAnimation(known: [String])
    case tooManyFrames(format: String, fps: String, most: Int)
    case tooLongAnimation(frames: Int, most: Int)
    case tooManyToFade(Int, of: Int, behind: String?)
    /// `{frame}` in an output of a single frame.
    case frameOfSingle

    case tooManyOutputs(count: Int, most: Int)
    case outputTwice(path: String)

    // Saving. `owners` are the formats that have the option, `format` is the output's.
    case optionOfOtherFormat(String, owners: [String], format: String, known: [String])
    /// `other` is what the option needs, such as `palette: true`.
    case optionWithoutOther(String, other: String)
    case backgroundNotOpaque
    case ditheredDepth(String)
    case ditheredBytes
    case tooLongTexts(field: String, bytes: Int)
    case noPlaceForTexts(format: String, holders: [String])
    case unfitFieldOfAddress(String, name: String)
    /// Several outputs would have one address.
    case addressWithoutField(String, name: String)
    case impossibleExpectation(least: Int, most: Int)
    case depthOfOtherFormat(String, format: String, known: [String])
    /// An option that limits the samples, such as `palette: true`.
    case depthOfOption(String, option: String)
    case ditheredOption(String)
    /// A word in `color` of `save` that is no space.
    case unknownOutputColor(String, nearest: String?)
    /// `color: p3` as a key of the job.
    case colorOfOutputs(String)
    case noPlaceForProfile(color: String, format: String, holders: [String])
    case profileNotKept(color: String)
    /// `intent` or `black_point` without `color`.
    case withoutOutputColor(String)
    case blackPointOfAbsolute
    /// One kind of metadata instead of a word for all, or a list.
    case metadataNotListed(String)
    case indexNotJSON(String)
    /// A URL instead of a path.
    case remotePath(String, name: String)

    // Warnings.
    case sameNameForAll(inputs: String)
    case tilde(name: String)
}

extension JobProblem {
    var words: Words {
        switch self {
        case .badName(let name):
            Words(
                "\(name.quoted) is not a job's name",
                remedy: "use up to \(Self.nameLength) letters (a-z, A-Z), digits, '.', '_' and '-', beginning with "
                    + "a letter or digit" + proposal(for: name))
        case .notInThisVersion(let key, let instead):
            Words("\(key.quoted) is not part of this version", remedy: instead)
        case .belongsUnderSave(let key, let isSet):
            Words(
                "'\(key)' is an option of 'save'",
                remedy: isSet ? "did you mean save.\(key)?" : "write it below 'save:', indented")
        case .belongsUnderFilters(let name):
            Words("'\(name)' is a filter", remedy: "write it as an item below 'filters:': - \(name)")
        case .belongsToFilter(let name, let isFilter, let paths, let filters):
            Words(
                (isFilter ? "'\(name)' is a filter" : "the job has no key \(name.quoted)")
                    + (paths.isEmpty ? ", and the job has none of that name" : ", and filters are set by their place"),
                remedy: paths.isEmpty
                    ? (filters.isEmpty
                        ? "the job has no filters" : "its filters are \(filters.joined(separator: ", "))")
                    : "did you mean \(paths.joined(separator: " or "))?")
        case .decidedElsewhere(let key, let instead):
            Words("the job has no key \(key.quoted)", remedy: instead)

        case .besideOutputs(let key):
            Words(
                "'\(key)' cannot stand beside 'outputs'",
                remedy: key == "output"
                    ? "write it as an entry of 'outputs': - path: out/{stem}.png"
                    : "write it into the entries of 'outputs'")
        case .outputsNotAList(let found):
            Words(
                "'outputs' must be a list, and this is \(found)",
                remedy: "write each output as an item: - path: out/{stem}.png; a single one is 'output: out/{stem}.png'"
            )
        case .layersNotAList(let found):
            Words(
                "'layers' must be a list, and this is \(found)",
                remedy: "write each picture as an item, the lowest first: - picture: label.png")
        case .layerNotAMapping(let found):
            Words("a layer has parameters, and this is \(found)", remedy: "write its path as - picture: label.png")
        case .noLayersHere:
            Words("this installation has no layers", remedy: "install penumbra and penumbra-worker of one version")
        case .layersKeepColors:
            Words(
                "pictures that lie over each other need one colour space", remedy: "write 'color: srgb', or nothing")
        case .narrowColors(let space, let parameter, let filter):
            Words(
                "this output in \(space.quoted) has only colours of sRGB, because '\(parameter)' of '\(filter)' makes the whole job "
                    + "work in sRGB",
                remedy:
                    "write 'color: srgb' for the job if that is right; an output that needs more colours needs a job without it"
            )
        case .colorsKeepColors(let parameter):
            Words(
                "the colour of '\(parameter)' is one of sRGB, and the pictures may be of another colour space",
                remedy: "write 'color: srgb', or nothing; black, white and transparent are the same everywhere")
        case .noAnimationsHere, .notOneAnimation, .unknownAnimation, .belongsUnderAnimate, .nothingToFade,
            .frameInSomeNames, .holdsNoAnimation, .tooManyFrames, .tooLongAnimation, .tooManyToFade, .frameOfSingle,
            .sharedByAnimations, .fadeNotFirst, .noSuchFrame, .holdOfPictures:
            animationWords
        case .pagesInSomeNames:
            Words(
                "other outputs have '{frame}' in their names, and this one does not; a picture of several pages stops the job then",
                remedy: "write it into all names, for an output of each page, or into none")
        case .frameOfVideo(let format):
            Words(
                "'{frame}' stands for one picture of each frame, and \(format) holds all frames",
                remedy: "leave '{frame}' out of the name")
        case .tooManyOutputs(let count, let most):
            Words(
                "\(count) outputs are more than the \(most) that a job can have",
                remedy: "divide them into several jobs")
        case .outputTwice(let path):
            Words("two outputs have the path \(path.quoted)", remedy: "give each a path of its own")

        case .optionOfOtherFormat(let option, let owners, let format, let known):
            Words(
                "\(format) has no option '\(option)'",
                remedy: "it is an option of \(owners.enumeration); \(format) has "
                    + (known.isEmpty ? "none" : known.enumeration))
        case .optionWithoutOther(let option, let other):
            Words("'\(option)' has no effect without '\(other)'", remedy: "write '\(other)', or remove '\(option)'")
        case .metadataNotListed(let kind):
            Words(
                "'metadata' takes '\(kind)' in a list",
                remedy: "write [\(kind)], or [icc, \(kind)] to keep the colours' profile")
        case .impossibleExpectation(let least, let most):
            Words(
                "'at_most: \(most)' is below 'at_least: \(least)': no number of pictures is both",
                remedy: "make 'at_most' at least as large as 'at_least'")
        case .noPlaceForTexts(let format, let holders):
            Words(
                "\(format) has no place for the texts of 'set'",
                remedy: "\(holders.enumeration) have one; or leave 'set' out")
        case .unfitFieldOfAddress(let field, let name):
            Words(
                "'\(name)' cannot have {\(field)}, which is known only when the output is rendered, or differs from day to day",
                remedy: "it can have \(AddressTemplate.fields.map { "{\($0)}" }.enumeration)")
        case .addressWithoutField(let field, let name):
            Words(
                "'\(name)' has no {\(field)}, which the path of the output has: two outputs could have one address",
                remedy: "add {\(field)} to it")
        case .ditheredBytes:
            Words(
                "'precision: 8' does not go with 'dither', which makes 8 bits of finer samples",
                remedy: "leave one of them out")
        case .tooLongTexts(let field, let bytes):
            Words("the texts of '\(field)' have \(bytes) bytes, and 2000 fit", remedy: "write fewer or shorter ones")
        case .ditheredDepth(let depth):
            Words(
                "'depth: \(depth)' does not go with 'dither', which makes 8 bits of finer samples",
                remedy: "leave one of them out")
        case .depthOfOtherFormat(let depth, let format, let known):
            Words(
                "\(format) has no samples for 'depth: \(depth)'",
                remedy: "it has \(known.map { "'\($0)'" }.enumeration); tiff has all")
        case .depthOfOption(let depth, let option):
            Words("'depth: \(depth)' does not go with '\(option)'", remedy: "leave one of them out")
        case .ditheredOption(let option):
            Words(
                "'\(option)' does not go with 'dither', which makes 8 bits of finer samples",
                remedy: "leave one of them out")
        case .unknownOutputColor(let text, let nearest):
            Words(
                "'color' of 'save' has no colour space \(text.quoted)",
                remedy: (nearest.map { "did you mean '\($0)'? " } ?? "")
                    + "it takes \(OutputColor.describedWords.map(\.word).alternatives), or the path of an .icc file")
        case .colorOfOutputs(let text):
            Words(
                "'color' of the job is the space in which filters work: 'keep' or 'srgb'",
                remedy: "write 'color: \(text)' under 'save:' to convert the outputs")
        case .noPlaceForProfile(let color, let format, let holders):
            Words(
                "\(format) has no place for the profile of 'color: \(color)'",
                remedy: "\(holders.enumeration) have one; or write 'color: srgb'")
        case .profileNotKept(let color):
            Words(
                "'color: \(color)' needs its profile in the output, and 'metadata' leaves it out",
                remedy: "write 'metadata: icc', add icc to the list, or write 'color: srgb'")
        case .withoutOutputColor(let key):
            Words(
                "'\(key)' says how 'color' of 'save' converts colours, and there is no 'color'",
                remedy: "add 'color: srgb', or another colour space, or leave '\(key)' out")
        case .blackPointOfAbsolute:
            Words(
                "'black_point: true' does not go with 'intent: absolute', which keeps black as it is",
                remedy: "leave 'black_point' out, or write 'intent: relative'")
        case .backgroundNotOpaque:
            Words(
                "'background' must be opaque: it is what shows through transparency",
                remedy: "write a colour without alpha, such as white or '#1a2b3c'")

        case .remotePath(let path, let name):
            Words(
                "\(path.quoted) in '\(name)' is no path: Penumbra reads and writes files, not object stores or URLs",
                remedy:
                    "mount the bucket or copy the files; the page 'Work with object stores' of the documentation shows how"
            )
        case .indexNotJSON(let path):
            Words(
                "the index \(path.quoted) is not a JSON file", remedy: "write a path that ends in .json: out/index.json"
            )

        case .sameNameForAll(let inputs):
            Words(
                "all outputs get the same name, and \(inputs) may be several pictures",
                remedy: "put {stem}, {index} or {hash8} into the name")
        case .tilde(let name):
            Words("'~' in '\(name)' is an ordinary character, not the home folder", remedy: "write the whole path")
        }
    }

    /// Longer than any name that a person types. Names of folders and locks contain it.
    static let nameLength = 100

    /// The name with every invalid character replaced.
    private func proposal(for name: String) -> String {
        let fits = name.unicodeScalars.map { $0.fitsInJobName ? Character($0) : "-" }
        let trimmed = String(fits.drop { !($0.isLetter || $0.isNumber) }.prefix(Self.nameLength))
        return trimmed.isEmpty ? "" : ": '\(trimmed)'"
    }
}

extension Unicode.Scalar {
    /// One of `A-Z a-z 0-9 . _ -`.
    var fitsInJobName: Bool { isWordPart || self == "." }
}

extension JobProblem {
    /// The words of problems with `animate`.
    var animationWords: Words {
        switch self {
        case .notOneAnimation(let offered):
            Words(
                "'animate' takes an animation, or a list of them: \(offered.enumeration)",
                remedy: "write each as an item: - crossfade: {duration: 0.2}")
        case .sharedByAnimations(let name):
            Words(
                "all animations of a list have the same '\(name)', and the first one has another value",
                remedy: "write '\(name)' in the first one alone")
        case .fadeNotFirst:
            Words(
                "'crossfade' fades in the filters, and stands behind another animation",
                remedy: "write it once, as the first one of the list")
        case .noSuchFrame(let frame, let count):
            Words("there is no frame \(frame) of \(count)", remedy: "write a number up to \(count), or frame: last")
        case .holdOfPictures:
            Words(
                "pictures of frames have no times, and 'hold' sets times",
                remedy: "leave 'hold' out, or '{frame}' out of the name")
        case .unknownAnimation(let name, let isFilter, let nearest, let offered):
            Words(
                isFilter ? "'\(name)' is a filter, and makes no frames" : "there is no animation \(name.quoted)",
                remedy: (isFilter ? "write it under 'filters:'; " : nearest.map { "did you mean '\($0)'? " } ?? "")
                    + "'animate' takes \(offered.enumeration)")
        case .belongsUnderAnimate(let name):
            Words("'\(name)' is an animation", remedy: "write it under 'animate:', as animate: {\(name): …}")
        case .nothingToFade(let behind):
            Words(
                behind.map {
                    "'crossfade' fades in the filters behind '\($0)', which changes the size, and there are none"
                }
                    ?? "'crossfade' fades in filters, and there are none",
                remedy: "write them under 'filters:': - gaussian: {radius: 12}")
        case .frameInSomeNames:
            Words(
                "other outputs have '{frame}' in their names, and this one does not",
                remedy: "write it into all names, for a picture of each frame, or into none")
        case .holdsNoAnimation(let known):
            Words(
                "this output can hold no animation",
                remedy: "write one as \(known.alternatives), or a picture of each frame: out/{stem}-{frame:04}.png")
        case .tooManyFrames(let format, let fps, let most):
            Words(
                "\(fps) frames a second are more than the \(most) that \(format) can show",
                remedy: "write fps: \(most), or less")
        case .tooLongAnimation(let frames, let most):
            Words(
                "'duration' and 'fps' make \(frames) frames; an animation has at most \(most)",
                remedy: "make it shorter, or show fewer frames a second")
        case .tooManyToFade(let given, let count, let behind):
            Words(
                "'filters: \(given)' is more than the \(counted(count, "filter")) "
                    + (behind.map { "behind '\($0)', which changes the size" }
                        ?? "that there \(count == 1 ? "is" : "are")"),
                remedy: "write filters: \(count), or nothing")
        case .frameOfSingle:
            Words(
                "a single frame is made, and '{frame}' stands for each of several",
                remedy: "leave '{frame}' out of the name, or 'frame' out of the animation")
        default:
            Words(
                "this installation makes no animations", remedy: "install penumbra and penumbra-worker of one version")
        }
    }
}
