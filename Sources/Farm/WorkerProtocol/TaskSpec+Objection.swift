import Geometry
import JobModel

/// A worker decodes files of strangers, and a log may be edited: what says that a task was done is compared with the task
/// before anybody acts on it. Names of files above all, since the coordinator renames and removes what they name.
extension TaskSpec {
    /// Who may have done it, and so what the files are called that it wrote.
    package enum Doer: Hashable, Sendable {
        /// A worker that got this very task, or one of a shard, which adds its attempt to the names.
        case workerOfThisTask
        /// Somebody who did the same under another coordinator of the run, or in another attempt: only what is behind the last
        /// hyphen of the names is another.
        case earlierWorker
    }

    /// Why a receipt cannot be the answer to this task; nil where it can.
    package func objection(to receipt: TaskReceipt, by doer: Doer = .workerOfThisTask) -> String? {
        switch (self, receipt) {
        case (.probe(let task), .probe(let receipt)): task.objection(to: receipt)
        case (.frame(let task), .outputs(let receipts, let source?)):
            source.objection ?? task.objection(to: receipts, doer)
        case (.canvas(let task), .canvas(let receipt)): task.objection(to: receipt, doer)
        case (.tile(let task), .tile(let receipt)): task.objection(to: receipt, doer)
        case (.stitch(let task), .outputs(let receipts, nil)): task.objection(to: receipts, doer)
        case (.audit, .audit(let receipt)): receipt.pixels < 0 ? "an audit of \(receipt.pixels) pixels" : nil
        case (.check, .check): nil
        case (.preview(let task), .preview(let receipt)): task.objection(to: receipt)
        case (.compare(let task), .compare(let files)):
            files.count == task.files.count
                ? files.lazy.compactMap { $0?.objection }.first
                : "facts of \(files.count) files; \(task.files.count) were asked for"
        default: "the receipt of another kind of task"
        }
    }
}

/// What no picture and no file is beyond, so that sums and products of such numbers fit.
private enum Most {
    static let side = 1 << 27
    /// Of all frames, one below the other.
    static let height = 1 << 31
    static let bytes = 1 << 60
    static let tiles = 1 << 20
    static let amount = 1e12
}

private func isAmount(_ number: Double) -> Bool { number >= 0 && number <= Most.amount }

extension PixelRect {
    /// Of rows that may be those of many frames.
    fileprivate var isPlausible: Bool {
        (-Most.height...Most.height).contains(x) && (-Most.height...Most.height).contains(y)
            && (0...Most.side).contains(width) && (0...Most.height).contains(height)
    }
}

private func objection(_ name: String, for wanted: String, _ doer: TaskSpec.Doer) -> String? {
    if PathKey(name) == PathKey(wanted) { return nil }
    let begin: Substring.UTF8View.SubSequence =
        switch doer {
        case .workerOfThisTask: Substring(wanted + ".").utf8
        case .earlierWorker:
            Substring(wanted).utf8.prefix(through: wanted.utf8.lastIndex(of: hyphen) ?? wanted.startIndex)
        }
    let rest = name.utf8.dropFirst(begin.count)
    let isLike = !rest.isEmpty && name.utf8.starts(with: begin) && !rest.contains(UInt8(ascii: "/"))
    return isLike ? nil : "the file '\(name)', which it was not to write"
}

private let hyphen = UInt8(ascii: "-")

extension FileFacts {
    fileprivate var objection: String? {
        (0...Most.bytes).contains(stamp.size) ? nil : "a file of \(stamp.size) bytes"
    }
}

extension ImageFacts {
    package var objection: String? {
        let sides = 1...Most.side
        guard sides.contains(width), sides.contains(height), sides.contains(frames), height * frames <= Most.height
        else { return "a picture of \(width)×\(height) pixels and \(frames) frames" }
        return nil
    }
}

extension Shrinking {
    fileprivate var objection: String? {
        let sides = 1...Most.side
        return [2, 4, 8].contains(factor) && sides.contains(width) && sides.contains(height)
            ? nil : "a picture of \(width)×\(height) pixels, decoded \(factor) times smaller"
    }
}

extension ProbeReceipt {
    /// What is wrong with it whatever was asked.
    package var objection: String? {
        if let objection = source.objection ?? shrinking?.objection { return objection }
        guard (1...Most.side).contains(pages) else { return "a file of \(pages) pages" }
        for output in outputs {
            guard output.extent.isPlausible, !output.extent.isEmpty, (1...Most.side).contains(output.frames),
                output.extent.height <= Most.side, output.extent.height * output.frames <= Most.height
            else { return "an output of \(output.extent.width)×\(output.extent.height) pixels" }
        }
        guard [halo.left, halo.top, halo.right, halo.bottom].allSatisfy((0...Most.height).contains) else {
            return "a halo of impossible size"
        }
        guard isAmount(readAmplification), [cost.decode, cost.chain, cost.encode].allSatisfy(isAmount),
            (0...Most.bytes).contains(passage.bytes)
        else { return "an impossible estimate" }
        if let stamp, !(0...Most.bytes).contains(stamp.size) { return "a file of \(stamp.size) bytes" }
        return gridObjection
    }

