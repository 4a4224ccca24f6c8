/// A tone that is worked out in advance for as many values as 16 bits have. Between them it is a straight line.
struct ToneTable: Sendable {
    private let tone: Tone
    /// Of i/65535; empty when the tone changes nothing.
    private let values: [Float]

    init(_ tone: Tone) {
        self.tone = tone
        values = tone.isIdentity ? [] : (0...65535).map { Float(tone.value(Double($0) / 65535)) }
    }

    var isIdentity: Bool { values.isEmpty }

    /// Values outside 0…1, and what is no number, are worked out one by one.
    func value(_ stored: Float) -> Float {
        if values.isEmpty { return stored }
        guard stored >= 0, stored < 1 else { return Float(tone.value(Double(stored))) }
        let position = stored * 65535
        let index = Int(position)
        let low = values[index]
        return low + (values[index + 1] - low) * (position - Float(index))
    }
}
