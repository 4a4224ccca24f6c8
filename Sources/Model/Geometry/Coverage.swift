/// Says whether rectangles cover an extent exactly: no gap, no overlap, nothing outside (invariant 3 of the design).
public enum Coverage: Hashable, Sendable {
    case exact
    case outside(PixelRect)
    case overlap(PixelRect, PixelRect)
    case gap(missingPixels: Int)

    /// Checks by a sweep over the rectangles sorted by top edge. Cost: n·log n + n·w, where w is the number of
    /// rectangles that share a row.
    public init(of rects: [PixelRect], in extent: PixelRect) {
        let sorted = rects.filter { !$0.isEmpty }.sorted { ($0.y, $0.x) < ($1.y, $1.x) }
        if let stray = sorted.first(where: { !extent.contains($0) }) {
            self = .outside(stray)
            return
        }
        var open: [PixelRect] = []
        for rect in sorted {
            open.removeAll { $0.bottom <= rect.y }
            if let other = open.first(where: { !$0.intersection(rect).isEmpty }) {
                self = .overlap(other, rect)
                return
            }
            open.append(rect)
        }
        let covered = sorted.reduce(0) { $0 + $1.area }
        self = covered == extent.area ? .exact : .gap(missingPixels: extent.area - covered)
    }
}
