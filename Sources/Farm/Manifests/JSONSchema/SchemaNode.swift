import Catalogs

/// A JSON value whose members stay in the order of the code, so that people can read a schema.
indirect enum SchemaNode: Hashable, Sendable {
    struct Member: Hashable, Sendable {
        let key: String
        let value: SchemaNode
    }

    case truth(Bool)
    case number(Double)
    case text(String)
    case list([SchemaNode])
    case object([Member])

    /// The same object with more members at its end. Nil members are left out.
    func adding(_ members: KeyValuePairs<String, SchemaNode?>) -> SchemaNode {
        guard case .object(let present) = self else { return self }
        return .object(present + members.compactMap { key, value in value.map { Member(key: key, value: $0) } })
    }

    /// An object whose keys are only known at run time.
    static func object(_ members: [(String, SchemaNode)]) -> SchemaNode {
        .object(members.map { Member(key: $0.0, value: $0.1) })
    }

    static func texts(_ texts: [String]) -> SchemaNode { .list(texts.map(SchemaNode.text)) }
}

extension SchemaNode: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral
{
    init(stringLiteral value: String) { self = .text(value) }
    init(arrayLiteral elements: SchemaNode...) { self = .list(elements) }
    init(dictionaryLiteral elements: (String, SchemaNode)...) { self = .object(elements) }
    init(booleanLiteral value: Bool) { self = .truth(value) }
    init(integerLiteral value: Int) { self = .number(Double(value)) }
}

// Schemas of scalars. A YAML editor checks the YAML type of a text: `12` is a number, `true` a boolean, `12px` a text.
// The manifest reader uses the text alone, quoted or not, so each schema accepts both forms.

extension SchemaNode {
    /// A number as ``DecimalNumber`` reads it, without its exponent.
    private static let decimal = #"[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?"#

    /// A text that matches the whole pattern.
    static func text(matching pattern: String) -> SchemaNode { ["type": "string", "pattern": "^(\(pattern))$"] }

    /// One schema, or any of several. Schemas that are choices are merged into one choice.
    static func any(of schemas: [SchemaNode]) -> SchemaNode {
        let flat = schemas.flatMap { schema -> [SchemaNode] in
            guard case .object(let members) = schema, members.count == 1, members[0].key == "anyOf",
                case .list(let choices) = members[0].value
            else { return [schema] }
            return choices
        }
        return flat.count == 1 ? flat[0] : ["anyOf": .list(flat)]
    }

    static func number(_ minimum: Double, _ maximum: Double) -> SchemaNode {
        any(of: [
            ["type": "number", "minimum": .number(minimum), "maximum": .number(maximum)],
            text(matching: decimal + "([eE][+-]?[0-9]+)?"),
        ])
    }

    /// A bound of `Int.max` means no bound.
    static func integer(_ minimum: Int, _ maximum: Int) -> SchemaNode {
        let number: SchemaNode = ["type": "integer", "minimum": .number(Double(minimum))]
        return any(of: [
            number.adding(["maximum": maximum == .max ? nil : .number(Double(maximum))]),
            text(matching: "[+-]?(0|[1-9][0-9]*)"),
        ])
    }

    /// One of the words, or its YAML type if YAML reads it as a number or boolean.
    static func words(_ words: [String]) -> SchemaNode {
        ["enum": .list(words.flatMap { [SchemaNode.text($0)] + ($0.meaningInYAML.map { [$0] } ?? []) })]
    }

    static let boolean: SchemaNode = ["enum": [true, false, "true", "false"]]

    /// Any scalar that stands for a text, except null: an editor sees null if a value is still missing.
    static let anyText: SchemaNode = ["type": ["string", "number", "boolean"]]

    static let nonEmptyText: SchemaNode = ["type": ["string", "number", "boolean"], "minLength": 1]

