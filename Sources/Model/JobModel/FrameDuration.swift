/// How long a frame of an animation is shown: a fraction of a second, in lowest terms.
///
/// Formats store such times in steps of their own. ``delays(of:unit:)`` rounds the times of all frames together, so that
/// an animation neither gains nor loses time.
public struct FrameDuration: Hashable, Sendable {
    /// At least 0.
    public let numerator: Int
    /// From 1 to ``finest``.
    public let denominator: Int

    /// The number of parts of a second that finer times are rounded to.
    public static let finest = 1_000_000_000
    /// The longest time, in seconds: that of an animated PNG.
    public static let longest = 65_535
    /// Browsers and players show a frame for a tenth of a second if it states so many milliseconds or fewer.
    public static let slowedMilliseconds = 10

    /// A time of `numerator` / `denominator` seconds, from 0 to ``longest``.
    ///
    /// - Parameter denominator: above 0.
    public init(_ numerator: Int, _ denominator: Int) { self.init(Int128(numerator), Int128(denominator)) }

    private init(_ numerator: Int128, _ denominator: Int128) {
        precondition(denominator > 0, "a fraction has a denominator above 0")
        var (numerator, denominator) = (min(max(0, numerator), Int128(Self.longest) * denominator), denominator)
        let finest = Int128(Self.finest)
        if denominator / Self.greatestDivisor(numerator, denominator) > finest {
            (numerator, denominator) = ((numerator * finest + denominator / 2) / denominator, finest)
        }
        let divisor = Self.greatestDivisor(numerator, denominator)
        (self.numerator, self.denominator) = (Int(numerator / divisor), Int(denominator / divisor))
    }

    public init(milliseconds: Int) { self.init(milliseconds, 1000) }

    /// A number of seconds, to a millionth.
    private init(seconds: Double) {
        self.init(Int((min(max(0, seconds), Double(Self.longest)) * 1e6).rounded()), 1_000_000)
    }

    /// The time of one frame at a constant rate.
    ///
    /// - Parameters:
    ///   - rate: in frames a second, above 0. It counts to a millionth.
    ///   - hold: for how many seconds more it is shown.
    public init(rate: Double, hold: Double = 0) {
        let parts = Int128(max(1, (min(rate, 1e9) * 1e6).rounded()))
        let more = Self(seconds: hold)
        self.init(
            Int128(more.numerator) * parts + 1_000_000 * Int128(more.denominator), Int128(more.denominator) * parts)
    }

    public var seconds: Double { Double(numerator) / Double(denominator) }

    /// Whether browsers and players show a frame with this time for a tenth of a second.
    public var isSlowed: Bool { numerator * 1000 <= Self.slowedMilliseconds * denominator }

    static func greatestDivisor<Number: BinaryInteger>(_ a: Number, _ b: Number) -> Number {
        b == 0 ? a : greatestDivisor(b, a % b)
    }
}

extension FrameDuration: Codable {
    private enum CodingKeys: CodingKey {
        case numerator, denominator
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let denominator = try container.decode(Int.self, forKey: .denominator)
        guard denominator > 0 else {
            throw DecodingError.dataCorruptedError(
                forKey: .denominator, in: container, debugDescription: "not above 0")
        }
        self.init(try container.decode(Int.self, forKey: .numerator), denominator)
    }
}

extension FrameDuration {
    /// Times of frames as whole numbers of a common part of a second.
    public struct Ticks: Hashable, Sendable {
        /// The ticks of a second. They are exact if `FrameDuration/finest` of them suffice.
        public let rate: Int
        /// The number of ticks of each frame.
        public let counts: [Int]

        public init(_ durations: [FrameDuration]) {
            var common = 1
            for parts in Set(durations.map(\.denominator)) where common < FrameDuration.finest {
                // Both are at most a billion.
                common = min(common / greatestDivisor(common, parts) * parts, FrameDuration.finest)
            }
            let rate = common
            self.rate = rate
            counts = durations.map { duration in
                Int(
                    (2 * Int128(duration.numerator) * Int128(rate) + Int128(duration.denominator))
                        / (2 * Int128(duration.denominator)))
            }
        }

        /// The highest rate at which all times are whole numbers of frames, in frames a second. Nil without any time.
        public var frameRate: Double? {
            let divisor = counts.reduce(0, greatestDivisor)
            return divisor > 0 ? Double(rate) / Double(divisor) : nil
        }
    }

    /// The times in milliseconds, for a format that stores multiples of `unit`.
    ///
    /// The end of each frame is rounded, and a delay is the time between two ends. So the rounding errors of many frames do not
    /// add up. Two kinds of times are exceptions, because of ``slowedMilliseconds``:
    ///
    /// - A time that is slowed already is rounded alone, so that it stays slowed.
    /// - No other time becomes one. It gets the shortest one that is shown as it is, and later frames make up for at most one
    ///   `unit`. So an animation becomes slower if a format cannot hold its rate.
    ///
    /// - Parameter unit: in milliseconds, above 0.
    public static func delays(of durations: [FrameDuration], unit: Int) -> [Int] {
        let ticks = Ticks(durations)
        // A unit in parts of a thousandth of a tick, which are those of the times below.
        let step = Int128(unit) * Int128(ticks.rate)
        let least = Int128(slowedMilliseconds / unit + 1)
        var owed: Int128 = 0
        return zip(durations, ticks.counts).map { duration, count in
            let time = 1000 * Int128(count)
            guard !duration.isSlowed else { return Int((2 * time + step) / (2 * step)) * unit }
            owed += time
            let units = max(least, (2 * max(0, owed) + step) / (2 * step))
            owed = max(owed - units * step, -step)
            return Int(units) * unit
        }
    }
}
