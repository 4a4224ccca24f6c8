import Catalogs
import Geometry
package import JobModel

/// Checks of answers. A worker decodes files of strangers, and a log may be edited. So every answer is compared with
/// its task before it is used. Names of files matter most, because the coordinator renames and removes these files.
extension TaskSpec {
    /// Who may have done the task. This decides the names of the files that it wrote.
    package enum Doer: Hashable, Sendable {
        /// A worker that got this very task, or one of a shard, which adds its attempt to the names.
        case workerOfThisTask
        /// A worker of another coordinator of the run, or of another attempt. The names differ only behind their last
        /// hyphen.
        case earlierWorker
    }

    /// Why a receipt cannot be the answer to this task. Nil if it can.
    package func objection(to receipt: TaskReceipt, by doer: Doer = .workerOfThisTask) -> String? {
        switch (self, receipt) {
        case (.probe(let task), .probe(let receipt)): task.objection(to: receipt)
        case (.frame(let task), .outputs(let receipts, let source?)):
            task.opening == nil
                ? source.objection ?? task.objection(to: receipts, doer) : "no probe, though it was asked for"
        case (.frame(let task), .probe(let receipt)): task.objection(to: receipt)
        case (.frame(let task), .opened(let probe, let receipts, let source)):
            task.objection(to: probe) ?? task.smallObjection(to: probe) ?? source.objection
                ?? task.objection(to: receipts, doer)
        case (.canvas(let task), .canvas(let receipt)): task.objection(to: receipt, doer)
        case (.tile(let task), .tile(let receipt)): task.objection(to: receipt, doer)
        case (.stitch(let task), .outputs(let receipts, nil)): task.objection(to: receipts, doer)
        case (.audit(let task), .audit(let receipt)): task.objection(to: receipt)
        case (.check, .check): nil
        case (.preview(let task), .preview(let receipt)): task.objection(to: receipt)
        case (.compare(let task), .compare(let files)):
            files.count == task.files.count
                ? files.lazy.compactMap { $0?.objection }.first
                : "facts of \(files.count) files; \(task.files.count) were asked for"
        default: "the receipt of another kind of task"
        }
    }

    /// Why a failure cannot be the answer to this task. Nil if it can.
    ///
    /// - Parameter plugins: The filters that are plugins. Nil if unknown.
    package func objection(to failure: TaskFailure, plugins: Set<String>? = nil) -> String? {
        let bytes = failure.message.utf8.count
        guard bytes <= TaskFailure.longestMessage else { return "a failure with a message of \(bytes) bytes" }
        return switch failure.kind {
        case .data, .value, .input, .permission, .limit, .output, .storage, .resourceLimit, .transient: nil
        case .plugin(let name): objection(toPlugins: [name], plugins)
        case .damagedTile(let index):
            if case .stitch(let task) = self, task.tiles.indices.contains(index) {
                nil
            } else {
                "a damaged tile that it never had"
            }
        case .damagedCanvas: readsCanvas ? nil : "a damaged canvas that it never had"
        case .mismatch: compares ? nil : "other pixels, which it was not to compare"
        }
    }

    /// Why the task cannot be in the code of these plugins. Nil if it can.
    package func objection(toPlugins names: [String], _ plugins: Set<String>?) -> String? {
        // A worker names each plugin once.
        guard Set(names).count == names.count else { return "that it is in one plugin twice" }
        let foreign = names.first { name in
            plugins?.contains(name) == false || !chains.contains { $0.contains { $0.filter == name } }
        }
        return foreign.map { "that it is in the plugin '\(shown($0))', which is not in its chain" }
    }

    private var readsCanvas: Bool {
        switch self {
        case .tile, .stitch: true
        case .audit(let task): if case .canvas = task.source { true } else { false }
        case .probe, .frame, .canvas, .check, .preview, .compare: false
        }
    }

