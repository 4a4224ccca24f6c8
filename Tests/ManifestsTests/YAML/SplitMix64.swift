/// A small generator of random numbers that gives the same ones for the same seed, everywhere.
///
/// <https://prng.di.unimi.it/splitmix64.c>
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// True once in `count` times.
    mutating func once(in count: Int) -> Bool {
        Int.random(in: 0..<count, using: &self) == 0
    }

    mutating func pick<Choices: Collection>(_ choices: Choices) -> Choices.Element {
        guard let element = choices.randomElement(using: &self) else { preconditionFailure("nothing to pick from") }
        return element
    }
}
