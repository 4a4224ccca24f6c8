// An unsharp mask: source + amount·sign(d)·max(0, |d| − threshold), where d = source − blurred.

/// In 8.7 fixed point, kept in 0…255 and rounded.
///
/// - Parameter threshold: in units of 8.7.
@inline(never)
public func sharpenWords(
    _ source: UnsafePointer<UInt16>, blurred: UnsafePointer<UInt16>, amount: Float, threshold: Float, count: Int,
    out: UnsafeMutablePointer<UInt16>
) {
    var index = 0
    while index < count {
        let original = Int32(source[index])
        let difference = Float(original &- Int32(blurred[index]))
        let excess = max(0, difference.magnitude - threshold)
        let gained = amount * (difference < 0 ? 0 - excess : excess)
        let value = max(0, min(32640, Float(original) + gained))
        out[index] = UInt16(truncatingIfNeeded: Int32(value + 0.5))
        index &+= 1
    }
}

/// In single precision, not kept in a range; NaN passes.
@inline(never)
public func sharpenFloats(
    _ source: UnsafePointer<Float>, blurred: UnsafePointer<Float>, amount: Float, threshold: Float, count: Int,
    out: UnsafeMutablePointer<Float>
) {
    var index = 0
    while index < count {
        let difference = source[index] - blurred[index]
        let beyond = difference.magnitude - threshold
        let excess = beyond <= 0 ? 0 : beyond
        out[index] = source[index] + amount * (difference < 0 ? 0 - excess : excess)
        index &+= 1
    }
}

/// Keeps a plane in 0 … `limit`, or 0…1; NaN passes.
@inline(never)
public func clampFloats(_ plane: UnsafeMutablePointer<Float>, limit: UnsafePointer<Float>?, count: Int) {
    var index = 0
    while index < count {
        let (value, most) = (plane[index], limit.map { $0[index] } ?? 1)
        plane[index] = value < 0 ? 0 : value > most ? most : value
        index &+= 1
    }
}