    /// Whether the task can find damaged tiles. A stitch compares its tiles.
    private var compares: Bool {
        switch self {
        case .audit, .check, .stitch: true
        case .probe, .frame, .canvas, .tile, .preview, .compare: false
        }
    }

    private var chains: [[FilterInvocation]] {
        switch self {
        case .probe(let task): [task.chain] + task.outputs.map(\.chain)
        case .frame(let task): [task.chain] + task.outputs.map(\.spec.chain)
        case .canvas(let task): [task.chain, task.output.chain]
        case .tile(let task): [task.chain]
        case .stitch(let task): [task.output.chain]
        case .audit(let task): [task.chain] + task.outputs.map(\.spec.chain)
        case .check(let task): task.outputs.map(\.spec.chain)
        case .preview(let task): task.chains + [task.output.chain] + task.others.map(\.chain)
        case .compare: []
        }
    }
}

/// Limits that no picture and no file exceeds, so that sums and products of such numbers do not overflow.
private enum Most {
    static let side = 1 << 27
    /// The height of all frames, one below the other.
    static let height = 1 << 31
    /// The pixels of all frames of a picture.
    static let pixels = Double(1 << 40)
    /// The area of a rectangle that a tile reads. It may extend beyond the picture.
    static let area = Double(1 << 44)
    /// A worker refuses more, with a message of its own.
    static let pages = 1 << 16
    static let bytes = 1 << 60
    static let tiles = 1 << 20
    /// The number of rectangles that one tile reads, of all frames.
    static let sources = 1 << 16
    /// In seconds, for everything that is done with a picture.
    static let cost = 1e7
    static let amplification = 1e6
    /// In bytes, for names of programs with their versions.
    static let words = 1000
    /// In bytes, for names of formats.
    static let formatName = 100
    /// In bytes, for reasons. A reason may name a filter.
    static let reason = 2000
}

/// A foreign text in a message of our own. A long text is cut.
private func shown(_ text: String) -> String { String(text.unicodeScalars.prefix(200)) }

/// False for a NaN.
private func isAmount(_ number: Double, upTo most: Double) -> Bool { number >= 0 && number <= most }

private func isPicture(_ width: Int, _ height: Int, frames: Int = 1) -> Bool {
    let sides = 1...Most.side
    return sides.contains(width) && sides.contains(height) && sides.contains(frames)
        && height * frames <= Most.height && Double(width) * Double(height * frames) <= Most.pixels
}

extension PixelRect {
    /// Whether rows, possibly of many frames, have a possible size.
    fileprivate var isPlausible: Bool {
        (-Most.height...Most.height).contains(x) && (-Most.height...Most.height).contains(y)
            && (0...Most.side).contains(width) && (0...Most.height).contains(height)
            && Double(width) * Double(height) <= Most.area
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
    return isLike ? nil : "the file '\(shown(name))', which it was not to write"
}

private let hyphen = UInt8(ascii: "-")

extension FileFacts {
    fileprivate var objection: String? {
        (0...Most.bytes).contains(stamp.size) ? nil : "a file of \(stamp.size) bytes"
    }
}

extension ImageFacts {
    package var objection: String? {
        guard fileFormat.utf8.count <= Most.formatName else {
            return "a format's name of \(fileFormat.utf8.count) bytes"
        }
        guard isPicture(width, height, frames: frames) else {
            return "a picture of \(width)×\(height) pixels and \(frames) frames"
        }
        return nil
    }
}

extension Shrinking {
    fileprivate var objection: String? {
        [2, 4, 8].contains(factor) && isPicture(width, height)
            ? nil : "a picture of \(width)×\(height) pixels, decoded \(factor) times smaller"
    }
}

extension ProbeReceipt {
    /// What is wrong with it, whatever the task was. Nil for nothing.
    package var objection: String? {
        if let objection = source.objection ?? shrinking?.objection { return objection }
        guard (1...Most.pages).contains(pages) else { return "a file of \(pages) pages" }
        for output in outputs {
            guard output.extent.isPlausible,
                isPicture(output.extent.width, output.extent.height, frames: output.frames)
            else { return "an output of \(output.extent.width)×\(output.extent.height) pixels" }
        }
        guard [halo.left, halo.top, halo.right, halo.bottom].allSatisfy((0...Most.height).contains) else {
            return "a halo of impossible size"
        }
        guard isAmount(readAmplification, upTo: Most.amplification),
            [cost.decode, cost.chain, cost.encode, cost.total].allSatisfy({ isAmount($0, upTo: Most.cost) }),
            (0...Most.bytes).contains(passage.bytes)
        else { return "an impossible estimate" }
        if let stamp, !(0...Most.bytes).contains(stamp.size) { return "a file of \(stamp.size) bytes" }
        if let reason = passage.heldBecause, reason.utf8.count > Most.reason {
            return "a reason of \(reason.utf8.count) bytes"
        }
        if let losses, Set(losses).count < losses.count { return "a property of the picture that is lost twice" }
        return gridObjection
    }

