import JobModel

/// A job as a template of Open Job Description, version `jobtemplate-2023-09`. Its steps prepare the job, do the
/// shards, and then stitch, verify and publish. It runs programs with arguments and without a shell, so that no name is
/// misread.
package struct OpenJobTemplate: Sendable {
    /// The template in YAML.
    package let text: String
    /// Values that the template cannot contain and the user must give at each submission, in the template's order.
    package let missing: [(name: String, value: String)]

    /// - Parameter folder: The absolute folder of the template. Nil if unknown.
    package init(_ job: ExportedJob, folder: String?) throws(ExportError) {
        let parameters = Parameters(job)
        let all = parameters.all
        guard all.count <= TemplateParameter.mostParameters else { throw .manyParameters(all.count) }
        for parameter in all { try parameter.check() }
        let steps = TemplateSteps(job: job, parameters: parameters)
        missing = all.filter { $0.standard(in: folder) == nil }.map { ($0.name, $0.value) }
        text =
            YAMLNode.map([
                "specificationVersion": .text("jobtemplate-2023-09"), "name": .text(job.name),
                "description": .text(
                    "Filters pictures as the manifest says. Prepare cuts the work into shards, Render does them, Stitch "
                        + "does what they have left undone, joins tiles, verifies and publishes."),
                "parameterDefinitions": .list(all.map { $0.node(in: folder) }),
                "steps": .list(steps.nodes),
            ]).written
    }

    /// The command that runs the job on this machine.
    ///
    /// - Parameter path: The template's path.
    package func runCommand(_ path: String) -> String {
        ShellWord.joined(["openjd", "run", path] + missing.flatMap { ["-p", "\($0.name)=\($0.value)"] })
    }
}

extension OpenJobTemplate {
    /// The parameters of a template, which a submission may change.
    struct Parameters {
        let manifest: TemplateParameter
        let config: TemplateParameter?
        let overrides: [TemplateParameter]
        let runFolder: TemplateParameter
        let shards: TemplateParameter
        let workers: TemplateParameter
        let program: TemplateParameter
        /// Parameters that are in no argument. They tell a farm which files the manifest names.
        private let given: [TemplateParameter]

        init(_ job: ExportedJob) {
            manifest = TemplateParameter(
                name: "Manifest", kind: .path(.file, .input), value: job.manifest, description: "The job's manifest.")
            config = job.configFile.map {
                TemplateParameter(
                    name: "Config", kind: .path(.file, .input), value: $0, description: "Penumbra's config file.")
            }
            overrides = Self.numbered(
                "Set", .text, job.overrides, "Changes a value of the manifest, as 'penumbra run --set' does.")
            given =
                Self.numbered(
                    "Inputs", .path(.directory, .input), job.folders,
                    "A folder with inputs. The manifest names it: said here so that the farm knows of it.")
                + Self.numbered(
                    "Picture", .path(.file, .input), job.files,
                    "A picture that the job reads. The manifest names it: said here so that the farm knows of it.")
                + Self.numbered(
                    "Outputs", .path(.directory, .output), job.outputs,
                    "A folder with outputs. The manifest names it: said here so that the farm knows of it.")
            runFolder = TemplateParameter(
                name: "RunDir", kind: .path(.directory, .both), value: job.runFolder,
                description: "What the steps share, in a folder that all machines see under the same path.")
            shards = TemplateParameter(
                name: "Shards", kind: .number(ExportedJob.shardCounts), value: String(job.size.shards),
                description: "Parts that the work is cut into.")
            workers = TemplateParameter(
                name: "Workers", kind: .number(1...1024), value: String(job.size.cores),
                description: "Worker processes of a machine.")
            program = TemplateParameter(
                name: "Program", kind: .text, value: job.program,
                description: "Penumbra on the farm's machines: a path, or a name that they look up.")
        }

        var all: [TemplateParameter] {
            [manifest] + [config].compactMap(\.self) + overrides + given + [runFolder, shards, workers, program]
        }

        /// Numbers the names if there are several.
        private static func numbered(
            _ name: String, _ kind: TemplateParameter.Kind, _ values: [String], _ description: String
        ) -> [TemplateParameter] {
            zip(1..., values).map { number, value in
                TemplateParameter(
                    name: values.count == 1 ? name : "\(name)\(number)", kind: kind, value: value,
                    description: description)
            }
        }
    }
}

