import Geometry

/// Renders pixels whose paths are averaged on rings, band by band, each band in the order of its directions.
struct RingRenderer {
    private let context: RingContext
    private let area: PixelRect
    private let result: SweptPixels
    /// Whether samples are integers in encoded light.
    private let isWhole: Bool
    private let steepness: Double
    /// For each row of the area, the pixels that are not rendered here.
    private let direct: [Range<Int>]
    private let locations: PixelPositions
    private let room = LineRoom()

    init(_ context: RingContext, steepness: Double, direct: [Range<Int>], _ area: PixelRect, into result: SweptPixels) {
        self.context = context
        self.direct = direct
        self.area = area
        self.result = result
        self.steepness = steepness
        isWhole = context.picture.table == nil && context.picture.bytesPerSample < 4
        locations = PixelPositions(context.center, context.operations)
    }

    func render() {
        let distances = context.center.distances(to: area)
        for band in SpinBand.bands(distances, steepness: steepness) {
            let rings = band.rings(distances)
            if isWhole && band.window <= RingSums.longest {
                render(band, RingSums(context, band, rings))
            } else {
                render(band, RingAverages(context, band, rings, room))
            }
        }
    }

    private func render(_ band: SpinBand, _ means: some RingMeans) {
        var batch = PixelBatch()
        for runs in quadrants(of: band) {
            for run in runs {
                batch.append(run)
                if batch.count >= means.batch { render(&batch, band, means) }
            }
            // The next pixels may be a whole turn away.
            if batch.count > 0 { render(&batch, band, means) }
        }
    }

    private func render(_ batch: inout PixelBatch, _ band: SpinBand, _ means: some RingMeans) {
        locations.removeAll()
        for run in batch.runs { locations.append(columns: run.columns, y: run.y) }
        locations.find(scaleOfDistances: band.density, scaleOfTurns: 360 / context.degrees * Double(band.window))
        let values = batch.values(locations.count)
        means.interpolate(
            batch.positions(Row(locations.turns.start)), across: Row(locations.distances.start),
            along: Row(locations.turns.start), count: locations.count, into: values)
        var first = 0
        for run in batch.runs {
            let location = (run.y - area.y) * area.width + run.columns.lowerBound - area.x
            result.store(Row(values + 4 * first), at: location, count: run.columns.count, context.operations)
            first += run.columns.count
        }
        batch.removeAll()
    }

    /// A band's pixels approximately in the order of their directions: from the right below the centre to the left, and on.
    private func quadrants(of band: SpinBand) -> [some Sequence<PixelRun>] {
        let (y, reach) = (context.center.y, band.outer)
        func rows(_ low: Double, _ high: Double) -> Range<Int> {
            let first = Int(low.rounded(.up))
            return (first..<max(first, Int(high.rounded(.down)) + 1)).clamped(to: area.rows)
        }
        let (above, below) = (rows(y - reach, y.nextDown), rows(y, y + reach))
        func runs(_ rows: some Sequence<Int>, isLeft: Bool, isWhole: Bool) -> [PixelRun] {
            rows.compactMap { run(band, $0, isLeft: isLeft, isWhole: isWhole) }
        }
        return [
            runs(below, isLeft: false, isWhole: true), runs(below.reversed(), isLeft: true, isWhole: false),
            runs(above.reversed(), isLeft: true, isWhole: true), runs(above, isLeft: false, isWhole: false),
        ]
    }

    /// A row's pixels in a band, on one side of the centre.
    ///
    /// - Parameter isWhole: whether to return the whole row if it is not split.
    private func run(_ band: SpinBand, _ y: Int, isLeft: Bool, isWhole: Bool) -> PixelRun? {
        let outer = context.center.columns(within: band.outer, y: y)
        let near = context.center.columns(within: band.inner, y: y)
        let direct = direct[y - area.y]
        let inner = near.isEmpty ? direct : direct.isEmpty ? near : near.joined(direct)
        if inner.isEmpty && !isWhole { return nil }
        let own =
            inner.isEmpty
            ? outer
            : isLeft
                ? outer.lowerBound..<max(outer.lowerBound, inner.lowerBound)
                : min(outer.upperBound, inner.upperBound)..<outer.upperBound
        let columns = own.clamped(to: area.columns)
        return columns.isEmpty ? nil : PixelRun(y: y, columns: columns)
    }
}