    /// Each measurement must be for its filter, and possible in the picture, whose size was checked before.
    fileprivate func objection(toMeasurementsFor filters: [[FilterInvocation]]) -> String? {
        let measured = measured ?? []
        guard measured.map(\.filters) == filters,
            measured.allSatisfy({ $0.filters.map(\.measures) == $0.measurements.map(\.kind) })
        else { return "measurements for other filters" }
        let picture = PixelRect(
            x: 0, y: 0, width: shrinking?.width ?? source.width, height: shrinking?.height ?? source.height)
        return measured.lazy.flatMap(\.measurements).allSatisfy { $0.isPossible(in: picture) }
            ? nil : "an impossible measurement"
    }

    /// The tiles must cover the first output with all its frames, each in its position.
    private var gridObjection: String? {
        let sides = 1...Most.height
        guard let output = outputs.first, case let first = output.extent, grid.extent.isPlausible,
            !grid.extent.isEmpty,
            sides.contains(grid.tileWidth), sides.contains(grid.tileHeight), grid.count <= Most.tiles,
            (grid.extent.x, grid.extent.y, grid.extent.width) == (first.x, first.y, first.width),
            // Each frame of an input is tiled alone. Frames that a chain makes are tiled together.
            [first.height * output.frames, first.height * output.frames / source.frames].contains(grid.extent.height),
            tileSources.count == grid.count, tileSources.allSatisfy({ $0.count <= Most.sources }),
            tileSources.joined().allSatisfy(\.isPlausible)
        else { return "tiles that do not cover the picture" }
        return nil
    }
}

extension Measurement {
    fileprivate func isPossible(in picture: PixelRect) -> Bool {
        switch self {
        case .part(nil): true
        case .part(let part?): part.isPlausible && !part.isEmpty && picture.contains(part)
        case .angle(let angle): angle.magnitude <= 45  // false for a NaN
        case .light(nil): true
        case .light(let light?): light.count == 3 && light.allSatisfy(\.isFinite)
        }
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
        // If the file has fewer pages by now, the worker reports a failure and no receipt.
        if case .page(let number) = input.pages, number >= receipt.pages {
            return "page \(number + 1) of a file of \(receipt.pages) pages"
        }
        return receipt.objection ?? receipt.objection(toMeasurementsFor: measuredFilters)
    }
}

extension OutputReceipt {
    /// What is wrong with it, whatever the task was. Nil for nothing.
    package var objection: String? {
        if let objection = image.objection { return objection }
        guard (1...Most.bytes).contains(bytes) else { return "a file of \(bytes) bytes" }
        let encoding = pixels.encoding
        guard max(encoding.encoder.utf8.count, encoding.penumbra.utf8.count) <= Most.words else {
            return "an encoder's name of \(max(encoding.encoder.utf8.count, encoding.penumbra.utf8.count)) bytes"
        }
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
            ? nil : "a file in the format '\(shown(image.fileFormat))'; '\(spec.format)' was asked for"
    }
}

extension FrameTask {
    fileprivate func objection(to receipt: ProbeReceipt) -> String? {
        probe.map { $0.objection(to: receipt) } ?? "the receipt of another kind of task"
    }

