import Catalogs
import Geometry
import Raster

/// A lens blur of a picture with depths, by layers of equal blur; see ``LensBlur``.
struct LayeredLens: WorkingKernel {
    let layers: FocusLayers
    /// The sums over the apertures of layers 1 and more, and of those behind with the same radii.
    let sums: [ApertureSum]
    let depth: DepthMap
    let brightening: LensBrightening?
    let operations: RowOperations

    var reach: Int { sums.map(\.reach).max() ?? 0 }

    func apply(_ reader: PixelReader, area: PixelRect, to sink: inout some WorkingRowSink) {
        for rect in LensBlock.parts(of: area) {
            let block = LensBlock(rect, reader, reach: reach, brightening, operations)
            let composition = LensComposition(block, self)
            for layer in stride(from: layers.count, through: -layers.count, by: -1) { composition.add(layer) }
            composition.write(to: &sink)
        }
    }
}

/// A block while its layers are composed, from the nearest one to the farthest.
private final class LensComposition {
    private let block: LensBlock
    private let lens: LayeredLens
    private let width: Int
    private let height: Int
    /// The place of each pixel among the layers, also around the block.
    private let places: SumPlane
    /// The lowest and the highest place of each row, from `-reach` on.
    private var bounds: [ClosedRange<Float>] = []

    /// The sum of the light so far, a plane for each channel, and of the shares.
    private let light: [SumPlane]
    private let total: SumPlane
    /// The share of each pixel that the layers so far let through.
    private let open: SumPlane

    // Memory for one layer.
    private let shares: SumPlane
    private let product: SumPlane
    private let scratch: ApertureSum.Scratch
    private let own: LayerSums
    private let hidden: LayerSums
    private let behind: SumPlane
    private let ownWeights: RowBuffer<Float>
    private let hiddenWeights: RowBuffer<Float>

    /// The sums over an aperture of some layers: their shares, and their light in a plane for each channel.
    private struct LayerSums {
        let shares: SumPlane
        let light: [SumPlane]
    }

    init(_ block: LensBlock, _ lens: LayeredLens) {
        (self.block, self.lens) = (block, lens)
        let (width, height, channels) = (block.rect.width, block.rect.height, block.channels)
        (self.width, self.height) = (width, height)
        func plane(margin: Int = 0) -> SumPlane { SumPlane(width: width, height: height, margin: margin) }
        func layer() -> LayerSums { LayerSums(shares: plane(), light: (0..<channels).map { _ in plane() }) }
        (places, shares, product) = (plane(margin: lens.reach), plane(margin: lens.reach), plane(margin: lens.reach))
        light = (0..<channels).map { _ in plane() }
        (total, open, behind) = (plane(), plane(), plane())
        (own, hidden) = (layer(), layer())
        scratch = ApertureSum.Scratch(width: width, reach: lens.reach)
        ownWeights = RowBuffer(count: SumPlane.rounded(width))
        hiddenWeights = RowBuffer(count: SumPlane.rounded(width))
        for y in 0..<height { open.row(y).update(repeating: 1, count: SumPlane.rounded(width)) }
        place()
    }

    /// Finds the places of all pixels.
    private func place() {
        let (depth, reach, rect) = (lens.depth, lens.reach, block.rect)
        let columns = (rect.x - reach..<rect.right + reach).map { depth.extent.x + depth.columns[$0] }
        let map = StrengthRows(.picture(depth.picture), columns: columns, extent: depth.extent)
        let shades = RowBuffer<UInt16>(count: columns.count)
        for y in -reach..<height + reach {
            map.fill(shades.start, y: depth.extent.y + depth.rows[rect.y + y])
            let row = places.row(y) - reach
            lens.layers.withPlaces {
                lens.operations.lookUpWeights(Row(shades.start), table: $0, count: columns.count, out: row)
            }
            var (low, high) = (row[0], row[0])
            for x in columns.indices {
                low = min(low, row[unchecked: x])
                high = max(high, row[unchecked: x])
            }
            bounds.append(low...high)
        }
    }

