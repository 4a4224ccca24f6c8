import Scheduling

/// Chooses by bytes, as long as there are any, and then by a seed.
struct Choices: RandomNumberGenerator {
    private var bytes: ArraySlice<UInt8>
    private var random: SplitMix64

    init(_ bytes: [UInt8] = [], seed: UInt64) {
        self.bytes = bytes[...]
        random = SplitMix64(seed: seed)
    }

    /// Whether the seed chooses from now on.
    var areDrawn: Bool { bytes.isEmpty }

    /// Takes two bytes. They are also the lower bits: numbers are chosen by the upper ones, and truth values by bit 17.
    mutating func next() -> UInt64 {
        guard let upper = bytes.popFirst() else { return random.next() }
        return UInt64(upper) << 56 | UInt64(bytes.popFirst() ?? 0) &* 0x0001_0101_0101_0101
    }
}
