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
