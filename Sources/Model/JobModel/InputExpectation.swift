/// How many pictures a job has to find. Nil for no limit.
public struct InputExpectation: Sendable, Codable {
    public let atLeast: Int?
    public let atMost: Int?
    /// How many percent fewer pictures there may be than in the last run, 0 to 100.
    public let loss: Double?
    /// Its line in the manifest, for messages. It is no part of what is expected, and is not stored.
    public var line: Int?

    private enum CodingKeys: CodingKey {
        case atLeast, atMost, loss
    }

    public init(atLeast: Int? = nil, atMost: Int? = nil, loss: Double? = nil) {
        self.atLeast = atLeast
        self.atMost = atMost
        self.loss = loss
    }

    /// How a number of pictures differs from what is expected.
    public enum Surprise: Hashable, Sendable {
        case fewer(than: Int)
        case more(than: Int)
        /// More pictures are gone than may be: `gone` of `before`.
        case lost(gone: Int, before: Int)
    }

    /// - Parameters:
    ///   - found: the pictures that the job has now.
    ///   - before: how many files the entries of `inputs` matched in the last run; nil if that does not count.
    ///   - now: how many files these entries match now.
    public func surprise(found: Int, before: Int?, now: Int) -> Surprise? {
        if let atLeast, found < atLeast { return .fewer(than: atLeast) }
        if let atMost, found > atMost { return .more(than: atMost) }
        if let loss, let before, Double(before - now) * 100 > loss * Double(before) {
            return .lost(gone: before - now, before: before)
        }
        return nil
    }
}

extension InputExpectation: Hashable {
    public static func == (a: InputExpectation, b: InputExpectation) -> Bool {
        (a.atLeast, a.atMost, a.loss) == (b.atLeast, b.atMost, b.loss)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(atLeast)
        hasher.combine(atMost)
        hasher.combine(loss)
    }
}
