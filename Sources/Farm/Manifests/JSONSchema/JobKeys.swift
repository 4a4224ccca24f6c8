import JobModel

/// The schemas of a job's keys. Keys with choices get them from the policies themselves.
enum JobKeys {
    static let properties: [(String, SchemaNode)] = names + contents + policies + limits + folders

    private static let names: [(String, SchemaNode)] = [
        (
            "job",
            SchemaNode.any(of: [
                .text(matching: "[A-Za-z0-9][A-Za-z0-9._-]{0,\(JobProblem.nameLength - 1)}"),
                ["type": "number", "minimum": 0], ["type": "boolean"],
            ]).adding(["description": "The job's name: letters, digits, '.', '_' and '-'"])
        ),
        ("description", SchemaNode.anyText.adding(["description": "A line about the job"])),
    ]

    private static let contents: [(String, SchemaNode)] = [
        (
            "inputs",
            SchemaNode.list(of: .path, atLeast: 1)
                .adding([
                    "description": "Files, folders with all pictures below, or globs", "examples": ["photos/**/*.jpg"],
                ])
        ),
        (
            "exclude",
            SchemaNode.list(of: .nonEmptyText, atLeast: 0).adding(["description": "What to leave out of the inputs"])
        ),
        (
            "layers",
            [
                "type": "array", "items": ["$ref": "#/$defs/filter.\(LayersReader.filter)"], "minItems": 1,
                "description": "Pictures over each input, the lowest first, before its filters",
            ]
        ),
        (
            "animate",
            ["$ref": "#/$defs/animation", "description": "The animation of each picture, after its filters"]
        ),
        ("filters", ["$ref": "#/$defs/chain", "description": "The filters for each picture, in order"]),
        (
            "output",
            ["$ref": "#/$defs/path", "description": "Where each picture goes, from the manifest's folder"]
        ),
        ("save", ["description": "How the output is written"]),
        (
            "outputs",
            [
                "type": "array", "items": ["$ref": "#/$defs/output"], "minItems": 1,
                "maxItems": .number(Double(OutputsReader.most)),
                "description": "In place of output and save: several outputs of each picture",
            ]
        ),
    ]

    private static let policies: [(String, SchemaNode)] = [
        choice("color", ColorPolicy.keep, "The colour space that filters see and outputs keep"),
        choice("shard", ShardMode.auto, "Whether a frame is one task, or tiles for all workers"),
        choice("existing", ExistingPolicy.update, "What happens where an output is already there"),
        choice("compare", ComparePolicy.stamp, "How Penumbra detects that a file has changed"),
        choice(
            "upgrade", UpgradePolicy.keep, "What happens to outputs whose filters give other pixels in this version"),
        choice("durability", Durability.file, "When outputs are safe from a power failure"),
        choice("receipts", ReceiptPolicy.none, "Whether a receipt is written beside each output"),
        choice("verify", VerifyLevel.digest, "How much is checked before an output is put in place"),
        (
            "index",
            SchemaNode.text(matching: #"[\s\S]*\.[jJ][sS][oO][nN]"#)
                .adding(["description": "A JSON file that says which picture became which outputs"])
        ),
    ]

    private static let limits: [(String, SchemaNode)] = [
        (
            "tile",
            key("The side of a tile in pixels", "auto", [.words(["auto"]), integer(Policies.tileSides)])
        ),
        ("retries", key("Attempts after the first", 2, [integer(Policies.retryCounts)])),
        (
            "timeout",
            key("How long one task may take: 90s, 5m", "auto", [.words(["auto"]), .time(in: Policies.timeouts)])
        ),
        (
            "min_age",
            key("Files that changed within this time are left for the next run", 0, [.time(in: Policies.ages)])
        ),
        (
            "max_failures",
            key(
                "The failures that stop the job: a number, or a share of the frames", "off",
                [.words(["off"]), .integer(1, .max), .text(matching: #"\+?(?![0.]+%)(0|[1-9][0-9]?|100)(\.[0-9]+)?%"#)])
        ),
        ("max_pixels", key("Larger pictures are refused", "2000M", [.count])),
    ]

    private static let folders: [(String, SchemaNode)] = [
        (
            "slurm",
            SchemaNode.mapping([
                described("partition", .nonEmptyText, "The partition"),
                described("account", .nonEmptyText, "The account"),
                described("qos", .nonEmptyText, "The quality of service"),
                described("time", .time(in: SlurmReader.times), "The time limit of an element: 30m, 2h"),
                described("memory", .bytes, "The memory of an element: 4G"),
                described(
                    "coordinator_time", .time(in: SlurmReader.times),
                    "The time limit of a job that continues a detached run: 2d"),
                described("coordinator_memory", .bytes, "The memory of a job that continues a detached run: 2G"),
                described("cpus_per_task", integer(SlurmReader.coreCounts), "Cores of an element, each with a worker"),
                described("throttle", integer(SlurmReader.throttles), "Elements of a job array at once"),
                described("shard_seconds", .time(in: SlurmReader.shardTimes), "How long an element should work"),
                described(
                    "grace", .time(in: SlurmReader.graces), "How long a shared file system may take to show a file"),
                described("folder", .path, "A folder that all nodes share, for the run's files"),
                described("arguments", .list(of: .nonEmptyText, atLeast: 0), "Further arguments of sbatch"),
            ]).adding(["description": "Requests for a cluster's jobs, with --engine slurm or commands"])
        )
    ]

    private static func described(_ key: String, _ schema: SchemaNode, _ text: String) -> (String, SchemaNode) {
        (key, schema.adding(["description": .text(text)]))
    }

    private static func key(_ description: String, _ fallback: SchemaNode, _ schemas: [SchemaNode]) -> SchemaNode {
        SchemaNode.any(of: schemas).adding(["default": fallback, "description": .text(description)])
    }

    private static func integer(_ range: ClosedRange<Int>) -> SchemaNode {
        .integer(range.lowerBound, range.upperBound)
    }

    private static func choice<Policy: CaseIterable & RawRepresentable<String>>(
        _ key: String, _ fallback: Policy, _ description: String
    ) -> (String, SchemaNode) {
        let words = SchemaNode.words(Policy.allCases.map(\.rawValue))
        return (key, words.adding(["default": .text(fallback.rawValue), "description": .text(description)]))
    }
}
