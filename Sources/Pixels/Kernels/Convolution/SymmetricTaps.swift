/// The weights of a one-dimensional filter that is the same on both sides.
public struct SymmetricTaps: Hashable, Sendable {
    /// `half[k]` is the weight at distance k on either side; the last one is not 0, unless it is alone.
    public let half: [Double]

    /// - Parameter half: at least the weight of the centre. Zeros at the end are dropped, so that the reach is real.
    public init(half: [Double]) {
        precondition(!half.isEmpty, "a filter has a centre")
        let end = half.lastIndex { $0 != 0 } ?? 0
        self.half = Array(half[...end])
    }

    /// How many pixels are read on each side.
    public var radius: Int { half.count - 1 }
}
