/// What happens to messages on bad lines.
extension WireFrame {
    /// Noise over a part of the message, so that it is none any more.
    func garbled(_ random: inout SplitMix64) -> WireFrame {
        var frame = self
        let start = Int.random(in: 0..<max(1, body.count - 12), using: &random)
        for place in start..<min(body.count, start + 12) {
            frame.body[place] = UInt8.random(in: 128...255, using: &random)
        }
        return frame
    }

    /// A single bit, which may well leave a message that can be read.
    func flipped(_ random: inout SplitMix64) -> WireFrame {
        var frame = self
        let place = Int.random(in: 0..<max(1, body.count), using: &random)
        if body.indices.contains(place) { frame.body[place] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
        return frame
    }

    /// The head of a message of gigabytes, and the beginning of one.
    static let oversized: [UInt8] = [0, 0, 0, 0xf0] + [UInt8](repeating: 0x7b, count: 4096)
}
