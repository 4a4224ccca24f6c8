package import Catalogs
import JobModel

/// The JSON Schema of manifests. YAML editors use it to complete and check them.
///
/// It accepts every manifest that ``JobReader`` accepts, except for the texts `null` and `~`, because an editor sees
/// these if a value is still missing. It contains names, kinds, ranges and the rules between keys. Only `check` finds
/// problems that depend on the text or the disk: the range of a number in quotes, `010`, two outputs with the same
/// path, missing pictures.
package struct ManifestSchema {
    private let catalog: Catalog

    package init(_ catalog: Catalog) {
        self.catalog = catalog
    }

    /// The schema as JSON of draft 2020-12.
    package var json: String { schema.json }

    /// All keys of a manifest, with those of its blocks.
    package var keys: [ManifestKey] {
        JobKeys.all.flatMap { $0.documented() } + catalog.sharedParameters.map { ParameterSchema(parameter: $0).key }
    }

    /// The fields of output paths.
    package static var fields: [OutputField] { TemplateParser.described }

    /// The keys of the block `slurm`, which config files have, too.
    package static var clusterKeys: [ManifestKey] { JobKeys.slurm.documented() }

    private var schema: SchemaNode {
        let output = OutputSchema(catalog: catalog)
        let chain = ChainSchema(catalog: catalog)
        let definitions: [(String, SchemaNode)] = [
            ("chain", chain.chain), ("animation", chain.animation), ("path", output.path), ("output", self.output),
        ]
        let root: SchemaNode = [
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "A job of Penumbra",
            "description": .text(versions),
            "type": "object",
            "properties": .object(
                JobKeys.properties + catalog.sharedParameters.flatMap { ParameterSchema(parameter: $0).properties }),
            "required": ["job", "inputs"],
            "additionalProperties": false,
            "if": .requiring(["outputs"]),
            "then": ["properties": ["output": false, "save": false]],
            "else": [
                "required": ["output"],
                "anyOf": [.requiring(["filters"]), .requiring(["layers"]), .requiring(["animate"])],
            ],
            "allOf": .list(output.conditions(pathAt: "output")),
        ]
        return root.adding(["$defs": .object(definitions + chain.definitions + output.definitions)])
    }

    /// One entry of `outputs:`.
    private var output: SchemaNode {
        SchemaNode.mapping(
            JobKeys.outputs.map(\.property), required: ["path"]
        ).adding(["allOf": .list(OutputSchema(catalog: catalog).conditions(pathAt: "path"))])
    }

    private var versions: String {
        let names = catalog.versions.keys.sorted().compactMap { name in catalog.versions[name].map { "\(name) \($0)" } }
        return "Made by 'penumbra schema' with " + names.joined(separator: ", ")
    }
}
