import Geometry

/// A picture without memory: every sample can be computed anywhere, repeated beyond the borders as `edge: clamp` does.
struct TestPicture: Sendable {
    enum Content: Sendable {
        /// Noise over steps, with alpha 0 and full here and there.
        case noise
        /// What is no number, infinite, very large, very small, negative, or above full; floats only.
        case special
    }

    let extent: PixelRect
    let channels: Int
    let hasAlpha: Bool
    let content: Content

    private static let specials: [Float] = [
        .nan, .infinity, -.infinity, 1e30, -1e30, .leastNonzeroMagnitude, -1, 2, -0.0, 0.5, 1,
    ]

    /// On a scale where 1 is full.
    private func value(_ x: Int, _ y: Int, _ channel: Int) -> Float {
        let (x, y) = (
            min(max(x, extent.x), extent.right - 1), min(max(y, extent.y), extent.bottom - 1)
        )
        let random = Self.hash(x, y, channel)
        if content == .special, random % 5 == 0 {
            return Self.specials[Int(random / 5 % UInt64(Self.specials.count))]
        }
        let noise = Float(random >> 40) / Float(1 << 24)
        if hasAlpha, channel == channels - 1 { return (x + y) % 7 == 0 ? 0 : (x + y) % 3 == 0 ? 1 : noise }
        return (x / 8 + y / 8) % 2 == 0 ? noise : 0.75 + noise / 4
    }

    /// The bytes of one sample. Area filters get colours multiplied by alpha.
    func store(
        _ x: Int, _ y: Int, _ channel: Int, _ kind: SampleKind, isMultiplied: Bool, to place: UnsafeMutableRawPointer
    ) {
        var value = value(x, y, channel)
        if kind != .f32 || content == .noise {  // as a host would have it from whole numbers
            value = (value * 255).rounded(.down) / 255
            if isMultiplied, hasAlpha, channel < channels - 1 {
                value *= (self.value(x, y, channels - 1) * 255).rounded(.down) / 255
            }
        }
        switch kind {
        case .u8: place.storeBytes(of: UInt8(value * 255 + 0.5), as: UInt8.self)
        case .u16: place.storeBytes(of: UInt16(value * 65535 + 0.5), as: UInt16.self)
        case .f32: place.storeBytes(of: value, as: Float.self)
        }
    }

    /// The finishing steps of SplitMix64, over the place.
    private static func hash(_ x: Int, _ y: Int, _ channel: Int) -> UInt64 {
        var z = UInt64(bitPattern: Int64(x &* 73_856_093 ^ y &* 19_349_663 ^ channel &* 83_492_791))
        z = (z ^ z >> 30) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ z >> 27) &* 0x94d0_49bb_1331_11eb
        return z ^ z >> 31
    }
}

extension TestPicture {
    /// One to four channels; what is no multiple of anything.
    static func all(_ content: Content) -> [TestPicture] {
        (1...4).map { channels in
            TestPicture(
                extent: PixelRect(x: 0, y: 0, width: 61, height: 43), channels: channels,
                hasAlpha: channels % 2 == 0, content: content)
        }
    }

    var title: String { ["gray", "gray with alpha", "RGB", "RGB with alpha"][channels - 1] }
}