    /// Adds what the next layer contributes behind those that were added.
    func add(_ layer: Int) {
        if layer == 0 { return addSharp() }
        let sum = lens.sums[abs(layer) - 1]
        guard let (ranges, empty) = ranges(of: layer, reach: sum.reach) else { return }
        let place = Float(layer)
        func isEmpty(_ y: Int) -> Bool { empty[y + sum.reach] }
        func isNeeded(_ y: Int) -> Bool {
            ranges[max(0, y - sum.reach)..<min(height, y + sum.reach + 1)].contains { !$0.isEmpty }
        }
        let needed = (-sum.reach..<height + sum.reach).filter(isNeeded)
        add(sum, needed, ranges, isEmpty, to: own) { max(0, 1 - abs($0 - place)) }
        share(sum, needed, ranges, { _ in false }, to: behind) { max(0, min(1, place + 1 - $0)) }
        if layer > 0 {
            add(sum, needed, ranges, { _ in false }, to: hidden) { max(0, min(1, place - abs($0))) }
        }
        for (y, range) in ranges.enumerated() where !range.isEmpty { compose(layer, y, range) }
    }

    /// Sums up the shares of some layers, and their light.
    private func add(
        _ sum: ApertureSum, _ rows: [Int], _ ranges: [Range<Int>], _ isEmpty: (Int) -> Bool, to sums: LayerSums,
        share: (Float) -> Float
    ) {
        self.share(sum, rows, ranges, isEmpty, to: sums.shares, of: share)
        let count = width + 2 * sum.reach
        for (channel, plane) in sums.light.enumerated() {
            for y in rows where !isEmpty(y) {
                let row = product.row(y) - sum.reach
                row.update(repeating: 0, count: count)
                lens.operations.addWeighted(
                    Row(block.row(channel, y) - sum.reach), weights: Row(shares.row(y) - sum.reach), count: count,
                    to: row)
            }
            sum.add(
                { Row(product.row($0)) }, isEmpty: isEmpty, ranges: ranges, to: plane, scratch: scratch)
        }
    }

    /// Sums up the shares of some layers.
    private func share(
        _ sum: ApertureSum, _ rows: [Int], _ ranges: [Range<Int>], _ isEmpty: (Int) -> Bool, to plane: SumPlane,
        of share: (Float) -> Float
    ) {
        let count = width + 2 * sum.reach
        for y in rows where !isEmpty(y) {
            let (row, places) = (shares.row(y) - sum.reach, places.row(y) - sum.reach)
            precondition(count <= row.count && count <= places.count, "a row has all columns")
            for x in 0..<count { row[unchecked: x] = share(places[unchecked: x]) }
        }
        sum.add({ Row(shares.row($0)) }, isEmpty: isEmpty, ranges: ranges, to: plane, scratch: scratch)
    }

    /// The columns of each row that a layer reaches, and whether it is empty in each row that it reads. Nil if it reaches nothing.
    private func ranges(of layer: Int, reach: Int) -> (ranges: [Range<Int>], empty: [Bool])? {
        let place = Float(layer)
        var ranges = [Range<Int>](repeating: 0..<0, count: height)
        var empty: [Bool] = []
        for y in -reach..<height + reach {
            let bounds = bounds[y + lens.reach]
            guard bounds.lowerBound < place + 1, bounds.upperBound > place - 1,
                let columns = columns(of: place, y, reach)
            else {
                empty.append(true)
                continue
            }
            empty.append(false)
            for row in max(0, y - reach)..<min(height, y + reach + 1) {
                let other = ranges[row]
                ranges[row] =
                    other.isEmpty
                    ? columns
                    : min(other.lowerBound, columns.lowerBound)..<max(other.upperBound, columns.upperBound)
            }
        }
        return ranges.allSatisfy(\.isEmpty) ? nil : (ranges, empty)
    }

