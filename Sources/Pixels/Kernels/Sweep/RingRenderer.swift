import Geometry

/// Renders pixels whose paths are averaged on rings, band by band, each in the order of its directions.
struct RingRenderer {
    private let context: RingContext
    private let area: PixelRect
    private let result: SweptPixels
    /// Whether samples are whole numbers in encoded light.
    private let isWhole: Bool
    private let steepness: Double
    /// Of each of the area's rows the pixels that are not rendered here.
    private let direct: [Range<Int>]
    private let places: PixelPlaces
    private let room = LineRoom()

    init(
        _ context: RingContext, steepness: Double, direct: [Range<Int>], _ area: PixelRect, into result: SweptPixels
    ) {
        self.context = context
        self.direct = direct
        self.area = area
        self.result = result
        self.steepness = steepness
        isWhole = context.picture.table == nil && context.picture.bytesPerSample < 4
        places = PixelPlaces(context.center, context.operations)
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
            // The next ones may be a whole turn away.
            if batch.count > 0 { render(&batch, band, means) }
        }
    }

    private func render(_ batch: inout PixelBatch, _ band: SpinBand, _ means: some RingMeans) {
        places.removeAll()
        for run in batch.runs { places.append(columns: run.columns, y: run.y) }
        places.find(scaleOfDistances: band.density, scaleOfTurns: 360 / context.degrees * Double(band.window))
        let values = batch.values(places.count)
        means.interpolate(
            batch.positions(Row(places.turns.start)), across: Row(places.distances.start),
            along: Row(places.turns.start), count: places.count, into: values)
        var first = 0
        for run in batch.runs {
            let place = (run.y - area.y) * area.width + run.columns.lowerBound - area.x
            result.store(Row(values + 4 * first), at: place, count: run.columns.count, context.operations)
            first += run.columns.count
        }
        batch.removeAll()
    }

    /// A band's pixels in the order of their directions, about: to the right below the centre, to the left, and on.
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
    /// - Parameter isWhole: gives the whole row where it is not cut in two.
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
    /// Both, and what lies between.
    func joined(_ other: Range) -> Range {
        Swift.min(lowerBound, other.lowerBound)..<Swift.max(upperBound, other.upperBound)
    }
}

/// Pixels side by side.
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

    /// Room for four values a pixel.
    mutating func values(_ count: Int) -> MutableRow<Float> {
        if room.count < 4 * count { room = RowBuffer(count: 5 * count) }
        return room.start
    }

    /// The samples that are read along a ring. Directions rise or fall along a run, so that its ends tell.
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
