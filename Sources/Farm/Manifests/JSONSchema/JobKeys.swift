import Catalogs
import JobModel

/// All keys of a job. Keys with choices get them from the policies themselves.
enum JobKeys {
    static let properties: [(String, SchemaNode)] = all.map(\.property)

    static let all: [JobKey] = names + contents + policies + limits + [slurm]

    private static let names: [JobKey] = [
        JobKey(
            "job", "a name",
            "The name of the job: at most \(JobProblem.nameLength) letters (a-z, A-Z), digits, '.', '_' and '-'. It "
                + "begins with a letter or digit.",
            SchemaNode.any(of: [
                .text(matching: "[A-Za-z0-9][A-Za-z0-9._-]{0,\(JobProblem.nameLength - 1)}"),
                ["type": "number", "minimum": 0], ["type": "boolean"],
            ]), isRequired: true),
        JobKey("description", "a text", "One line about the job, for people.", .anyText),
    ]

    private static let contents: [JobKey] = [
        JobKey(
            "inputs", "paths or globs",
            "The pictures: files, folders with all pictures below them, or globs such as photos/**/*.jpg. Relative paths "
                + "start from the folder of the manifest.",
            SchemaNode.list(of: .path, atLeast: 1).adding(["examples": ["photos/**/*.jpg"]]), isRequired: true),
        JobKey(
            "exclude", "paths or globs", "Pictures that the job leaves out, although 'inputs' matches them.",
            .list(of: .nonEmptyText, atLeast: 0)),
        JobKey(
            "layers", "a list of pictures",
            "Pictures that lie over each input before its filters, the lowest first. Each item takes the parameters of the "
                + "filter '\(LayersReader.filter)'.",
            ["type": "array", "items": ["$ref": "#/$defs/filter.\(LayersReader.filter)"], "minItems": 1]),
        JobKey(
            "animate", "an animation with its parameters, or a list of animations",
            "The animation that Penumbra makes of each picture, after its filters. The animations of a list run at the same "
                + "time.", ["$ref": "#/$defs/animation"]),
        JobKey(
            "filters", "a list of filters",
            "The filters for each picture, in order. An item is a name, or a name with parameters. With `[]`, only the format changes.",
            ["$ref": "#/$defs/chain"]),
        JobKey(
            "output", "a path with fields",
            "The path of the output of each picture, from the folder of the manifest. Its extension chooses the format. "
                + "'penumbra help output-names' lists the fields.",
            ["$ref": "#/$defs/path"]),
        JobKey(
            "save", "options",
            "How the output is written. The options of its format are allowed, too: 'penumbra formats' lists them.",
            [:],
            inner: save),
        JobKey(
            "outputs", "a list of outputs",
            "Several outputs of each picture, at most \(OutputsReader.most), in place of 'output' and 'save'.",
            [
                "type": "array", "items": ["$ref": "#/$defs/output"], "minItems": 1,
                "maxItems": .number(Double(OutputsReader.most)),
            ], inner: outputs),
    ]

    /// The keys of an item of `outputs:`.
    static let outputs = [
        JobKey(
            "path", "a path with fields", "The path of this output, as in 'output'.", ["$ref": "#/$defs/path"],
            isRequired: true),
        JobKey(
            "filters", "a list of filters", "Filters for this output alone, after the filters of the job.",
            ["$ref": "#/$defs/chain"]),
        JobKey("save", "options", "How this output is written, as in 'save'.", [:]),
    ]

