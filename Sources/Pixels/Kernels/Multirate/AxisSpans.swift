/// The coordinates of one axis that each image of a multirate chain has, for some output.
///
/// Beyond the core of its source an image is constant: everything that is read there is the same, so one value past the
/// last window that touches the core stands for all. That makes `clamp` and `transparent` edges exact at no cost,
/// however far the filter reaches.
struct AxisSpans {
    /// `low[0]` of the source, `low[l]` after l halvings.
    let low: [Range<Int>]
    /// `up[l]` at the rate after l halvings, on the way back; `up[0]` is the output.
    let up: [Range<Int>]
    /// How far the filter at the lowest rate reads beyond what is stored there.
    let excess: Int

    /// - Parameters:
    ///   - prefilters: one for each level; nil where this axis keeps its rate.
    ///   - core: see ``AxisTable/core``.
    ///   - pairs: whether `up` is made in pairs from an even coordinate on.
    init(output: Range<Int>, core: Range<Int>, prefilters: [Prefilter?], radius: Int, pairs: Bool) {
        var up = [output]
        for prefilter in prefilters {
            let range = prefilter.map { $0.source(ofDoubled: up[up.count - 1]) } ?? up[up.count - 1]
            let isMadeInPairs = pairs && up.count < prefilters.count && prefilters[up.count] != nil
            up.append(isMadeInPairs ? range.lowerBound & ~1..<(range.upperBound + 1) & ~1 : range)
        }
        let cores = prefilters.reduce(into: [core]) { cores, prefilter in
            let core = cores[cores.count - 1]
            cores.append(prefilter.map { $0.core(ofHalved: core) } ?? core)
        }
        let lowest = up[up.count - 1]
        let needed = lowest.lowerBound - radius..<lowest.upperBound + radius
        var low = [Self.part(of: needed, in: cores[cores.count - 1])]
        for (level, prefilter) in prefilters.enumerated().reversed() {
            let window = prefilter.map { $0.window(low[0]) } ?? low[0]
            low.insert(Self.part(of: window, in: cores[level]), at: 0)
        }
        let stored = low[low.count - 1]
        excess = max(0, stored.lowerBound - needed.lowerBound, needed.upperBound - stored.upperBound)
        self.low = low
        self.up = up
    }

    /// What of a range lies in the core; the nearest coordinate of the core when nothing does.
    private static func part(of range: Range<Int>, in core: Range<Int>) -> Range<Int> {
        let first = min(max(range.lowerBound, core.lowerBound), core.upperBound - 1)
        let last = min(max(range.upperBound - 1, core.lowerBound), core.upperBound - 1)
        return first..<last + 1
    }
}

extension Prefilter {
    /// The low-rate samples that some doubled ones are made of.
    func source(ofDoubled range: Range<Int>) -> Range<Int> {
        (range.lowerBound >> 1) - doublingReach..<((range.upperBound - 1) >> 1) + doublingReach + 1
    }

    /// Beyond these low-rate samples every window lies beyond the core.
    func core(ofHalved core: Range<Int>) -> Range<Int> {
        let first = (core.lowerBound - after) >> 1
        let last = (core.upperBound - 1 + before + 1) >> 1
        return first..<last + 1
    }
}

extension AxisTable {
    /// The part of the table beyond which it repeats its first and its last entry.
    var core: Range<Int> {
        guard let first = positions.first, let last = positions.last else { return range }
        let lead = positions.prefix { $0 == first }.count
        guard lead < positions.count else { return range.lowerBound..<range.lowerBound + 1 }
        let tail = positions.reversed().prefix { $0 == last }.count
        return range.lowerBound + lead - 1..<range.upperBound - tail + 1
    }

    /// The run of coordinates whose positions are neighbours in order that covers most of `wanted`, and what to add to
    /// get a position.
    func longestRun(in wanted: Range<Int>) -> (coordinates: Range<Int>, shift: Int) {
        let first = wanted.lowerBound - range.lowerBound
        let wanted = first..<first + wanted.count
        var (best, start) = (0..<0, 0)
        for index in 1..<positions.count + 1 {
            let goes = index < positions.count && positions[index] == positions[index - 1] + 1 && positions[index] > 0
            if goes { continue }
            let covered = (start..<index).clamped(to: wanted).count
            if covered > best.clamped(to: wanted).count, positions[start] >= 0 { best = start..<index }
            start = index
        }
        guard !best.isEmpty else { return (range.lowerBound..<range.lowerBound, 0) }
        let coordinates = range.lowerBound + best.lowerBound..<range.lowerBound + best.upperBound
        return (coordinates, Int(positions[best.lowerBound]) - coordinates.lowerBound)
    }
}
