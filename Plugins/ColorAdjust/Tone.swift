import FilterKit

/// What becomes of one stored value: exposed in linear light, then made steeper, then led through a curve.
struct Tone: Sendable {
    /// A factor of linear light.
    var gain: Double
    /// About the middle of the stored values.
    let slope: Double
    let curve: MonotoneCurve?

    var isIdentity: Bool { gain == 1 && slope == 1 && curve == nil }

    func value(_ stored: Double) -> Double {
        let exposed = gain == 1 ? stored : SRGBCurve.encode(SRGBCurve.decode(stored) * gain)
        let steeper = slope == 1 ? exposed : 0.5 + (exposed - 0.5) * slope
        return curve?.value(at: steeper) ?? steeper
    }
}

/// Factors of linear light that make a picture warmer or colder, greener or more magenta, and leave gray as light as it
/// was.
struct WhiteBalance: Sendable {
    let red: Double
    let green: Double
    let blue: Double

    /// - Parameters:
    ///   - temperature: −1…1; at 1 red gains half a stop, and blue loses as much.
    ///   - tint: −1…1; at 1 green loses half a stop.
    init(temperature: Double, tint: Double) {
        let red = DeterministicMath.exp2(temperature / 2)
        let green = DeterministicMath.exp2(-tint / 2)
        let blue = DeterministicMath.exp2(-temperature / 2)
        // The weights of ITU-R BT.709; exactly 1 where there is nothing to do.
        let luminance = 1 + 0.2126 * (red - 1) + 0.7152 * (green - 1) + 0.0722 * (blue - 1)
        (self.red, self.green, self.blue) = (red / luminance, green / luminance, blue / luminance)
    }
}

/// The tones of each colour, and of gray pictures.
struct ColorTones: Sendable {
    let red: ToneTable
    let green: ToneTable
    let blue: ToneTable
    let neutral: ToneTable

    init(_ balance: WhiteBalance, _ tone: Tone) {
        let neutral = ToneTable(tone)
        func table(_ factor: Double) -> ToneTable {
            guard factor != 1 else { return neutral }
            var balanced = tone
            balanced.gain *= factor
            return ToneTable(balanced)
        }
        self.neutral = neutral
        (red, green, blue) = (table(balance.red), table(balance.green), table(balance.blue))
    }

    var isIdentity: Bool { [red, green, blue, neutral].allSatisfy(\.isIdentity) }
}
