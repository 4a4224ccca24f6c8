/// What no machine can do faster: a worker that says it did has not done it.
package enum SpeedFloor {
    /// For each megapixel that is written. A whole frame's pixels are converted, digested, encoded, written and digested
    /// again: five passes at least, of a byte a pixel or more, so this is a hundred gigabytes a second of one core's
    /// memory. The fastest chain that was measured takes a hundred times as long.
    static let timePerMegapixel = Duration.microseconds(50)

    /// Of smaller pictures nothing can be told: a message on a pipe takes half a millisecond at times.
    static let fewestMegapixels = 10.0

    /// Not even the largest picture, of twenty gigapixels, can be doubted after this.
    static let longestTime = Duration.seconds(1)

    /// Nil where there is no telling.
    package static func shortestTime(megapixels: Double) -> Duration? {
        megapixels >= fewestMegapixels ? timePerMegapixel * megapixels : nil
    }
}

/// An attempt whose worker answered faster than its pixels could be moved.
package struct ImplausibleSpeed: Hashable, Sendable {
    /// That it says it has written.
    package let megapixels: Double
    package let took: Duration

    package init(megapixels: Double, took: Duration) {
        self.megapixels = megapixels
        self.took = took
    }
}
