import Catalogs
import Geometry
import Raster

extension Warp {
    /// Writes every pixel of an 8-bit destination.
    func renderBytes(_ source: KernelSource, into destination: inout AnyRaster) {
        source.renderBytes(within: nil, on: level, into: &destination) { bytes, writer in
            let drawing = ByteWarp(self, bytes, writer)
            for block in blocks(of: writer.rect, ByteWarp.block) { drawing.draw(block) }
        }
    }
}

/// Draws an 8-bit picture through a projection, in fixed point.
///
/// A place is rounded to 1/2048 of a pixel along each axis, and weights to 1/16384. Each block is drawn in the form that needs the
/// least time. All forms give the same pixels where both can be used, so that the pixels do not depend on where blocks begin.
final class ByteWarp {
    /// How the pixels around a block are stored while it is drawn.
    private enum Form {
        /// As in the picture, which has no alpha.
        case gray, rgb
        /// Four samples, which are opaque, or 0 outside of the picture.
        case rgba
        /// Four premultiplied words in 8.7 fixed point.
        case words

        /// The bytes of a pixel.
        var bytes: Int {
            switch self {
            case .gray: 1
            case .rgb: 3
            case .rgba: 4
            case .words: 8
            }
        }
    }

    /// The largest size of a block. Square blocks show the fewest pixels twice.
    static let block = (width: 128, height: 128)

    private let warp: Warp
    private let source: ByteSource
    private let writer: RowWriter<UInt8>
    private let operations: RowOperations
    private let table: [Int16]
    /// The pixels around a block, in one of the forms.
    private var samples = RowBuffer<UInt8>(count: 0)
    private var premultiplied = RowBuffer<UInt16>(count: 0)
    private let places = RowBuffer<Double>(count: 2 * block.width)
    private let sums = RowBuffer<Int32>(count: 4 * block.width + 128)
    private let words = RowBuffer<UInt16>(count: 4 * block.width + 128)
    private let pixels = RowBuffer<UInt8>(count: 4 * block.width + 128)

    init(_ warp: Warp, _ source: ByteSource, _ writer: RowWriter<UInt8>) {
        (self.warp, self.source, self.writer, operations) = (warp, source, writer, writer.operations)
        table = warp.kernel == .lanczos3 ? Self.lanczos3 : Self.catmullRom
    }

    private var channels: Int { writer.layout.channels }

    func draw(_ block: Warp.Block) {
        let rect = block.rect
        guard !block.area.isEmpty else {
            writer.row.update(repeating: 0, count: rect.width * channels)
            for y in rect.rows { writer.store(writer.row, columns: rect.columns, y: y) }
            return
        }
        let form = read(block)
        let around = Row(form == .words ? premultiplied.start.bytes : samples.start)
        let area = [block.area.x, block.area.y, block.area.width, block.area.height]
        let map = warp.projection.matrix
        for y in rect.rows {
            operations.warpBytes(
                around, area: area, bytes: form.bytes, isWide: warp.kernel == .lanczos3, table: table, map: map,
                x: rect.x, y: y, most: Warp.mostSamples, count: rect.width, scratch: places.start,
                out: sums.start)
            store(form, rect.columns, y)
        }
    }

    /// Stores the pixels whose sums were found.
    private func store(_ form: Form, _ columns: Range<Int>, _ y: Int) {
        let (row, count) = (writer.row, columns.count)
        switch form {
        case .gray, .rgb:
            operations.roundSums(Row(sums.start), channels: channels, count: count, out: row)
        case .rgba, .words:
            operations.wordsOfSums(Row(sums.start), count: count, out: words.start)
            let target = channels == 2 ? pixels.start : row
            operations.unpremultiply(Row(words.start), zero: 0, colors: 3, pixels: count, out: target)
            if channels == 2 {
                for index in 0..<count {
                    (row[2 * index], row[2 * index + 1]) = (target[4 * index], target[4 * index + 3])
                }
            }
        }
        writer.store(row, columns: columns, y: y)
    }

