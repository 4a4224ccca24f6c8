/// What a black image becomes in 8.7 fixed point: the halves that are added for truncated products, as they come out at
/// the end. A few 128ths of a sample, the same everywhere.
enum ZeroResponse {
    static func multirate(taps: [Int], biases: [UInt16], horizontal: [UInt16], vertical: [UInt16]) -> UInt16 {
        var value = 0
        for (count, bias) in zip(taps, biases) {
            let weights = halving[count] ?? []
            let down = weights.reduce(0) { $0 + product(2 * value, $1) }
            value = weights.reduce(Int(bias)) { $0 + product(2 * down, $1) }
        }
        value = direct(value, horizontal: horizontal, vertical: vertical)
        for count in taps.reversed() { value = doubled(doubled(value, count), count) }
        return UInt16(clamping: value)
    }

    static func direct(_ value: Int = 0, horizontal: [UInt16], vertical: [UInt16]) -> Int {
        fir(fir(value, vertical), horizontal)
    }

    /// One weight for each pair; the centre of five taps is paired with itself.
    private static let halving = [
        4: [8192, 24576], 5: [4096, 16384, 12288], 6: [2560, 10752, 19456], 8: [512, 3584, 10752, 17920],
    ]

    private static func product(_ value: Int, _ weight: Int) -> Int { (value * weight) >> 16 }

    private static func fir(_ value: Int, _ weights: [UInt16]) -> Int {
        weights.dropFirst().reduce(product(value, Int(weights[0])) + weights.count / 2) {
            $0 + product(2 * value, Int($1))
        }
    }

    /// Averages keep a value; sums of products do not quite.
    private static func doubled(_ value: Int, _ count: Int) -> Int {
        switch count {
        case 6: [21504, 38912, 5120].reduce(1) { $0 + product(value, $1) }
        case 8: [1024, 21504, 35840, 7168].reduce(2) { $0 + product(value, $1) }
        default: value
        }
    }
}
