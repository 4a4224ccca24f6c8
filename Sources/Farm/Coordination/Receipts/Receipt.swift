import Catalogs
import ContentNames
import FoundationEssentials
import Glibc
import JobModel
import JobStorage
import Planning
import SafeFiles
import WorkerProtocol

/// The receipt of an output: a JSON file beside it, for programs that do not know Penumbra. See
/// docs/reference/receipts.md.
struct Receipt: Hashable, Sendable, Codable {
    /// The version of the format.
    static let schema = 1

    struct Output: Hashable, Sendable, Codable {
        let name: String
        let bytes: Int
        let digest: Digest
        let pixels: Digest
        /// Nil if the receipt was lost and has been written again.
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
        /// The path's bytes if they are not UTF-8.
        var pathBase64: String?
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
        /// Whether this run published the output. Otherwise an earlier run did.
        let published: Bool
        /// What kept the workers of the run from the rest of the machine. Nil if it is unknown.
        var sandbox: SandboxReport?
    }

    let schema: Int
    var output: Output
    var input: Input
    let recipe: ReceiptRecipe
    let encoder: String
    let penumbra: String
    let job: Job
    let run: Run

    /// Nil if the bytes are not a receipt, or are one of a later version.
    init?(_ bytes: [UInt8]) {
        guard let receipt = try? JSONDecoder().decode(Receipt.self, from: Data(bytes)),
            receipt.schema == Self.schema, receipt.isPlausible
        else { return nil }
        self = receipt
    }

    /// Whether its numbers are possible for files and pictures. Other users may write in the folder.
    private var isPlausible: Bool {
        let pixels = 0...Int(UInt32.max)
        return OutputIndex.sizes.contains(output.bytes) && OutputIndex.sizes.contains(input.bytes)
            && [output.width, output.height, output.frames, input.page].allSatisfy(pixels.contains)
    }

    /// Nil if too little is known about the output.
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
        // Texts and finite numbers can always be encoded.
        guard let data = try? encoder.encode(self) else { return [] }
        return Array(data) + [UInt8(ascii: "\n")]
    }

    /// Whether it says the same about the same output, whichever run wrote it.
    func saysTheSame(as other: Receipt) -> Bool {
        var (a, b) = (output, other.output)
        (a.bands, b.bands) = (nil, nil)
        return a == b && input == other.input && recipe == other.recipe && encoder == other.encoder
            && penumbra == other.penumbra && job == other.job
    }
}

extension Receipt {
    /// The receipt, with those facts of an earlier receipt of the same output that no record has.
    ///
    /// They are the digests of the bands, and the exact name of a picture that does not exist any more.
    func completed(by earlier: Receipt) -> Receipt {
        var receipt = self
        var known = earlier.output
        known.bands = output.bands
        if output.bands == nil, known == output { receipt.output.bands = earlier.output.bands }
        let name = earlier.input.pathBase64.flatMap { Data(base64Encoded: $0) }.map(Array.init)
        if input.pathBase64 == nil, input.path == earlier.input.path, let name,
            NonUTF8Name.possibleBytes(of: input.path) == name
        {
            receipt.input.pathBase64 = earlier.input.pathBase64
        }
        return receipt
    }
}

/// The recipe of an output in its receipt.
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
        /// Nil if filters compute with the samples of the input. Receipts did not have it before there was a choice.
        let precision: String?
        /// Nil for the samples of the input.
        let depth: String?
        /// The space of the output, or the path and digest of its profile. Nil for the colours of the filters.
        let color: String?
        /// Nil without a colour.
        let intent: String?
        /// Nil without a colour.
        let blackPoint: Bool?
        /// Nil if the output got no texts.
        let set: MetadataTexts?
        let options: [String: ReceiptValue]

        enum CodingKeys: String, CodingKey {
            case metadata, background, dither, precision, depth, color, intent, set, options
            case blackPoint = "black_point"
        }
    }

    let filters: [Filter]
    let color: String
    /// Nil for 72.
    let dpi: Int?
    let pages: String
    let shrink: Int
    let save: Save
    /// The version of the steps around the filters.
    let rendering: String

    init(_ recipe: Recipe, shrink: Int) {
        filters = recipe.steps.map { step in
            Filter(name: step.filter, version: step.version, parameters: step.values.mapValues(ReceiptValue.init))
        }
        color = recipe.color.rawValue
        dpi = recipe.dpi
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
            precision: recipe.save.precision == .input ? nil : recipe.save.precision.rawValue,
            depth: recipe.save.depth == .input ? nil : recipe.save.depth.rawValue,
            color: recipe.save.color.map { $0.profile.map(ReceiptValue.words) ?? $0.words },
            intent: recipe.save.color?.intent.rawValue, blackPoint: recipe.save.color?.blackPoint,
            set: recipe.save.texts,
            options: recipe.save.values.mapValues(ReceiptValue.init))
        rendering = recipe.version
    }
}