    /// The keys of `save:` that all formats have.
    static let save = [
        JobKey(
            "metadata", "a word, or a list of \(MetadataKind.allCases.map(\.rawValue).joined(separator: ", "))",
            "The metadata that an output keeps: a word, or a list of kinds of metadata.",
            .any(of: [
                .words(MetadataPolicy.words),
                ["type": "array", "items": .words(MetadataKind.allCases.map(\.rawValue)), "minItems": 1],
            ]), fallback: "keep", choices: MetadataPolicy.describedWords),
        JobKey(
            "background", "an opaque colour: white, #ff8800",
            "The colour behind transparent pixels if the format of the output has no transparency.",
            .color(isOpaque: true), fallback: "white"),
        JobKey(
            "dither", "true or false",
            "Whether filters compute with 16 bits, and a fine pattern hides the steps of smooth colours in 8 bits.",
            .boolean, fallback: false),
        JobKey(
            "precision", choices(ChainPrecision.words),
            "The samples that filters give each other. In a list of 'outputs' the fallback is 'input', because several "
                + "precisions need several decodings of a picture.",
            depths(ChainPrecision.allCases.map(\.rawValue)), fallback: "auto", choices: ChainPrecision.words),
        JobKey(
            "depth", choices(OutputDepth.words), "The samples of the output's file.",
            depths(OutputDepth.allCases.map(\.rawValue)), fallback: "input", choices: OutputDepth.words),
        JobKey(
            "color", "\(choices(OutputColor.describedWords)), or an .icc file",
            "The colour space of the output: a name, or the path of an ICC profile of RGB, gray or CMYK. Only JPEG and TIFF "
                + "hold CMYK.",
            .any(of: [
                .words(OutputColor.describedWords.map(\.word)), .text(matching: #"[\s\S]*\.[iI][cC][cCmM]"#),
            ]), fallback: "keep", choices: OutputColor.describedWords),
        JobKey(
            "intent", choices(RenderingIntent.words),
            "How colours become those of a profile with tables, such as one of a printer. Other spaces are converted in one "
                + "way.",
            .words(RenderingIntent.words.map(\.word)), fallback: "relative", choices: RenderingIntent.words),
        JobKey(
            "black_point", "true or false",
            "Whether the darkest colours move to the darkest ones of the profile, so that shadows keep their detail. It is "
                + "false with 'intent: absolute'.",
            .boolean, fallback: true),
        texts,
    ]

    private static let texts: JobKey = {
        let keys = MetadataTexts.Field.allCases.map { field in
            JobKey(
                field.rawValue, field.isList ? "a text, or a list of texts" : "a text", field.sentence,
                field.isList ? .any(of: [.nonEmptyText, .list(of: .nonEmptyText, atLeast: 1)]) : .nonEmptyText)
        }
        return JobKey(
            "set", "texts by their names",
            "Texts that each output gets in EXIF, XMP and IPTC, in place of those of its picture.",
            .mapping(keys.map(\.property)), inner: keys)
    }()

    private static func choices(_ words: [DescribedWord]) -> String { words.map(\.word).joined(separator: ", ") }

    /// Numbers of bits are words in Penumbra, and numbers in JSON.
    private static func depths(_ words: [String]) -> SchemaNode {
        .any(of: [.words(words), ["enum": .list([8, 16])]])
    }

    private static let policies: [JobKey] = [
        JobKey("color", ColorPolicy.keep, "The colour space that filters see and outputs keep."),
        JobKey("shard", ShardMode.auto, "Whether one worker renders a frame, or many workers render tiles of it."),
        JobKey("existing", ExistingPolicy.update, "What Penumbra does if a file exists at the path of an output."),
        JobKey("compare", ComparePolicy.stamp, "How Penumbra notices that a picture or an output has changed."),
        JobKey(
            "upgrade", UpgradePolicy.keep,
            "What Penumbra does with outputs if a newer version of Penumbra or of a plugin gives other pixels."),
        JobKey(
            "on_failure", FailedOutputPolicy.keep, "What becomes of the earlier outputs of a picture that fails now."),
        JobKey("durability", Durability.file, "When outputs are safe from a power failure."),
        JobKey("receipts", ReceiptPolicy.none, "Whether Penumbra writes a receipt beside each output."),
        JobKey("verify", VerifyLevel.digest, "How much Penumbra checks before it puts an output in place."),
        JobKey(
            "index", "a path that ends with .json",
            "A JSON file that Penumbra writes. It tells other programs which picture became which outputs.",
            .text(matching: #"[\s\S]*\.[jJ][sS][oO][nN]"#)),
    ]

    private static let limits: [JobKey] = [
        JobKey(
            "tile", "auto, or \(words(Policies.tileSides)) px", "The side of a tile in pixels.",
            .any(of: [.words(["auto"]), integer(Policies.tileSides)]), fallback: "auto"),
        JobKey(
            "retries", words(Policies.retryCounts),
            "How often Penumbra tries a task again after its first attempt failed.", integer(Policies.retryCounts),
            fallback: 2),
        JobKey(
            "timeout", "auto, or a time: 90s, 5m",
            "How long one attempt of a task may take. By default the time grows with the pixels of the task.",
            .any(of: [.words(["auto"]), .time(in: Policies.timeouts)]), fallback: "auto"),
        JobKey(
            "min_age", "a time: 5s",
            "Penumbra leaves files that changed within this time for the next run, because a program may still write them.",
            .time(in: Policies.ages), fallback: 0),
        JobKey(
            "max_failures", "off, a number of frames, or a share: 10%",
            "How many failed frames stop the job. A share never stops a job before its twentieth failure.",
            .any(of: [
                .words(["off"]), .integer(1, .max), .text(matching: #"\+?(?![0.]+%)(0|[1-9][0-9]?|100)(\.[0-9]+)?%"#),
            ]), fallback: "off"),
        expect,
        JobKey(
            "max_pixels", "a number of pixels: 500M", "Penumbra refuses pictures with more pixels.", .count,
            fallback: "2000M"),
        JobKey(
            "dpi", words(Policies.resolutions),
            "How finely PDF and SVG are drawn, in pixels for each inch. At 144, a picture is twice as wide and high as at 72.",
            integer(Policies.resolutions), fallback: 72),
    ]

    private static let expect: JobKey = {
        let keys = [
            JobKey(
                "at_least", "a number of pictures", "The job does not start if it finds fewer pictures.",
                .integer(1, .max)),
            JobKey(
                "at_most", "a number of pictures", "The job does not start if it finds more pictures.",
                .integer(1, .max)),
            JobKey(
                "loss", "a share: 10%",
                "The job does not start if more than this share of the pictures of the last whole run is gone.",
                .text(matching: #"\+?(100(\.0+)?|(0|[1-9][0-9]?)(\.[0-9]+)?)%"#)),
        ]
        return JobKey(
            "expect", "a number of pictures, or limits",
            "How many pictures the job has to find. With others it does not start, and changes nothing.",
            .any(of: [.integer(1, .max), .mapping(keys.map(\.property))]), inner: keys)
    }()

    /// Requests for the jobs of a cluster. A config file has the same block.
    static let slurm: JobKey = {
        let keys = [
            JobKey("partition", "a name", "The partition, or the queue, of the cluster's jobs.", .nonEmptyText),
            JobKey("account", "a name", "The account that pays for the cluster's jobs.", .nonEmptyText),
            JobKey("qos", "a name", "The quality of service of the cluster's jobs.", .nonEmptyText),
            JobKey(
                "time", "a time: 30m, 2h", "The time limit of an element of a job array.", .time(in: SlurmReader.times)),
            JobKey("memory", "bytes: 4G", "The memory of an element of a job array.", .bytes),
            JobKey(
                "coordinator_time", "a time: 2d", "The time limit of a job that continues a detached run.",
                .time(in: SlurmReader.times)),
            JobKey("coordinator_memory", "bytes: 2G", "The memory of a job that continues a detached run.", .bytes),
            JobKey(
                "cpus_per_task", words(SlurmReader.coreCounts), "The cores of an element. Each core gets one worker.",
                integer(SlurmReader.coreCounts)),
            JobKey(
                "throttle", words(SlurmReader.throttles), "How many elements of a job array may run at once.",
                integer(SlurmReader.throttles)),
            JobKey(
                "shard_seconds", "a time: 10m",
                "How long an element should work. Penumbra cuts the work into such parts.",
                .time(in: SlurmReader.shardTimes)),
            JobKey(
                "grace", "a time: 60s", "How long a shared file system may take to show a new file on another machine.",
                .time(in: SlurmReader.graces)),
            JobKey("folder", "a folder", "A folder that all nodes share, for the files of the run.", .path),
            JobKey(
                "arguments", "a list of texts", "Further arguments of sbatch, such as --constraint=fast.",
                .list(of: .nonEmptyText, atLeast: 0)),
        ]
        return JobKey(
            "slurm", "requests",
            "What the job asks of a cluster, with --engine slurm or --engine commands. It overrides the config file.",
            .mapping(keys.map(\.property)), inner: keys)
    }()

    private static func words(_ range: ClosedRange<Int>) -> String { "\(range.lowerBound) to \(range.upperBound)" }

    private static func integer(_ range: ClosedRange<Int>) -> SchemaNode {
        .integer(range.lowerBound, range.upperBound)
    }
}