    /// A path or pattern, but no URL.
    static let path: SchemaNode = nonEmptyText.adding(["pattern": #"^(?![A-Za-z][A-Za-z0-9+.-]*://)"#])

    static func list(of item: SchemaNode, atLeast least: Int) -> SchemaNode {
        any(of: [item, ["type": "array", "items": item, "minItems": .number(Double(least))]])
    }

    /// Seconds, or a number with its unit.
    static func time(in range: ClosedRange<Double>) -> SchemaNode {
        any(of: [
            ["type": "number", "minimum": .number(range.lowerBound), "maximum": .number(range.upperBound)],
            text(matching: decimal + "[smhd]?"),
        ])
    }

    /// A count that may be written with a suffix: `2000M`.
    static let count: SchemaNode = any(of: [
        ["type": "integer", "minimum": 1], text(matching: #"\+?(0|[1-9][0-9]*)(\.[0-9]+)?[kKMGT]?"#),
    ])

    /// A number of bytes that may be written with a suffix: `4G`, `2GiB`.
    static let bytes: SchemaNode = any(of: [
        ["type": "integer", "minimum": 1], text(matching: #"\+?(0|[1-9][0-9]*)(\.[0-9]+)?([kKMGT]|[KMGT]i)?B?"#),
    ])

    /// Pixels or percent from `minimum` on, or above 0.
    static func length(
        from minimum: Double, to maximum: Double = LengthLimit.widest.pixels, isAboveZero: Bool = false
    ) -> SchemaNode {
        let sign = isAboveZero ? #"\+?(?![0.]+(px|%)?$)"# : minimum < 0 ? "[+-]?" : #"\+?"#
        return any(of: [
            (["type": "number"] as SchemaNode).adding([
                "minimum": isAboveZero ? nil : .number(minimum), "exclusiveMinimum": isAboveZero ? 0 : nil,
                "maximum": .number(maximum),
            ]),
            text(matching: sign + #"(0|[1-9][0-9]*)(\.[0-9]+)?(px|%)?"#),
        ])
    }

    /// See ``SizeWish``.
    static let size: SchemaNode = {
        let side = "0*([1-9][0-9]{0,5}|1000000)"
        return any(of: [
            ["type": "integer", "minimum": 1, "maximum": .number(Double(SizeWish.largestSide))],
            text(
                matching: side + "|" + side + "x|x" + side + "|" + side + "x" + side + #"|(?![0.]*%)[0-9]*\.?[0-9]+%"#),
        ])
    }()

    /// A color. It must be opaque if `isOpaque`.
    static func color(isOpaque: Bool) -> SchemaNode {
        let names = ["white", "black"] + (isOpaque ? [] : ["transparent"])
        let alpha = isOpaque ? "[fF]{2}" : "[0-9a-fA-F]{2}"
        let digits = "#([0-9a-fA-F]{3}|[0-9a-fA-F]{6}(\(alpha))?)"
        return any(of: [words(names), text(matching: digits + "|" + names.map(\.inAnyCase).joined(separator: "|"))])
    }
}

extension String {
    /// A pattern that also accepts the text in capitals.
    var inAnyCase: String {
        unicodeScalars.map { scalar in
            let (lower, upper) = (String(scalar).lowercased(), String(scalar).uppercased())
            return lower == upper ? lower : "[\(lower)\(upper)]"
        }.joined()
    }

    /// The YAML 1.2 meaning of the text without quotes. Nil if that is a text.
    fileprivate var meaningInYAML: SchemaNode? {
        switch self {
        case "true", "True", "TRUE": return true
        case "false", "False", "FALSE": return false
        default: break
        }
        guard case .success(let number) = DecimalNumber.number(self) else { return nil }
        return .number(number)
    }
}

extension SchemaNode {
    /// The value as JSON, indented by two spaces a level. Short values stay on one line.
    var json: String { json(indent: 0) }

    /// Lines up to this length are not broken.
    private static let width = 100

    private func json(indent: Int) -> String {
        let line = compact
        if line.utf8.count + indent <= Self.width { return line }
        let inner = String(repeating: " ", count: indent + 2)
        let outer = String(repeating: " ", count: indent)
        switch self {
        case .truth, .number, .text:
            return line
        case .list(let items):
            let lines = items.map { inner + $0.json(indent: indent + 2) }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(outer)]"
        case .object(let members):
            let lines = members.map { "\(inner)\(Self.quoted($0.key)): \($0.value.json(indent: indent + 2))" }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(outer)}"
        }
    }

    private var compact: String {
        switch self {
        case .truth(let truth): truth ? "true" : "false"
        case .number(let number): Int(exactly: number).map(String.init) ?? number.plain
        case .text(let text): Self.quoted(text)
        case .list(let items): "[" + items.map(\.compact).joined(separator: ", ") + "]"
        case .object(let members):
            "{" + members.map { "\(Self.quoted($0.key)): \($0.value.compact)" }.joined(separator: ", ") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case _ where scalar.value < 0x20 || scalar.isObeyedOrHidden && scalar.value < 0x1_0000:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
