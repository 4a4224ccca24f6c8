import Geometry

/// Rings around a centre, half a pixel apart, with a sample for each pixel of arc, or a few more.
struct SpinRings: SweepLines {
    private let center: SweepCenter
    private let angle: Double
    private let bands: [Band]
    private let tables: [Int: TurnTable]
    let groupCount: Int

    /// Pixels from a ring to the next.
    private static var spacing: Double { 0.5 }
    /// Rings that groups are made of.
    private static var ringsInBand: Int { 32 }
    /// Pixels from a sample to the next, at most.
    private static var step: Double { 1 }
    /// Samples on the arc of a group, at least.
    private static var shortestArc: Int { 2048 }

    /// Some neighbouring rings with as many samples each, cut into groups of a sector each.
    private struct Band {
        let steps: Int
        let stepsInGroup: Int
        let firstGroup: Int
    }

    init(_ center: SweepCenter, degrees: Double, upTo distance: Double) {
        self.center = center
        angle = degrees
        let thickness = Self.spacing * Double(Self.ringsInBand)
        var bands: [Band] = []
        var groups = 0
        for band in 0...Int(distance / thickness) {
            let steps = Self.steps(atLeast: 2 * Double.pi * thickness * Double(band + 1) / Self.step)
            let inGroup = max(Self.shortestArc, Int(Double(steps) * degrees / 360))
            bands.append(Band(steps: steps, stepsInGroup: inGroup, firstGroup: groups))
            groups += (steps - 1) / inGroup + 1
        }
        self.bands = bands
        groupCount = groups
        let counts = Set(bands.map(\.steps))
        tables = Dictionary(uniqueKeysWithValues: counts.map { ($0, TurnTable(steps: $0)) })
    }

    /// Four to seven times a power of two, so that there are few tables.
    private static func steps(atLeast least: Double) -> Int {
        var unit = 64
        while Double(7 * unit) < least { unit *= 2 }
        return (4...7).map { $0 * unit }.first { Double($0) >= least } ?? 8 * unit
    }

    private func band(distance: Double) -> Int {
        min(Int(distance / (Self.spacing * Double(Self.ringsInBand))), bands.count - 1)
    }

    func group(distance: Double, turn: Double) -> Int {
        let band = bands[band(distance: distance)]
        return band.firstGroup + Int(turn * Double(band.steps)) / band.stepsInGroup
    }

    func place(_ group: Int, distance: Double, turn: Double) -> (across: Double, along: Double) {
        (distance / Self.spacing, turn * Double(bands[band(distance: distance)].steps))
    }

    private func band(ofGroup group: Int) -> Band {
        var (low, high) = (0, bands.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if bands[middle].firstGroup <= group { low = middle } else { high = middle }
        }
        return bands[low]
    }

    func average(
        _ picture: SweptPicture, _ operations: RowOperations, _ group: Int, line: Int, positions: Range<Int>,
        _ room: LineRoom, into target: UnsafeMutablePointer<Float>
    ) {
        let steps = band(ofGroup: group).steps
        guard let table = tables[steps] else { return }
        let window = Window(half: Double(steps) * angle / 720)
        let reach = window.side + 1
        let (first, count) = (positions.lowerBound - reach, positions.count + 2 * reach)
        room.reserve(count)
        let samples = room.samples.base
        withPointers([center.x, center.y], table.coarse, table.fine) { center, coarse, fine in
            operations.sampleRing(
                picture.samples, picture.bytesPerSample, picture.columns, picture.rows, picture.table, picture.facts,
                center, Double(line) * Self.spacing, coarse, fine, steps, first, count, samples)
        }
        let length = 2 * window.side - 1
        operations.sumBlocks(samples, count, Self.phase(first, length), length, room.heads.base, room.tails.base)
        let start = 4 * reach
        window.weights.withUnsafeBufferPointer { weights in
            guard let weights = weights.baseAddress else { return }
            operations.slideMeans(
                samples + start, room.heads.base + start, room.tails.base + start,
                Self.phase(positions.lowerBound - window.side + 1, length), window.side, weights, positions.count,
                target)
        }
    }

    /// Of a sample in its block.
    private static func phase(_ sample: Int, _ length: Int) -> Int {
        let rest = sample % length
        return rest < 0 ? rest + length : rest
    }

    /// The mean of a piecewise linear course over `half` samples to each side: samples that are whole in it, and two
    /// pairs at its ends.
    private struct Window {
        let side: Int
        let weights: [Float]

        init(half: Double) {
            side = max(1, Int(half))
            let rest = half - Double(side)
            let (near, far) = (0.5 + rest - rest * rest / 2, rest * rest / 2)
            weights = [1, near, far].map { Float($0 / (2 * half)) }
        }
    }
}

func withPointers(
    _ a: [Double], _ b: [Double], _ c: [Double],
    _ body: (UnsafePointer<Double>, UnsafePointer<Double>, UnsafePointer<Double>) -> Void
) {
    a.withUnsafeBufferPointer { a in
        b.withUnsafeBufferPointer { b in
            c.withUnsafeBufferPointer { c in
                guard let a = a.baseAddress, let b = b.baseAddress, let c = c.baseAddress else { return }
                body(a, b, c)
            }
        }
    }
}
