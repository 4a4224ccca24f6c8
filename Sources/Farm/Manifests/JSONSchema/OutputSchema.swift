import Catalogs
import JobModel

/// The schemas of an output's path, and of `save:` for each format that a path can ask for.
struct OutputSchema {
    let catalog: Catalog

    /// A path with fields, and the extension of a writable format.
    var path: SchemaNode {
        let extensions = #"\{ext\}|"# + formats.map(Self.extensions).joined(separator: "|")
        let fields = TemplateParser.fieldNames.joined(separator: "|") + "|(index|frame):0[1-9]"
        return [
            "type": "string",
            "allOf": [
                SchemaNode.path, .text(matching: #"([^{}]|\{(\#(fields))\})*\.(\#(extensions))"#),
            ],
            "examples": ["out/{dir}/{stem}.png"],
        ]
    }

    /// The schemas of `save` for a mapping with a path at `key`.
    func conditions(pathAt key: String) -> [SchemaNode] {
        let known =
            formats.map { (Self.extensions($0), $0.name, !Self.required($0).isEmpty) }
            + [(#"\{ext\}"#, Self.anyFormat, false)]
        return known.map { extensions, name, needsOptions in
            let save: SchemaNode = ["properties": ["save": ["$ref": .text(Self.reference(name))]]]
            return [
                "if": [
                    "properties": [key: ["type": "string", "pattern": .text(#"\.(\#(extensions))$"#)]],
                    "required": .texts([key]),
                ],
                "then": needsOptions ? save.adding(["required": .texts(["save"])]) : save,
            ]
        }
    }

    var definitions: [(String, SchemaNode)] {
        formats.map { format in
            let options = format.options.flatMap { ParameterSchema(parameter: $0).properties }
            return ("save.\(format.name)", save(options, required: Self.required(format)))
        } + [("save.\(Self.anyFormat)", save(optionsOfAnyFormat))]
    }

    /// The name under which the options of all formats are defined.
    private static let anyFormat = "any"

    private static func reference(_ name: String) -> String { "#/$defs/save.\(name)" }

    private var formats: [FormatDescriptor] { catalog.formats.filter(\.canWrite) }

    private static func extensions(_ format: FormatDescriptor) -> String {
        format.extensions.map(\.inAnyCase).joined(separator: "|")
    }

    private func save(_ options: [(String, SchemaNode)], required: [String] = []) -> SchemaNode {
        .mapping(JobKeys.save.map(\.property) + options, required: required)
    }

    /// The options that a manifest must give.
    private static func required(_ format: FormatDescriptor) -> [String] {
        format.options.filter { $0.requiredLike != nil }.map(\.name)
    }

    /// If formats give one name different kinds, any of them is valid.
    private var optionsOfAnyFormat: [(String, SchemaNode)] {
        let all = formats.flatMap(\.options).flatMap { ParameterSchema(parameter: $0).properties }
        var names: [String] = []
        for (name, _) in all where !names.contains(name) { names.append(name) }
        return names.map { name in
            var schemas: [SchemaNode] = []
            for case (name, let schema) in all where !schemas.contains(schema) { schemas.append(schema) }
            return (name, .any(of: schemas))
        }
    }
}
