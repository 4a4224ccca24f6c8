/// The weights of a two-dimensional filter that reads few of the pixels around.
public struct SparseTaps: Hashable, Sendable {
    public struct Tap: Hashable, Sendable {
        /// From the output pixel to the input pixel, in pixels.
        public let dx: Int
        public let dy: Int
        public let weight: Double

        public init(dx: Int, dy: Int, weight: Double) {
            self.dx = dx
            self.dy = dy
            self.weight = weight
        }
    }

    /// Sorted by row, then by column; no weight is 0.
    public let taps: [Tap]
    /// How many pixels are read on the widest side of each axis.
    public let reachX: Int
    public let reachY: Int

    /// - Parameter taps: at most one for each offset. Those of weight 0 are dropped, so that the reach is real.
    public init(_ taps: [Tap]) {
        self.taps = taps.filter { $0.weight != 0 }.sorted { ($0.dy, $0.dx) < ($1.dy, $1.dx) }
        reachX = self.taps.map { abs($0.dx) }.max() ?? 0
        reachY = self.taps.map { abs($0.dy) }.max() ?? 0
    }
}
