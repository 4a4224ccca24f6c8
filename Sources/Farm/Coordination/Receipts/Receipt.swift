import Catalogs
import FoundationEssentials
import JobModel
import JobStorage

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
