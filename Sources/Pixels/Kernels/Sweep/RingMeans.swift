/// The means of arcs on a band's rings, between which pixels are interpolated.
protocol RingMeans: AnyObject {
    /// How many pixels to ask for at once, about.
    var batch: Int { get }

    /// - Parameters:
    ///   - positions: the samples that windows begin with, all that are used.
    ///   - across, along: each pixel's ring, and where on it its window begins.
    ///   - target: receives four values for each.
    func interpolate(
        _ positions: Range<Int>, across: UnsafePointer<Double>, along: UnsafePointer<Double>, count: Int,
        into target: UnsafeMutablePointer<Float>)
}

/// What is the same for all of a spin's bands.
struct RingContext {
    let picture: SweptPicture
    let operations: RowOperations
    let center: SweepCenter
    /// Of an arc.
    let degrees: Double

    func withCenter(_ body: (UnsafePointer<Double>) -> Void) {
        [center.x, center.y].withUnsafeBufferPointer { if let base = $0.baseAddress { body(base) } }
    }
}

/// Of 8 and 16-bit samples: running sums in whole numbers, which go on from batch to batch around the centre.
final class RingSums: RingMeans {
    private let context: RingContext
    private let band: SpinBand
    private let rings: Range<Int>
    private let directions: RingDirections
    private let scratch = WorkBuffer<UInt8>(count: 1024)
    private var sums = WorkBuffer<UInt32>(count: 0)
    /// Sums that a ring has room for.
    private var capacity = 0
    /// The samples before which sums end that are there; the first one is the ring's first.
    private var held = 0..<0

    /// The most samples whose sum fits 32 bits.
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
        _ positions: Range<Int>, across: UnsafePointer<Double>, along: UnsafePointer<Double>, count: Int,
        into target: UnsafeMutablePointer<Float>
    ) {
        cover(positions.lowerBound..<positions.upperBound + band.window)
        let scale: Float = context.picture.bytesPerSample == 1 ? 1.0 / 256 : 1
        context.operations.interpolateRings(
            sums.base, 4 * capacity, rings.lowerBound, held.lowerBound, band.window, across, along, count, scale, target
        )
    }

    private func cover(_ wanted: Range<Int>) {
        if wanted.lowerBound < held.lowerBound || wanted.lowerBound >= held.upperBound {
            held = wanted.lowerBound..<wanted.lowerBound
        }
        if wanted.upperBound - held.lowerBound > capacity { makeRoom(for: wanted) }
        if held.isEmpty {
            for ring in 0..<rings.count {
                (sums.base + 4 * ring * capacity).update(repeating: 0, count: 4)
            }
            held = wanted.lowerBound..<wanted.lowerBound + 1
        }
        guard held.upperBound < wanted.upperBound else { return }
        sample(held.upperBound - 1..<wanted.upperBound - 1)
        held = held.lowerBound..<wanted.upperBound
    }

    /// Moves the sums that are still wanted to the front.
    private func makeRoom(for wanted: Range<Int>) {
        let kept = held.clamped(to: wanted)
        let (old, oldCapacity, skipped) = (sums, capacity, kept.lowerBound - held.lowerBound)
        if capacity < wanted.count {
            capacity = 2 * wanted.count
            sums = WorkBuffer(count: 4 * capacity * rings.count)
        }
        for ring in 0..<rings.count where !kept.isEmpty {
            (sums.base + 4 * ring * capacity).update(
                from: old.base + 4 * (ring * oldCapacity + skipped), count: 4 * kept.count)
        }
        held = kept.isEmpty ? wanted.lowerBound..<wanted.lowerBound : kept
    }

    private func sample(_ range: Range<Int>) {
        let (picture, coarse) = (context.picture, directions.blocks(of: range))
        let target = sums.base + 4 * (range.lowerBound + 1 - held.lowerBound)
        context.withCenter { center in
            for (index, ring) in rings.enumerated() {
                context.operations.sumRing(
                    picture.samples, picture.bytesPerSample, picture.columns, picture.rows, picture.table,
                    picture.facts, center, Double(ring) / band.density, coarse, directions.fine.base,
                    range.lowerBound & 63, range.count, scratch.base, target + 4 * index * capacity)
            }
        }
    }
}

/// Of all samples, in single precision: sums of blocks as long as a window, so that each mean has one order of additions
/// whatever the tile.
final class RingAverages: RingMeans {
    private let context: RingContext
    private let band: SpinBand
    private let rings: Range<Int>
    private let directions: RingDirections
    private let room: LineRoom
    private var means = WorkBuffer<Float>(count: 0)

    init(_ context: RingContext, _ band: SpinBand, _ rings: Range<Int>, _ room: LineRoom) {
        self.context = context
        self.band = band
        self.rings = rings
        self.room = room
        directions = RingDirections(degrees: context.degrees, window: band.window)
    }

    /// Every batch samples a window more than it has positions, some 16 pixels each.
    var batch: Int { 16 * max(512, 4 * band.window) }

    func interpolate(
        _ positions: Range<Int>, across: UnsafePointer<Double>, along: UnsafePointer<Double>, count: Int,
        into target: UnsafeMutablePointer<Float>
    ) {
        let stride = 4 * positions.count
        if means.count < stride * rings.count { means = WorkBuffer(count: stride * rings.count * 5 / 4) }
        room.reserve(positions.count + band.window)
        for (index, ring) in rings.enumerated() { average(ring, positions, into: means.base + stride * index) }
        context.operations.interpolateLines(
            means.base, stride, rings.lowerBound, positions.lowerBound, across, along, count, target)
    }

    private func average(_ ring: Int, _ positions: Range<Int>, into target: UnsafeMutablePointer<Float>) {
        let (picture, samples) = (context.picture, room.samples.base)
        let range = positions.lowerBound..<positions.upperBound + band.window - 1
        let coarse = directions.blocks(of: range)
        context.withCenter { center in
            context.operations.sampleRing(
                picture.samples, picture.bytesPerSample, picture.columns, picture.rows, picture.table, picture.facts,
                center, Double(ring) / band.density, coarse, directions.fine.base, range.lowerBound & 63, range.count,
                samples)
        }
        let phase = range.lowerBound % band.window
        context.operations.sumBlocks(samples, range.count, phase, band.window, room.heads.base, room.tails.base)
        context.operations.slideMeans(
            room.heads.base, room.tails.base, phase, band.window, positions.count, target)
    }
}