extension Range<Int> {
    /// The smallest range that contains both.
    func joined(_ other: Range) -> Range {
        Swift.min(lowerBound, other.lowerBound)..<Swift.max(upperBound, other.upperBound)
    }
}

/// Adjacent pixels of a row.
struct PixelRun {
    let y: Int
    let columns: Range<Int>
}

/// Pixels that are rendered together.
private struct PixelBatch: ~Copyable {
    private(set) var runs: [PixelRun] = []
    private(set) var count = 0
    private var room = RowBuffer<Float>(count: 0)

    mutating func append(_ run: PixelRun) {
        runs.append(run)
        count += run.columns.count
    }

    mutating func removeAll() {
        runs.removeAll(keepingCapacity: true)
        count = 0
    }

    /// A buffer for four values a pixel.
    mutating func values(_ count: Int) -> MutableRow<Float> {
        if room.count < 4 * count { room = RowBuffer(count: 5 * count) }
        return room.start
    }

    /// The samples that are read along a ring. Directions are monotonic along a run, so its ends are the limits.
    func positions(_ along: Row<Double>) -> Range<Int> {
        var (least, greatest, first) = (Double.infinity, 0.0, 0)
        for run in runs {
            let ends = (along[first], along[first + run.columns.count - 1])
            least = min(least, ends.0, ends.1)
            greatest = max(greatest, ends.0, ends.1)
            first += run.columns.count
        }
        return Int(least)..<Int(greatest) + 2
    }
}

/// The means of arcs on a band's rings. Pixels are interpolated between them.
protocol RingMeans: AnyObject {
    /// The approximate number of pixels of a request.
    var batch: Int { get }

    /// - Parameters:
    ///   - positions: the first samples of all windows in use.
    ///   - across, along: each pixel's ring, and the position on the ring where its window begins.
    ///   - target: receives four values for each pixel.
    func interpolate(
        _ positions: Range<Int>, across: Row<Double>, along: Row<Double>, count: Int,
        into target: MutableRow<Float>)
}

/// The values that all bands of a spin share.
struct RingContext {
    let picture: SweptPicture
    let operations: RowOperations
    let center: SweepCenter
    /// The angle of an arc in degrees.
    let degrees: Double

    var centerPoint: [Double] { [center.x, center.y] }
}

/// Means of 8 and 16-bit samples: integer running sums, which continue from batch to batch around the centre.
final class RingSums: RingMeans {
    private let context: RingContext
    private let band: SpinBand
    private let rings: Range<Int>
    private let directions: RingDirections
    private let scratch = RowBuffer<UInt8>(count: 1024)
    private var sums = RowBuffer<UInt32>(count: 0)
    /// The number of sums that a ring can hold.
    private var capacity = 0
    /// The samples before which the stored sums end. The first one is the ring's first sample.
    private var held = 0..<0

    /// The largest number of samples whose sum fits 32 bits.
    static let longest = 1 << 16

    init(_ context: RingContext, _ band: SpinBand, _ rings: Range<Int>) {
        precondition(band.window <= Self.longest, "sums of so many samples do not fit 32 bits")
        self.context = context
        self.band = band
        self.rings = rings
        directions = RingDirections(degrees: context.degrees, window: band.window)
    }

    var batch: Int { 4096 }

    func interpolate(
        _ positions: Range<Int>, across: Row<Double>, along: Row<Double>, count: Int,
        into target: MutableRow<Float>
    ) {
        cover(positions.lowerBound..<positions.upperBound + band.window)
        let scale: Float = context.picture.bytesPerSample == 1 ? 1.0 / 256 : 1
        context.operations.interpolateRings(
            Row(sums.start), stride: 4 * capacity, firstRing: rings.lowerBound, firstSample: held.lowerBound,
            window: band.window, across: across, along: along, count: count, scale: scale, out: target)
    }

