import Catalogs
import JobModel

/// How an output was made, as a receipt tells it.
struct ReceiptRecipe: Hashable, Sendable, Codable {
    struct Filter: Hashable, Sendable, Codable {
        let name: String
        let version: String
        let parameters: [String: ReceiptValue]
    }

    struct Save: Hashable, Sendable, Codable {
        let metadata: String
        let background: [Int]
        let dither: Bool
        let options: [String: ReceiptValue]
    }

    let filters: [Filter]
    let color: String
    let pages: String
    let shrink: Int
    let save: Save
    /// Of what is done around the filters.
    let rendering: String

    init(_ recipe: Recipe, shrink: Int) {
        filters = recipe.steps.map { step in
            Filter(name: step.filter, version: step.version, parameters: step.values.mapValues(ReceiptValue.init))
        }
        color = recipe.color.rawValue
        pages =
            switch recipe.pages {
            case .first: "first"
            case .page: "page"
            case .animation: "animation"
            case .frame: "frame"
            }
        self.shrink = shrink
        save = Save(
            metadata: recipe.save.metadata.rawValue, background: recipe.save.background, dither: recipe.save.dither,
            options: recipe.save.values.mapValues(ReceiptValue.init))
        rendering = recipe.version
    }
}

/// A parameter's value, as JSON has it.
enum ReceiptValue: Hashable, Sendable, Codable {
    case number(Double)
    case boolean(Bool)
    /// Also lengths, sizes, regions and colours, as a manifest has them: `50%`; of pictures, path and digest.
    case text(String)
    case pair(x: Double, y: Double)

    private struct Pair: Codable {
        let x: Double
        let y: Double
    }

    init(_ value: ParameterValue) {
        switch value {
        case .number(let number): self = .number(number)
        case .integer(let number): self = .number(Double(number))
        case .boolean(let flag): self = .boolean(flag)
        case .pair(let x, let y): self = .pair(x: x, y: y)
        case .word, .text, .path, .numbers, .region, .length, .size, .color: self = .text(value.words)
        case .picture(let picture): self = .text("\(picture.path) \(picture.digest ?? "")")
        }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let flag = try? container.decode(Bool.self) {
            self = .boolean(flag)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else {
            let pair = try container.decode(Pair.self)
            self = .pair(x: pair.x, y: pair.y)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .number(let number): try container.encode(number)
        case .boolean(let flag): try container.encode(flag)
        case .text(let text): try container.encode(text)
        case .pair(let x, let y): try container.encode(Pair(x: x, y: y))
        }
    }
}
