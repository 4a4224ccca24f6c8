package import JobModel

/// How long an attempt may take before its worker counts as hung.
package struct TimePolicy: Hashable, Sendable {
    package let limit: TimeLimit

    package init(limit: TimeLimit) { self.limit = limit }

    /// With `auto`: two minutes, and half a minute more for every megapixel and filter. That is some hundred times
    /// what the work takes, so only what hangs is ever killed, and what hangs does not hold a worker for ever. Where a
    /// chain is estimated to take long, its limit is twenty times that.
    ///
    /// - Parameter cost: of the frame, in seconds of a core's time, roughly.
    package func timeLimit(megapixels: Double, filters: Int, cost: Double = 0) -> Duration {
        let seconds =
            switch limit {
            case .seconds(let seconds): seconds
            case .auto: 120 + max(30 * megapixels * Double(1 + filters), 20 * cost)
            }
        // Sizes and costs are what a worker says.
        return .seconds(min(seconds, Self.mostSeconds))
    }

    /// A year: no attempt takes longer.
    private static let mostSeconds = 365.0 * 24 * 3600
}