/// A parameter of a template. User-defined texts appear in parameters only, because in a template's other texts `{{`
/// begins a reference.
struct TemplateParameter: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case path(PathObject, PathFlow)
        case text
        case number(ClosedRange<Int>)
    }

    enum PathObject: String, Hashable, Sendable {
        case file = "FILE"
        case directory = "DIRECTORY"
    }

    enum PathFlow: String, Hashable, Sendable {
        case input = "IN"
        case output = "OUT"
        case both = "INOUT"
    }

    let name: String
    let kind: Kind
    /// The value in this job.
    let value: String
    let description: String

    var reference: String { "{{Param.\(name)}}" }

    /// The largest number of characters of a value.
    static let longestValue = 1024
    /// The largest number of parameters of a template.
    static let mostParameters = 50

    /// The default value in the template. Templates accept only paths below their own folder as defaults, so other
    /// paths have none.
    ///
    /// - Parameter folder: The template's folder. Nil if unknown.
    func standard(in folder: String?) -> String? {
        guard case .path = kind else { return value }
        guard let folder else { return nil }
        return PathKey(value) == PathKey(folder) ? "." : PathNames.relative(value, to: folder)
    }

    func node(in folder: String?) -> YAMLNode {
        let standard = standard(in: folder)
        return switch kind {
        case .path(let object, let flow):
            .map([
                "name": .text(name), "type": .text("PATH"), "objectType": .text(object.rawValue),
                "dataFlow": .text(flow.rawValue), "description": .text(description),
                "default": standard.map(YAMLNode.text),
            ])
        case .text:
            .map([
                "name": .text(name), "type": .text("STRING"), "description": .text(description),
                "default": standard.map(YAMLNode.text),
            ])
        case .number(let range):
            .map([
                "name": .text(name), "type": .text("INT"), "description": .text(description),
                "minValue": .number(range.lowerBound), "maxValue": .number(range.upperBound),
                "default": standard.flatMap { Int($0) }.map(YAMLNode.number),
            ])
        }
    }

    func check() throws(ExportError) {
        guard !value.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw .controlCharacter(value)
        }
        guard value.unicodeScalars.count <= Self.longestValue else { throw .longValue(value) }
    }
}

/// The steps of a template in order.
struct TemplateSteps {
    let job: ExportedJob
    let parameters: OpenJobTemplate.Parameters

    /// In seconds. Ends a program that has lost its machine's disks, for example. Penumbra itself ends anything else
    /// that hangs much earlier.
    private static let longestPreparation = 6 * 3600
    private static let longestStitching = 24 * 3600
    private static let shortestShardLimit = 3600
    /// The limit of a shard, as a multiple of its estimated time without retries.
    private static let timeoutFactor = 20.0

    /// The seconds between SIGTERM and SIGKILL. Workers end and files are moved quickly, but a stitch may be
    /// publishing.
    private static let notice = 30
    private static let stitchingNotice = 60

    var nodes: [YAMLNode] { [prepare, render, stitch] }

    private var prepare: YAMLNode {
        let arguments =
            ["prepare", parameters.manifest.reference]
            + option("--run-dir", parameters.runFolder) + option("--shards", parameters.shards)
            + option("--workers", parameters.workers)
            + (parameters.config.map { option("--config", $0) } ?? [])
            + parameters.overrides.flatMap { option("--set", $0) } + job.preparation
        return .map([
            "name": .text("Prepare"), "hostRequirements": requirements,
            "script": script(arguments, limit: Self.longestPreparation, notice: Self.notice),
        ])
    }

    private var render: YAMLNode {
        let arguments =
            ["shard"] + option("--run-dir", parameters.runFolder) + ["--index", "{{Task.Param.Shard}}"]
            + option("--workers", parameters.workers) + ["--openjd"]
        let space = YAMLNode.map([
            "name": .text("Shard"), "type": .text("INT"), "range": .text("1-\(parameters.shards.reference)"),
        ])
        return .map([
            "name": .text("Render"), "dependencies": .list([.map(["dependsOn": .text("Prepare")])]),
            "parameterSpace": .map(["taskParameterDefinitions": .list([space])]),
            "hostRequirements": requirements,
            "script": script(arguments, limit: shardLimit, notice: Self.notice),
        ])
    }

    private var stitch: YAMLNode {
        let arguments = ["resume"] + option("--run-dir", parameters.runFolder) + ["--engine", "local", "--openjd"]
        return .map([
            "name": .text("Stitch"), "dependencies": .list([.map(["dependsOn": .text("Render")])]),
            "hostRequirements": requirements,
            "script": script(arguments, limit: Self.longestStitching, notice: Self.stitchingNotice),
        ])
    }