/// The JSON value of a parameter.
enum ReceiptValue: Hashable, Sendable, Codable {
    case number(Double)
    case boolean(Bool)
    /// Also lengths, sizes, regions and colours as in a manifest: `50%`. A picture has its path and digest, and a
    /// command its words and the digest of the program.
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
        case .regions(let set) where !set.outlines.isEmpty:
            self = .text("\(value.words) \(Self.digest(of: set.outlines))")
        case .word, .text, .path, .numbers, .region, .regions, .regionFile, .length, .size, .color, .template,
            .pictureTemplate:
            self = .text(value.words)
        case .picture(let picture): self = .text(Self.words(picture))
        case .command(let command): self = .text("\(value.words) \(command.sha256)")
        }
    }

    /// The SHA-256 of all corners, which would take too much room.
    private static func digest(of outlines: [RegionOutline]) -> String {
        let numbers = outlines.flatMap { outline in
            [outline.grow] + outline.rings.flatMap { [Double($0.count)] + $0 }
        }
        return SHA256Stream.digest(of: numbers.flatMap { $0.bitPattern.bigEndianBytes }) ?? ""
    }

    /// The path and the digest of a file.
    static func words(_ file: PictureReference) -> String { "\(file.path) \(file.digest ?? "")" }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // A value of another kind is tried as the next one.
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

/// Finds the input of a record, which has the path as it is shown.
enum FoundInput {
    /// The path's bytes if they are not UTF-8 and the file exists; nil for all others.
    static func exactBytes(of path: String) -> [UInt8]? {
        guard let bytes = NonUTF8Name.possibleBytes(of: path), !FileSystem.exists(path), FileSystem.exists(bytes) else {
            return nil
        }
        return bytes
    }

    static func file(_ path: String) -> DigestTask.File { DigestTask.File(path: path, bytes: exactBytes(of: path)) }
}

/// Reads, writes and removes the receipt beside an output.
enum ReceiptFile {
    /// What is at a receipt's path.
    enum Finding {
        case nothing
        case receipt(Receipt)
        /// Another program's file, which is not changed.
        case foreign
    }

    /// - Parameter output: the path of the output.
    static func inspect(beside output: String) -> Finding {
        do throws(FileError) {
            return inspect(beside: output, in: try folder(of: output))
        } catch {
            return error.code == ENOENT || error.code == ENOTDIR ? .nothing : .foreign
        }
    }

    private static func folder(of output: String) throws(FileError) -> SafeFolder {
        try SafeFolder(FileSystem.folder(of: output), trusting: .everybody)
    }

    private static func inspect(beside output: String, in folder: SafeFolder) -> Finding {
        do throws(FileError) {
            guard let bytes = try folder.contents(of: name(beside: output), limit: largest) else { return .nothing }
            return Receipt(bytes).map(Finding.receipt) ?? .foreign
        } catch {
            // A file that cannot be read may be another program's.
            return .foreign
        }
    }

    private static func name(beside output: String) -> String { PathNames.last(of: ReceiptName.path(of: output)) }

    /// The largest receipt that is read. A receipt has less than 100 bytes for each 256 rows.
    private static let largest = 64 << 20

    /// Renames a temporary file to the receipt's path, unless another program's file is there.
    ///
    /// - Returns: whether the receipt is in its place. If not, the temporary file was removed.
    static func put(_ temporary: String, beside output: String) -> Bool {
        do throws(FileError) {
            return put(temporary, beside: output, in: try folder(of: output))
        } catch {
            FileSystem.remove(temporary)
            return false
        }
    }

    /// The same in an open folder.
    @discardableResult
    static func put(_ temporary: String, beside output: String, in folder: SafeFolder) -> Bool {
        // The temporary file is in the same folder.
        let temporary = PathNames.last(of: temporary)
        do throws(FileError) {
            if case .foreign = inspect(beside: output, in: folder) {
                try folder.remove(temporary)
                return false
            }
            try folder.rename(temporary, as: name(beside: output))
            return true
        } catch {
            // A sweep removes the file later: its name has the name of this run.
            try? folder.remove(temporary)
            return false
        }
    }

    /// Removes the receipt of an output that was removed or replaced.
    static func remove(beside output: String, in folder: SafeFolder) {
        // If it cannot be removed, `verify` reports a receipt that does not fit its output.
        if case .receipt = inspect(beside: output, in: folder) { try? folder.remove(name(beside: output)) }
    }

    /// The record of an output of which only the receipt is known.
    static func output(at path: String) -> RecordedOutput? {
        guard case .receipt(let receipt) = inspect(beside: path) else { return nil }
        return RecordedOutput(record: receipt.record(at: path), job: receipt.job.name, manifest: nil, recipe: nil)
    }
}

extension Receipt {
    fileprivate func record(at path: String) -> OutputRecord {
        func facts(_ bytes: Int, _ digest: Digest) -> FileFacts {
            FileFacts(stamp: FileStamp(device: 0, inode: 0, size: bytes, modified: 0, changed: 0), digest: digest)
        }
        return OutputRecord(
            path: path, input: input.path, page: input.page, part: 0, source: facts(input.bytes, input.digest),
            recipe: RecipeID(index: 0), file: facts(output.bytes, output.digest), width: output.width,
            height: output.height)
    }
}

extension UInt64 {
    /// The highest byte comes first.
    fileprivate var bigEndianBytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> (8 * (7 - $0))) } }
}
