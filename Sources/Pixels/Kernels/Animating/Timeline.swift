/// The frames of an animation: one at its beginning, one at its end, and those between at a steady rate.
package struct Timeline: Hashable, Sendable {
    /// In seconds, above 0.
    package let duration: Double
    /// Frames a second, above 0.
    package let fps: Double
    /// How many times it is played; 0 for without end.
    package let repetitions: Int

    package init(duration: Double, fps: Double, repetitions: Int = 0) {
        self.duration = duration
        self.fps = fps
        self.repetitions = repetitions
    }

    /// At least 2: `duration` times `fps`, rounded, and one more, since both ends are shown.
    package var count: Int { max(1, Int((duration * fps).rounded())) + 1 }

    /// In seconds since the beginning; the last frame shows the end.
    ///
    /// - Parameter frame: from 0.
    package func time(of frame: Int) -> Double { frame >= count - 1 ? duration : min(Double(frame) / fps, duration) }

    /// How long each frame is shown, in milliseconds, where a file can tell only multiples of `unit` of them. Roundings do
    /// not add up.
    package func delays(unit: Int) -> [Int] {
        let ends = (0...count).map { Int((Double($0) / fps * 1000 / Double(unit)).rounded()) * unit }
        return zip(ends, ends.dropFirst()).map { $1 - $0 }
    }
}