    private var shardLimit: Int {
        let estimate = min(job.size.longestTask, 86400) * Self.timeoutFactor
        return max(Self.shortestShardLimit, Int(estimate.rounded(.up)))
    }

    private func option(_ name: String, _ parameter: TemplateParameter) -> [String] { [name, parameter.reference] }

    private func script(_ arguments: [String], limit: Int, notice: Int) -> YAMLNode {
        .map([
            "actions": .map([
                "onRun": .map([
                    "command": .text(parameters.program.reference), "args": .texts(arguments),
                    "timeout": .number(limit),
                    "cancelation": .map([
                        "mode": .text("NOTIFY_THEN_TERMINATE"), "notifyPeriodInSeconds": .number(notice),
                    ]),
                ])
            ])
        ])
    }

    private var requirements: YAMLNode {
        .map([
            "amounts": .list([
                .map(["name": .text("amount.worker.vcpu"), "min": .number(job.size.cores)]),
                .map(["name": .text("amount.worker.memory"), "min": .number(mebibytes)]),
            ]),
            "attributes": .list(
                [attribute("attr.worker.os.family", "linux")]
                    + (job.architecture.map { [attribute("attr.worker.cpu.arch", $0)] } ?? [])),
        ])
    }

    /// An estimate, in whole quarters of a gibibyte.
    private var mebibytes: Int { (job.size.memory >> 28 + 1) << 8 }

    private func attribute(_ name: String, _ value: String) -> YAMLNode {
        .map(["name": .text(name), "anyOf": .texts([value])])
    }
}

/// A value that is written as YAML, in blocks, with its keys in the given order.
package indirect enum YAMLNode: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        let key: String
        let value: YAMLNode
    }

    case text(String)
    case number(Int)
    case list([YAMLNode])
    case map([Entry])

    /// Entries whose value is `nil` are left out.
    package static func map(_ entries: KeyValuePairs<String, YAMLNode?>) -> YAMLNode {
        .map(entries.compactMap { key, value in value.map { Entry(key: key, value: $0) } })
    }

    package static func texts(_ texts: [String]) -> YAMLNode { .list(texts.map(YAMLNode.text)) }

    /// Ends with a line break.
    package var written: String { lines.map { $0 + "\n" }.joined() }

    private var lines: [String] {
        switch self {
        case .text(let text): [Self.scalar(text)]
        case .number(let number): [String(number)]
        case .list([]): ["[]"]
        case .map([]): ["{}"]
        case .list(let items):
            items.flatMap { item in
                zip(0..., item.lines).map { $0 == 0 ? "- " + $1 : "  " + $1 }
            }
        case .map(let entries):
            entries.flatMap { entry in
                let lines = entry.value.lines
                return entry.value.isBlock
                    ? [Self.scalar(entry.key) + ":"] + lines.map { "  " + $0 }
                    : [Self.scalar(entry.key) + ": " + lines[0]]
            }
        }
    }

    private var isBlock: Bool {
        switch self {
        case .text, .number, .list([]), .map([]): false
        case .list, .map: true
        }
    }
}

extension YAMLNode {
    /// Plain if every YAML parser reads it as this text. Otherwise in double quotes.
    static func scalar(_ text: String) -> String {
        let isBare =
            text.utf8.first.map(beginnings.contains) ?? false && text.utf8.allSatisfy(others.contains)
            && text.utf8.last != UInt8(ascii: " ") && !words.contains(text.lowercased())
        return isBare ? text : "\"" + text.unicodeScalars.map(escaped).joined() + "\""
    }

    private static let beginnings = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/_".utf8)
    private static let others = beginnings.union("0123456789.-,;+()' ".utf8)
    /// Words that YAML 1.1 does not read as texts.
    private static let words: Set = ["true", "false", "yes", "no", "on", "off", "y", "n", "null"]

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar.value {
        case 0x22: #"\""#
        case 0x5C: #"\\"#
        case 0x0A: #"\n"#
        case 0x0D: #"\r"#
        case 0x09: #"\t"#
        // Control characters, other line breaks, byte order marks and noncharacters.
        case 0..<0x20, 0x7F...0x9F, 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF: #"\u"# + hexadecimal(scalar.value, 4)
        // Parsers differ on the last two code points of each plane.
        case 0x10000... where scalar.value & 0xFFFE == 0xFFFE: #"\U"# + hexadecimal(scalar.value, 8)
        default: String(Character(scalar))
        }
    }

    private static func hexadecimal(_ value: UInt32, _ digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
