import Catalogs

/// The schema of one parameter of a filter, or one option of a format.
struct ParameterSchema {
    let parameter: ParameterDescriptor

    /// One property for the parameter's name and for each synonym.
    var properties: [(String, SchemaNode)] {
        let own = schema(scale: 1).adding([
            "description": .text(description), "default": parameter.fallback.map(SchemaNode.value),
            "examples": parameter.requiredLike.map { [.text($0)] },
        ])
        return [(parameter.name, own)]
            + parameter.synonyms.map { synonym in
                let text =
                    "Another name of \(parameter.name)" + (synonym.scale == 1 ? "" : ", times \(synonym.scale.plain)")
                return (synonym.name, schema(scale: synonym.scale).adding(["description": .text(text)]))
            }
    }

    /// The parameter as a key of the job.
    var key: ManifestKey {
        ManifestKey(
            path: parameter.name, takes: ParameterWords.takes(parameter.kind),
            fallback: parameter.fallback.map(ParameterWords.text), isRequired: false,
            sentence: ParameterWords.sentence(of: parameter, isKeyOfJob: true), choices: [])
    }

    /// The rules for the names of a parameter in their mapping: at most one of them, and at least one if the parameter
    /// is required.
    var conditions: [SchemaNode] {
        let names = [parameter.name] + parameter.synonyms.map(\.name)
        let anyName = names.map { SchemaNode.requiring([$0]) }
        let isDouble = names.indices.flatMap { first in
            names[(first + 1)...].map { SchemaNode.requiring([names[first], $0]) }
        }
        return (parameter.requiredLike == nil ? [] : [SchemaNode.any(of: anyName)])
            + (isDouble.isEmpty ? [] : [["not": SchemaNode.any(of: isDouble)]])
    }

    private var description: String {
        parameter.summary + (parameter.unit.isEmpty ? "" : " (\(parameter.unit))")
    }

    private func schema(scale: Double) -> SchemaNode {
        switch parameter.kind {
        case .number(let minimum, let maximum): number(minimum, maximum, scale)
        case .numberOrPair(let minimum, let maximum):
            .any(of: [number(minimum, maximum, scale), pair(of: number(minimum, maximum, scale))])
        case .numberOrWord(let minimum, let maximum, let words):
            .any(of: [.words(words), number(minimum, maximum, scale)])
        case .integer(let minimum, let maximum): integer(minimum, maximum, scale)
        case .integerOrWord(let minimum, let maximum, let words):
            .any(of: [.words(words), integer(minimum, maximum, scale)])
        case .choice(let words): .words(words)
        case .boolean: .boolean
        case .text: .anyText
        case .address: .text(matching: AddressReader.pattern)
        case .regions: .any(of: [Self.region, Self.regionList, Self.regionFile])
        case .length(let limit): .length(from: -limit.pixels, to: limit.pixels)
        case .path: ["type": "array", "items": Self.point, "minItems": 2]
        case .numbers(let ranges):
            .mapping(
                ranges.map { range in
                    (
                        range.name,
                        SchemaNode.number(range.minimum, range.maximum)
                            .adding(["default": range.fallback.map(SchemaNode.number)])
                    )
                }, required: ranges.filter { $0.fallback == nil }.map(\.name))
        case .distance: .length(from: 0, to: LengthLimit.widest.pixels)
        case .size: .size
        case .color: .color(isOpaque: false)
        case .picture, .table, .layer, .font, .template: .nonEmptyText
        case .command: Self.command
        }
    }

    /// The range of the written number is the parameter's range, divided by the scale of the name.
    private func number(_ minimum: Double, _ maximum: Double, _ scale: Double) -> SchemaNode {
        let bounds = [minimum / scale, maximum / scale].sorted()
        return .number(bounds[0], bounds[1])
    }

    private func integer(_ minimum: Int, _ maximum: Int, _ scale: Double) -> SchemaNode {
        scale == 1 ? .integer(minimum, maximum) : number(Double(minimum), Double(maximum), scale)
    }

    private func pair(of number: SchemaNode) -> SchemaNode {
        .mapping([("x", number), ("y", number)], required: ["x", "y"])
    }

