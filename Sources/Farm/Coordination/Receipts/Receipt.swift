import Catalogs
import FoundationEssentials
import JobModel
import JobStorage
import Planning
import SafeFiles
import WorkerProtocol

/// What is told of an output in a file beside it, for programs that know nothing of Penumbra: docs/receipts.md.
struct Receipt: Hashable, Sendable, Codable {
    /// Of the file's form.
    static let schema = 1

    struct Output: Hashable, Sendable, Codable {
        let name: String
        let bytes: Int
        let digest: Digest
        let pixels: Digest
        /// Missing where the receipt was lost and written anew.
        var bands: [Digest]?
        let width: Int
        let height: Int
        let frames: Int
        let layout: String
        let samples: String
        let format: String
    }

    struct Input: Hashable, Sendable, Codable {
        let path: String
        /// The path as it is, where it is not UTF-8.
        let pathBase64: String?
        let page: Int
        let bytes: Int
        let digest: Digest

        enum CodingKeys: String, CodingKey {
            case path, page, bytes, digest
            case pathBase64 = "path_base64"
        }
    }

    struct Job: Hashable, Sendable, Codable {
        let name: String
        let manifest: String
    }

    /// The run that wrote the receipt.
    struct Run: Hashable, Sendable, Codable {
        let name: String
        let epoch: Int
        /// UTC: `2026-11-21T21:30:00Z`.
        let time: String
        /// False where the output had been published before.
        let published: Bool
    }

    let schema: Int
    var output: Output
    let input: Input
    let recipe: ReceiptRecipe
    let encoder: String
    let penumbra: String
    let job: Job
    let run: Run

    /// Nil for what is no receipt, or one of a later version.
    init?(_ bytes: [UInt8]) {
        guard let receipt = try? JSONDecoder().decode(Receipt.self, from: Data(bytes)),
            receipt.schema == Self.schema, receipt.isPlausible
        else { return nil }
        self = receipt
    }

    /// Its numbers are those of files and pictures. Others may write where receipts lie.
    private var isPlausible: Bool {
        let pixels = 0...Int(UInt32.max)
        return OutputIndex.sizes.contains(output.bytes) && OutputIndex.sizes.contains(input.bytes)
            && [output.width, output.height, output.frames, input.page].allSatisfy(pixels.contains)
    }

    /// Nil where too little is known of the output.
    init?(_ record: OutputRecord, recipe: Recipe, bands: [Digest]?, job: Job, run: Run) {
        guard let pixels = record.pixels, !record.isAdopted else { return nil }
        let encoding = pixels.encoding
        schema = Self.schema
        output = Output(
            name: PathNames.last(of: record.path), bytes: record.file.stamp.size, digest: record.file.digest,
            pixels: pixels.digest, bands: bands, width: record.width, height: record.height, frames: encoding.frames,
            layout: encoding.layout.rawValue, samples: encoding.samples.rawValue, format: recipe.format)
        input = Input(
            path: record.input,
            pathBase64: FoundInput.exactBytes(of: record.input).map { Data($0).base64EncodedString() },
            page: record.page, bytes: record.source.stamp.size, digest: record.source.digest)
        self.recipe = ReceiptRecipe(recipe, shrink: encoding.shrink)
        encoder = encoding.encoder
        penumbra = encoding.penumbra
        (self.job, self.run) = (job, run)
    }

    /// The file's content.
    var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Texts and finite numbers, which JSON always can.
        guard let data = try? encoder.encode(self) else { return [] }
        return Array(data) + [UInt8(ascii: "\n")]
    }

    /// Whether it tells the same of the same output, whatever run wrote it.
    func tellsTheSame(as other: Receipt) -> Bool {
        var (a, b) = (output, other.output)
        (a.bands, b.bands) = (nil, nil)
        return a == b && input == other.input && recipe == other.recipe && encoder == other.encoder
            && penumbra == other.penumbra && job == other.job
    }
}

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

/// An input that is known from a record, where paths stand as they are shown.
enum FoundInput {
    /// The path's bytes where they are not UTF-8 and the file is there; nil for any other.
    static func exactBytes(of path: String) -> [UInt8]? {
        guard let bytes = NonUTF8Name.possibleBytes(of: path), !FileSystem.exists(path), FileSystem.exists(bytes) else {
            return nil
        }
        return bytes
    }

    static func file(_ path: String) -> DigestTask.File { DigestTask.File(path: path, bytes: exactBytes(of: path)) }
}
