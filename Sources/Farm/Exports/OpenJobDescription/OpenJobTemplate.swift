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
    package init(_ job: ExportedJob, folder: String?) throws(ExportProblem) {
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
