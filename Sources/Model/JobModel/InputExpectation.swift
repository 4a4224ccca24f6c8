/// How many pictures a job has to find. Nil for no limit.
public struct InputExpectation: Hashable, Sendable, Codable {
    public let atLeast: Int?
    public let atMost: Int?
    /// How many percent of the pictures with outputs may be gone, 0 to 100.
    public let loss: Double?

    public init(atLeast: Int? = nil, atMost: Int? = nil, loss: Double? = nil) {
        self.atLeast = atLeast
        self.atMost = atMost
        self.loss = loss
    }

    /// How a number of pictures differs from what is expected.
    public enum Surprise: Hashable, Sendable {
        case fewer(than: Int)
        case more(than: Int)
        /// More pictures are gone than may be: `gone` of `known`.
        case lost(gone: Int, known: Int)
    }

    /// - Parameters:
    ///   - found: the pictures that the job has now.
    ///   - known: the pictures whose outputs are recorded.
    ///   - gone: those of them that the job has not any more.
    public func surprise(found: Int, known: Int, gone: Int) -> Surprise? {
        if let atLeast, found < atLeast { return .fewer(than: atLeast) }
        if let atMost, found > atMost { return .more(than: atMost) }
        if let loss, Double(gone) * 100 > loss * Double(known) { return .lost(gone: gone, known: known) }
        return nil
    }
}
