import Catalogs
import FoundationEssentials
import Geometry
import JobModel
package import WorkerProtocol

/// The task of a worker, and what its receipt has to say.
extension PictureOrder {
    /// More pixels are not decoded. Jobs have the same limit unless they say something else.
    private static let mostPixels = 2_000_000_000

    /// - Parameters:
    ///   - path: of the file that the worker writes, if it writes one.
    ///   - scratch: a folder for temporary files, and for levels.
    ///   - memory: in bytes. Larger parts of a picture are streamed.
    ///   - step: of ``PictureLevels/steps``.
    package func task(writing path: String, scratch: String, memory: Int, step: Int = 0) -> TaskSpec {
        let input = input(scratch, step)
        switch kind {
        case .digest: return .compare(DigestTask(files: [.init(path: source.path, bytes: source.bytes)]))
        case .facts:
            return .probe(
                ProbeTask(
                    input: input, chain: [], outputs: [OutputSpec(format: "png", save: SaveOptions())], tile: .auto,
                    tileMemory: memory, frameMemory: memory, digestsContent: false))
        case .thumbnail(let width):
            let view = PreviewTask.View(x: .percent(50), y: .percent(50), width: width, height: width)
            return preview(
                input, [Self.thumbnail(.box(width), fit: "inside")], "webp", .strip, view, path: path, memory: memory)
        case .crop(let crop):
            let part = crop.part
            // The middle, from which the worker finds the first pixel without rounding.
            let view = PreviewTask.View(
                x: .pixels(Double(part.x) + Double(part.width) / 2),
                y: .pixels(Double(part.y) + Double(part.height) / 2), width: part.width, height: part.height)
            // The smallest effort takes a tenth of the time, for a file that is a sixth larger.
            return preview(
                input, chain(crop), "png", .keep, view, options: ["compression": .integer(1)], path: path,
                memory: memory)
        case .levels(let levels):
            return .frame(
                FrameTask(
                    input: input, chain: [],
                    outputs: levels.steps[step].map { scale in
                        let (name, size) = (PictureLevels.fileName(scale), levels.size(at: scale))
                        let chain = Self.reduction(to: scale, width: size.width, height: size.height)
                        return FrameTask.Output(
                            OutputSpec(chain: chain, format: "tiff", save: PictureLevels.save),
                            temporaryPath: PathNames.joined(scratch, name), name: name)
                    }, tileMemory: memory, frameMemory: memory, syncs: false))
        }
    }

    private func input(_ scratch: String, _ step: Int) -> InputSpec {
        let level: String? =
            switch reading {
            case .level(let file): file
            case .usual, .allPixels: step > 0 ? PathNames.joined(scratch, PictureLevels.fileName(1)) : nil
            }
        // Thumbnails have no profile, since the page shows many of them.
        let color: ColorPolicy = isThumbnail ? .srgb : .keep
        if let level { return InputSpec(path: level, maxPixels: Self.mostPixels, color: color, scratchFolder: scratch) }
        return InputSpec(
            path: source.path, bytes: source.bytes, maxPixels: Self.mostPixels, color: color, scratchFolder: scratch,
            pages: source.page > 0 ? .page(source.page) : .first, shrink: reading == .allPixels ? 1 : nil)
    }

    private func chain(_ crop: PictureCrop) -> [FilterInvocation] {
        // A level is reduced already.
        if case .level = reading { return [] }
        return Self.reduction(to: crop.scale, width: crop.width, height: crop.height)
    }

    /// The whole picture is reduced in the same way for all its parts, so that they fit together.
    ///
    /// - Parameter width: Of the whole reduced picture.
    private static func reduction(to scale: Int, width: Int, height: Int) -> [FilterInvocation] {
        scale == 1 ? [] : [thumbnail(.sides(width: width, height: height), fit: "fill")]
    }

    private var isThumbnail: Bool { if case .thumbnail = kind { true } else { false } }

    private func preview(
        _ input: InputSpec, _ chain: [FilterInvocation], _ format: String, _ metadata: MetadataPolicy,
        _ view: PreviewTask.View, options: [String: ParameterValue] = [:], path: String, memory: Int
    ) -> TaskSpec {
        .preview(
            PreviewTask(
                input: input, chains: [chain],
                output: OutputSpec(chain: chain, format: format, save: SaveOptions(metadata: metadata)), others: [],
                view: view, comparison: nil, fileFormat: format, fileOptions: options, path: path, memory: memory))
    }

    private static func thumbnail(_ size: SizeWish, fit: String) -> FilterInvocation {
        FilterInvocation(
            filter: "thumbnail",
            values: [
                "size": .size(size), "fit": .word(fit), "crop": .word("centre"), "enlarge": .boolean(false),
                "light": .word("encoded"), "background": .color(red: 255, green: 255, blue: 255, alpha: 255),
            ])
    }

    /// What an answer consists of.
    package enum Content: Hashable, Sendable {
        case bytes([UInt8])
        /// The file that the worker has written.
        case file
        /// The files of a large picture.
        case levels
    }

    /// - Throws: ``PictureError`` if the file is another one than it was when the picture was ordered.
    package func content(of receipt: TaskReceipt, step: Int = 0) throws(PictureError) -> Content {
        switch (kind, receipt) {
        case (.digest, .compare(let files)):
            guard let facts = files.first ?? nil else { throw .missing(Self.gone) }
            return .bytes(Array("\(facts.digest)".utf8))
        case (.facts, .probe(let probe)):
            let image = probe.source
            let facts = PictureFacts(
                width: image.width, height: image.height, format: image.fileFormat, layout: image.layout.rawValue,
                samples: image.format.rawValue, frames: probe.pages)
            return .bytes(try Self.json(facts))
        case (.thumbnail, .preview): return .file
        case (.crop(let crop), .preview(let preview)):
            guard preview.panels.first?.part == crop.part else { throw .missing(Self.changed) }
            return .file
        case (.levels(let levels), .outputs(let outputs, of: .some)):
            let scales = levels.steps[step]
            let sizes = scales.map(levels.size)
            guard outputs.map({ PathNames.last(of: $0.path) }) == scales.map(PictureLevels.fileName) else {
                throw Self.otherAnswer
            }
            guard zip(outputs, sizes).allSatisfy({ ($0.image.width, $0.image.height) == $1 }) else {
                throw .missing(Self.changed)
            }
            return .levels
        default: throw Self.otherAnswer
        }
    }

    private static let otherAnswer = PictureError.unavailable(
        "a worker has answered another question\n   = install all programs together")

    private static func json(_ facts: PictureFacts) throws(PictureError) -> [UInt8] {
        do {
            return Array(try JSONEncoder().encode(facts))
        } catch {
            throw .unavailable("the facts of the picture cannot be written as JSON: \(error)")
        }
    }

    package static let gone = "the picture is gone, or cannot be read"
    package static let changed = "the picture has changed since the run\n   = the next run of the job renders it again"
}

extension PictureFacts {
    init(json: [UInt8]) throws { self = try JSONDecoder().decode(PictureFacts.self, from: Data(json)) }
}