    private func cover(_ wanted: Range<Int>) {
        if wanted.lowerBound < held.lowerBound || wanted.lowerBound >= held.upperBound {
            held = wanted.lowerBound..<wanted.lowerBound
        }
        if wanted.upperBound - held.lowerBound > capacity { makeRoom(for: wanted) }
        if held.isEmpty {
            for ring in 0..<rings.count {
                (sums.start + 4 * ring * capacity).update(repeating: 0, count: 4)
            }
            held = wanted.lowerBound..<wanted.lowerBound + 1
        }
        guard held.upperBound < wanted.upperBound else { return }
        sample(held.upperBound - 1..<wanted.upperBound - 1)
        held = held.lowerBound..<wanted.upperBound
    }

    /// Moves the sums that are still needed to the front.
    private func makeRoom(for wanted: Range<Int>) {
        let kept = held.clamped(to: wanted)
        let (oldCapacity, skipped) = (capacity, kept.lowerBound - held.lowerBound)
        func move(from old: MutableRow<UInt32>, to new: MutableRow<UInt32>) {
            for ring in 0..<rings.count where !kept.isEmpty {
                (new + 4 * ring * capacity).update(
                    from: Row(old + 4 * (ring * oldCapacity + skipped)), count: 4 * kept.count)
            }
        }
        if capacity < wanted.count {
            capacity = 2 * wanted.count
            let larger = RowBuffer<UInt32>(count: 4 * capacity * rings.count)
            move(from: sums.start, to: larger.start)
            sums = larger
        } else {
            move(from: sums.start, to: sums.start)
        }
        held = kept.isEmpty ? wanted.lowerBound..<wanted.lowerBound : kept
    }

    private func sample(_ range: Range<Int>) {
        let (picture, coarse) = (context.picture, directions.blocks(of: range))
        let target = sums.start + 4 * (range.lowerBound + 1 - held.lowerBound)
        let center = context.centerPoint
        for (index, ring) in rings.enumerated() {
            context.operations.sumRing(
                picture, center: center, radius: Double(ring) / band.density, coarse: coarse,
                fine: Row(directions.fine.start), first: range.lowerBound & 63, count: range.count,
                scratch: scratch.start, sums: target + 4 * index * capacity)
        }
    }
}

/// Means of all sample formats in single precision. They use sums of blocks as long as a window, so that each mean has the
/// same order of additions, whatever the tile.
final class RingAverages: RingMeans {
    private let context: RingContext
    private let band: SpinBand
    private let rings: Range<Int>
    private let directions: RingDirections
    private let room: LineRoom
    private var means = RowBuffer<Float>(count: 0)

    init(_ context: RingContext, _ band: SpinBand, _ rings: Range<Int>, _ room: LineRoom) {
        self.context = context
        self.band = band
        self.rings = rings
        self.room = room
        directions = RingDirections(degrees: context.degrees, window: band.window)
    }

    /// Every batch reads a window more samples than it has positions, about 16 pixels each.
    var batch: Int { 16 * max(512, 4 * band.window) }

    func interpolate(
        _ positions: Range<Int>, across: Row<Double>, along: Row<Double>, count: Int,
        into target: MutableRow<Float>
    ) {
        let stride = 4 * positions.count
        if means.count < stride * rings.count { means = RowBuffer(count: stride * rings.count * 5 / 4) }
        room.reserve(positions.count + band.window)
        for (index, ring) in rings.enumerated() { average(ring, positions, into: means.start + stride * index) }
        context.operations.interpolateLines(
            Row(means.start), stride: stride, firstLine: rings.lowerBound, firstSample: positions.lowerBound,
            across: across, along: along, count: count, out: target)
    }

    private func average(_ ring: Int, _ positions: Range<Int>, into target: MutableRow<Float>) {
        let (picture, samples) = (context.picture, room.samples.start)
        let range = positions.lowerBound..<positions.upperBound + band.window - 1
        let coarse = directions.blocks(of: range)
        context.operations.sampleRing(
            picture, center: context.centerPoint, radius: Double(ring) / band.density, coarse: coarse,
            fine: Row(directions.fine.start), first: range.lowerBound & 63, count: range.count, out: samples)
        let phase = range.lowerBound % band.window
        context.operations.sumBlocks(
            Row(samples), count: range.count, phase: phase, length: band.window, heads: room.heads.start,
            tails: room.tails.start)
        context.operations.slideMeans(
            heads: Row(room.heads.start), tails: Row(room.tails.start), phase: phase, length: band.window,
            count: positions.count, out: target)
    }
}
