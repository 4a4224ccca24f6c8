/// What clocks on a wall show in a time zone, from the zone's offsets.
///
/// People move clocks forward and back. Each local time is *reached* once: at the first moment at which clocks show it,
/// or a later one. So a time that clocks skip is reached when they are moved, and a time that they show twice is
/// reached the first time.
struct LocalTime {
    /// Seconds east of UTC at a moment, which is in seconds since 1970.
    let offset: (Int) -> Int

    /// Zones lie between -12 and +14 hours, and clocks may be moved by up to a day.
    private static let mostOffset = 26 * 3600
    /// Offsets are compared this often. Two changes in the same interval would have to cancel each other to be missed.
    private static let step = 6 * 3600

    /// The latest local time that was reached at a moment.
    func reached(at time: Int) -> Int {
        spans(from: time - Self.mostOffset, through: time)
            .map { $0.last + $0.offset }.max() ?? time + offset(time)
    }

    /// The moment at which a local time is reached.
    func moment(of local: Int) -> Int {
        for span in spans(from: local - Self.mostOffset, through: local + Self.mostOffset) {
            let moment = max(span.first, local - span.offset)
            if moment <= span.last { return moment }
        }
        // Not reached, because no offset is that large.
        return local - offset(local)
    }

    private struct Span {
        let first: Int
        var last: Int
        let offset: Int
    }

    /// The parts of a range of moments that have one offset each.
    private func spans(from first: Int, through end: Int) -> [Span] {
        var spans: [Span] = []
        var start = first
        var current = offset(first)
        var time = first
        while time < end {
            let next = min(time + Self.step, end)
            // There may be several changes within an interval.
            while offset(next) != current {
                let change = change(after: time, through: next, from: current)
                spans.append(Span(first: start, last: change - 1, offset: current))
                (start, time, current) = (change, change, offset(change))
            }
            time = next
        }
        spans.append(Span(first: start, last: end, offset: current))
        return spans
    }

    /// The first second at which the offset is not `old`, by bisection.
    private func change(after time: Int, through end: Int, from old: Int) -> Int {
        var (before, after) = (time, end)
        while after - before > 1 {
            let middle = before + (after - before) / 2
            if offset(middle) == old { before = middle } else { after = middle }
        }
        return after
    }
}