    /// The columns of the block that a row of a layer reaches, in whole steps; nil if the row does not have the layer.
    private func columns(of place: Float, _ y: Int, _ reach: Int) -> Range<Int>? {
        let row = places.row(y) - reach
        var (first, last) = (0, width + 2 * reach - 1)
        while first <= last, abs(row[first] - place) >= 1 { first += 1 }
        while first <= last, abs(row[last] - place) >= 1 { last -= 1 }
        guard first <= last else { return nil }
        let (low, high) = (max(0, first - 2 * reach), min(width, last + 1))
        return low / SumPlane.step * SumPlane.step..<SumPlane.rounded(high)
    }

    /// Puts the sums of a layer behind what is there.
    private func compose(_ layer: Int, _ y: Int, _ columns: Range<Int>) {
        let (covered, reached, filling) = (own.shares.row(y), behind.row(y), hidden.shares.row(y))
        let (open, total, places) = (open.row(y), total.row(y), places.row(y))
        let (ownWeights, hiddenWeights) = (ownWeights.start, hiddenWeights.start)
        let columns = columns.lowerBound..<min(columns.upperBound, width)
        let place = Float(layer)
        for x in columns {
            let (own, through) = (covered[unchecked: x], open[unchecked: x])
            guard own > 0, through > 0 else {
                ownWeights[unchecked: x] = 0
                hiddenWeights[unchecked: x] = 0
                continue
            }
            let weight = through / reached[unchecked: x]
            let rest = max(0, 1 - own / reached[unchecked: x])
            var (filled, remaining) = (Float(0), rest)
            if layer > 0, rest > 0 {
                let known = min(rest, max(0, place - places[unchecked: x]))
                filled = (rest - known) / rest
                remaining = max(0, rest - filled * filling[unchecked: x] / reached[unchecked: x])
                total[unchecked: x] += filled * weight * filling[unchecked: x]
            }
            ownWeights[unchecked: x] = weight
            hiddenWeights[unchecked: x] = filled * weight
            total[unchecked: x] += weight * own
            open[unchecked: x] = through * remaining
        }
        let first = columns.lowerBound
        for (channel, plane) in light.enumerated() {
            lens.operations.addWeighted(
                Row(own.light[channel].row(y) + first), weights: Row(ownWeights + first), count: columns.count,
                to: plane.row(y) + first)
            guard layer > 0 else { continue }
            lens.operations.addWeighted(
                Row(hidden.light[channel].row(y) + first), weights: Row(hiddenWeights + first), count: columns.count,
                to: plane.row(y) + first)
        }
    }

    /// Adds the layer in focus, which spreads nowhere.
    private func addSharp() {
        for y in 0..<height {
            let (open, total, places) = (open.row(y), total.row(y), places.row(y))
            for x in 0..<width {
                let place = places[unchecked: x]
                let share = abs(place) < 1 ? (1 - abs(place)) / min(1, 1 - place) : 0
                ownWeights[unchecked: x] = open[unchecked: x] * share
                total[unchecked: x] += open[unchecked: x] * share
                open[unchecked: x] *= 1 - share
            }
            for (channel, plane) in light.enumerated() {
                lens.operations.addWeighted(
                    block.originalRow(channel, y), weights: Row(ownWeights.start), count: width, to: plane.row(y))
            }
        }
    }

    func write(to sink: inout some WorkingRowSink) {
        let result = PlaneBuffer(block.rect.columns, channels: block.channels)
        for y in 0..<height {
            let total = total.row(y)
            for (channel, plane) in light.enumerated() {
                let (sum, original, target) = (plane.row(y), block.originalRow(channel, y), result.plane(channel))
                for x in 0..<width {
                    // An aperture with a dark middle may find no light at all.
                    target[unchecked: x] =
                        total[unchecked: x] > 0 ? sum[unchecked: x] / total[unchecked: x] : original[unchecked: x]
                }
            }
            sink.write(result.row(block.rect.y + y, lens.operations))
        }
    }
}