    /// Only small pictures are rendered before the coordinator knows them.
    fileprivate func smallObjection(to receipt: ProbeReceipt) -> String? {
        renders(receipt)
            ? nil : "outputs of a picture of \(receipt.mostPixels) pixels; its probe alone was asked for"
    }

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
            ?? canvas.shrinking?.objection ?? receipt.source.objection ?? objection(toExif: canvas.exif ?? [:])
            ?? objection(toContentOf: canvas)
    }

    private func objection(toContentOf canvas: CanvasReference) -> String? {
        if let frame = canvas.frame, input.pages != .page(frame) { return "a canvas of another frame" }
        if canvas.measurements ?? [] != measurements { return "a canvas with other measurements" }
        let isExpected =
            (canvas.rect, canvas.layout, canvas.format) == (expected.rect, expected.layout, expected.format)
            && canvas.stored == expected.stored && canvas.cells != nil
        return isExpected ? nil : "a canvas of another picture"
    }

    private func objection(toExif values: [String: String]) -> String? {
        let asked = Set((chain + output.chain).exifFields.map(\.rawValue))
        if values.keys.contains(where: { !asked.contains($0) }) { return "metadata that were not asked for" }
        return values.values.map(\.utf8.count).max().flatMap {
            $0 > ExifField.longestText ? "a text of \($0) bytes" : nil
        }
    }
}

extension TileTask {
    fileprivate func objection(to receipt: TileReceipt, _ doer: TaskSpec.Doer) -> String? {
        WorkerProtocol.objection(receipt.path, for: tilePath, doer)
            ?? (receipt.rect == rect ? nil : "a tile that was not asked for")
    }
}

extension AuditTask {
    /// Only the worker knows the width of the bands.
    fileprivate func objection(to receipt: AuditReceipt) -> String? {
        let rows = outputs.lazy.flatMap(\.bands).reduce(0) { $0 + $1.rows.count }
        return (rows...rows * Most.side).contains(receipt.pixels) ? nil : "an audit of \(receipt.pixels) pixels"
    }
}

extension ProbeReceipt {
    /// Why outputs cannot be the result for the picture. Nil if they can, and also if the picture may have changed
    /// since its probe.
    ///
    /// - Parameter parts: The indices of the outputs that were written.
    package func objection(to receipts: [OutputReceipt], of source: FileFacts, parts: [Int]) -> String? {
        guard let stamp, stamp.modified != 0, stamp.isUntouched(since: source.stamp) else { return nil }
        for (part, receipt) in zip(parts, receipts) where outputs.indices.contains(part) {
            let (image, output) = (receipt.image, outputs[part])
            guard
                (image.width, image.height, image.frames) == (output.extent.width, output.extent.height, output.frames)
            else {
                return "a picture of \(image.width)×\(image.height) pixels and \(image.frames) frames; "
                    + "\(output.extent.width)×\(output.extent.height) and \(output.frames) were foretold"
            }
        }
        return nil
    }
}

extension PreviewTask {
    fileprivate func objection(to receipt: PreviewReceipt) -> String? {
        guard receipt.panels.count == chains.count else {
            return "\(receipt.panels.count) panels; \(chains.count) were asked for"
        }
        guard
            receipt.panels.allSatisfy({ panel in
                panel.part.isPlausible && isPicture(panel.width, panel.height)
                    && PixelRect(x: 0, y: 0, width: panel.width, height: panel.height).contains(panel.part)
            })
        else { return "a part of impossible size" }
        return receipt.image.objection
            ?? (receipt.image.fileFormat == fileFormat ? nil : "a preview in another format")
    }
}