    // MARK: The pixels around a block

    /// Copies the pixels that a block shows.
    private func read(_ block: Warp.Block) -> Form {
        let (area, channels) = (block.area, source.channels)
        let isWhole = area.rows.allSatisfy { source.position(ofRow: $0) >= 0 } && hasAllColumns(area.columns)
        let hasAlpha = channels % 2 == 0
        guard hasAlpha || writer.layout.hasAlpha && (block.isCut || !isWhole) else {
            reserve(channels * area.area)
            for (index, y) in area.rows.enumerated() {
                source.copy(
                    area.columns, position: source.position(ofRow: y),
                    to: samples.start + index * area.width * channels)
            }
            return channels == 1 ? .gray : .rgb
        }
        reserve(4 * area.area)
        readFour(area)
        guard hasAlpha, !operations.isOpaque(Row(samples.start), channels: 4, pixels: area.area) else { return .rgba }
        let count = 4 * area.area + Self.slack
        if premultiplied.count < count { premultiplied = RowBuffer(count: count) }
        operations.premultiply(Row(samples.start), colors: 3, pixels: area.area, out: premultiplied.start)
        return .words
    }

    /// More values than vectors read or write beyond an end.
    private static let slack = 128

    /// Makes room for the samples of an area.
    private func reserve(_ count: Int) {
        if samples.count < count + Self.slack { samples = RowBuffer(count: count + Self.slack) }
    }

    private func hasAllColumns(_ columns: Range<Int>) -> Bool {
        source.isSafeInPlace(columns) || columns.allSatisfy { source.hasColumn($0) }
    }

    /// Copies the pixels of an area as four samples each. Pixels without alpha become opaque, or 0 outside of the picture.
    private func readFour(_ area: PixelRect) {
        let (width, channels) = (area.width, source.channels)
        let line = RowBuffer<UInt8>(count: width * channels + Self.slack)
        let clear = RowBuffer<UInt8>(count: width + Self.slack)
        let alphas = RowBuffer<UInt8>(count: width + Self.slack)
        for (index, x) in area.columns.enumerated() { alphas[index] = source.hasColumn(x) ? 255 : 0 }
        for (index, y) in area.rows.enumerated() {
            let (position, target) = (source.position(ofRow: y), samples.start + 4 * width * index)
            guard channels < 4 else {
                source.copy(area.columns, position: position, to: target)
                continue
            }
            source.copy(area.columns, position: position, to: line.start)
            operations.fourSamples(
                Row(line.start), channels: channels, alphas: Row(position < 0 ? clear.start : alphas.start),
                count: width, out: target)
        }
    }

    // MARK: Weights

    private static let phases = 2048

    private static let catmullRom = table(first: -1, count: 4) { distance in
        let d = distance.magnitude
        return d < 1 ? (1.5 * d - 2.5) * d * d + 1 : d < 2 ? ((-0.5 * d + 2.5) * d - 4) * d + 2 : 0
    }

    private static let lanczos3 = table(first: -2, count: 6) { Warp.lanczos($0) }

    /// The weights for each phase, and two numbers after them. The largest weight of a phase makes the sum right.
    ///
    /// - Parameter first: the first pixel with a weight. The place lies between 0 and 1.
    private static func table(first: Int, count: Int, _ weight: (Double) -> Double) -> [Int16] {
        let one = 16384
        var table: [Int16] = []
        for phase in 0..<phases {
            let place = Double(phase) / Double(phases)
            let exact = (first..<first + count).map { weight(place - Double($0)) }
            let sum = exact.reduce(0, +)
            var weights = exact.map { Int(($0 / sum * Double(one)).rounded()) }
            let largest = place < 0.5 ? -first : 1 - first
            weights[largest] += one - weights.reduce(0, +)
            table += weights.map { Int16($0) }
        }
        return table + [0, 0]
    }
}