    /// The tiles cover the first output, all its frames, and each has its place.
    private var gridObjection: String? {
        let sides = 1...Most.height
        guard let first = outputs.first?.extent, grid.extent.isPlausible, !grid.extent.isEmpty,
            sides.contains(grid.tileWidth), sides.contains(grid.tileHeight), grid.count <= Most.tiles,
            (grid.extent.x, grid.extent.y, grid.extent.width) == (first.x, first.y, first.width),
            grid.extent.height.isMultiple(of: first.height), tileSources.count == grid.count,
            tileSources.joined().allSatisfy(\.isPlausible)
        else { return "tiles that do not cover the picture" }
        return nil
    }
}

extension ProbeTask {
    fileprivate func objection(to receipt: ProbeReceipt) -> String? {
        guard receipt.outputs.count == outputs.count else {
            return "\(receipt.outputs.count) outputs; \(outputs.count) were asked about"
        }
        guard receipt.outputs.allSatisfy({ ($0.contentDigest != nil) == digestsContent }) else {
            return "digests that were not asked for, or none"
        }
        return receipt.objection
    }
}

extension OutputReceipt {
    /// What is wrong with it whatever was asked.
    package var objection: String? {
        if let objection = image.objection { return objection }
        guard (1...Most.bytes).contains(bytes) else { return "a file of \(bytes) bytes" }
        let encoding = pixels.encoding
        guard
            (encoding.layout, encoding.samples, encoding.frames) == (image.layout, image.format, image.frames),
            [1, 2, 4, 8].contains(encoding.shrink)
        else { return "pixels that are not those of its picture" }
        return isCovered ? nil : "bands that do not cover the picture"
    }

    private var isCovered: Bool {
        let rows = image.height * image.frames
        guard bands.count == (rows + BandReceipt.height - 1) / BandReceipt.height else { return false }
        return bands.enumerated().allSatisfy { index, band in
            let first = index * BandReceipt.height
            return band.rows == first..<min(first + BandReceipt.height, rows)
        }
    }

    fileprivate func objection(_ spec: OutputSpec, at path: String, _ doer: TaskSpec.Doer) -> String? {
        if let objection = WorkerProtocol.objection(self.path, for: path, doer) ?? objection { return objection }
        return image.fileFormat == spec.format
            ? nil : "a file in the format '\(image.fileFormat)'; '\(spec.format)' was asked for"
    }
}

extension FrameTask {
    fileprivate func objection(to receipts: [OutputReceipt], _ doer: TaskSpec.Doer) -> String? {
        let wanted = outputs.compactMap { output in output.temporaryPath.map { (output.spec, $0) } }
        guard receipts.count == wanted.count else {
            return "\(receipts.count) outputs; \(wanted.count) were asked for"
        }
        return zip(receipts, wanted).lazy.compactMap { $0.objection($1.0, at: $1.1, doer) }.first
    }
}

extension StitchTask {
    fileprivate func objection(to receipts: [OutputReceipt], _ doer: TaskSpec.Doer) -> String? {
        guard receipts.count == 1, let receipt = receipts.first else {
            return "\(receipts.count) outputs; 1 was asked for"
        }
        if let objection = receipt.objection(output, at: temporaryPath, doer) { return objection }
        let image = receipt.image
        return image.width == extent.width && image.height * image.frames == extent.height && image.frames == frames
            ? nil : "a picture of \(image.width)×\(image.height) pixels of tiles that are \(extent)"
    }
}

extension CanvasTask {
    fileprivate func objection(to receipt: CanvasReceipt, _ doer: TaskSpec.Doer) -> String? {
        let canvas = receipt.canvas
        return WorkerProtocol.objection(canvas.path, for: canvasPath, doer)
            ?? WorkerProtocol.objection(receipt.metadataPath, for: metadataPath, doer)
            ?? canvas.shrinking?.objection ?? receipt.source.objection
            ?? ((canvas.rect, canvas.layout, canvas.format) == (expected.rect, expected.layout, expected.format)
                && canvas.cells != nil ? nil : "a canvas of another picture")
    }
}

extension TileTask {
    fileprivate func objection(to receipt: TileReceipt, _ doer: TaskSpec.Doer) -> String? {
        WorkerProtocol.objection(receipt.path, for: tilePath, doer)
            ?? (receipt.rect == rect ? nil : "a tile that was not asked for")
    }
}

extension PreviewTask {
    fileprivate func objection(to receipt: PreviewReceipt) -> String? {
        guard receipt.panels.count == chains.count else {
            return "\(receipt.panels.count) panels; \(chains.count) were asked for"
        }
        let sides = 0...Most.side
        guard
            receipt.panels.allSatisfy({ $0.part.isPlausible && sides.contains($0.width) && sides.contains($0.height) })
        else { return "a part of impossible size" }
        return receipt.image.objection
            ?? (receipt.image.fileFormat == fileFormat ? nil : "a preview in another format")
    }
}
