import JobModel

/// The frame rate of a video, and how often it shows each frame of an animation.
package struct VideoTiming: Hashable, Sendable {
    /// In thousandths of a frame a second.
    package let milliRate: Int
    /// For each frame of the animation, the number of frames of the video, at least one.
    package let counts: [Int]

    /// The number of frames of the video.
    package var frames: Int { counts.reduce(0, +) }

    /// The rate of animations whose times are no multiples of a longer time.
    static let usualRate = 50.0
    /// The highest rate that is taken from the times of an animation.
    private static let highestRate = 60.0

    package init(_ animation: ImageMetadata.Animation) {
        let durations = animation.durations.map {
            $0.isSlowed && animation.rate == nil ? ImageMetadata.Animation.usualDuration : $0
        }
        let ticks = FrameDuration.Ticks(durations)
        let rate = animation.rate ?? ticks.frameRate.flatMap { $0 <= Self.highestRate ? $0 : nil } ?? Self.usualRate
        milliRate = max(1, Int((rate * 1000).rounded()))
        var (time, shown) = (0.0, 0)
        counts = ticks.counts.map { ticksOfFrame in
            time += Double(ticksOfFrame)
            let count = max(1, Int((time / Double(ticks.rate) * rate).rounded()) - shown)
            shown += count
            return count
        }
    }
}