    private static let point = SchemaNode.mapping(
        [
            ("x", .length(from: -LengthLimit.widest.pixels, to: LengthLimit.widest.pixels)),
            ("y", .length(from: -LengthLimit.widest.pixels, to: LengthLimit.widest.pixels)),
        ], required: ["x", "y"])

    fileprivate static let region: SchemaNode = {
        let offset = SchemaNode.length(from: -LengthLimit.widest.pixels)
        let side = SchemaNode.length(from: 0, isAboveZero: true)
        return .mapping(
            [
                ("x", offset), ("y", offset), ("width", side), ("height", side),
                ("corner_radius", SchemaNode.length(from: 0).adding(["default": 0])),
            ], required: ["x", "y", "width", "height"])
    }()
}

extension ParameterSchema {
    private static let regionList: SchemaNode =
        ["type": "array", "items": region, "minItems": 1, "maxItems": .number(Double(RegionsReader.most))]

    /// A program, or a list of a program and its arguments. Their names are those of one machine, so a schema does not list them.
    static let command = SchemaNode.any(of: [
        .nonEmptyText,
        [
            "type": "array", "items": .anyText, "minItems": 1,
            "maxItems": .number(Double(1 + ProgramCommand.mostArguments)),
        ],
    ])

    private static let regionFile = SchemaNode.mapping(
        [
            ("from", .nonEmptyText),
            ("categories", .any(of: [.nonEmptyText, ["type": "array", "items": .nonEmptyText]])),
            ("grow", SchemaNode.length(from: 0).adding(["default": 0])),
            ("corner_radius", SchemaNode.length(from: 0).adding(["default": 0])),
            ("unlisted", .words(RegionFile.Unlisted.allCases.map(\.rawValue))),
            ("shape", .words(RegionFile.Shape.allCases.map(\.rawValue))),
        ], required: ["from"])
}

extension SchemaNode {
    /// A mapping with these keys and no others.
    static func mapping(_ properties: [(String, SchemaNode)], required: [String] = []) -> SchemaNode {
        (["type": "object"] as SchemaNode).adding([
            "properties": .object(properties), "required": required.isEmpty ? nil : .texts(required),
            "additionalProperties": false,
        ])
    }

    /// A mapping that contains the keys.
    static func requiring(_ keys: [String]) -> SchemaNode { ["required": .texts(keys)] }

    /// As a manifest writes it.
    static func value(_ value: ParameterValue) -> SchemaNode {
        switch value {
        case .number(let number): return .number(number)
        case .pair(let x, let y): return ["x": .number(x), "y": .number(y)]
        case .integer(let integer): return .number(Double(integer))
        case .boolean(let truth): return .truth(truth)
        case .word(let word): return .text(word)
        case .text(let text): return .text(text)
        case .length(let length): return .length(length)
        case .size(let size): return .text(size.description)
        case .region(let region): return .region(region)
        case .regions(let set): return .list(set.regions.map(SchemaNode.region))
        case .regionFile(let file):
            return [
                "from": .text(file.path), "categories": .texts(file.categories), "grow": .length(file.grow),
                "corner_radius": .length(file.cornerRadius), "unlisted": .text(file.unlisted.rawValue),
                "shape": .text(file.shape.rawValue),
            ]
        case .path(let points):
            return .list(points.map { ["x": .length($0.x), "y": .length($0.y)] })
        case .numbers(let numbers):
            return .object(numbers.sorted { $0.key < $1.key }.map { ($0.key, .number($0.value)) })
        case .color(let red, let green, let blue, let alpha):
            let digits = [red, green, blue, alpha].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            return .text("#" + digits.joined())
        case .picture(let picture): return .text(picture.path)
        case .pictureTemplate(let template): return .text(template.path)
        case .command(let command): return .texts([command.program] + command.arguments)
        case .template(let template): return .text(template.written)
        }
    }

    private static func region(_ region: Region) -> SchemaNode {
        [
            "x": .length(region.x), "y": .length(region.y), "width": .length(region.width),
            "height": .length(region.height), "corner_radius": .length(region.cornerRadius),
        ]
    }

    private static func length(_ length: Length) -> SchemaNode {
        switch length {
        case .pixels(let pixels): .number(pixels)
        case .percent(let percent): .text("\(percent.plain)%")
        }
    }
}
