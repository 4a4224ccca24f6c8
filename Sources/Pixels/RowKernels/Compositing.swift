// Pixels in front of others: source-over (Porter and Duff, 1984), with the blend modes of the W3C's Compositing and Blending Level 1.
// All values are premultiplied planes in single precision.

private typealias BlendedColor = (FloatVector, FloatVector, FloatVector)

/// The modes of colours in front of others. `BlendMode` of `Kernels` gives their numbers.
///
/// Colours are encoded, 0–1, and not premultiplied.
private enum Blend: Int {
    case normal, multiply, screen, overlay, darken, lighten, colorDodge, colorBurn, hardLight, softLight, difference
    case exclusion, hue, saturation, color, luminosity

    /// 2⁻²⁰: far less than any sample shows, and more than rounding errors.
    private static var nearly: Float { 0x1p-20 }

    /// The colour B(behind, front) where both are opaque.
    @inline(__always) func blended(_ front: BlendedColor, over behind: BlendedColor) -> BlendedColor {
        switch self {
        case .hue: Self.withLuminosity(Self.withSaturation(front, Self.saturation(behind)), Self.luminosity(behind))
        case .saturation:
            Self.withLuminosity(Self.withSaturation(behind, Self.saturation(front)), Self.luminosity(behind))
        case .color: Self.withLuminosity(front, Self.luminosity(behind))
        case .luminosity: Self.withLuminosity(behind, Self.luminosity(front))
        default: (channel(front.0, behind.0), channel(front.1, behind.1), channel(front.2, behind.2))
        }
    }

    /// The modes that treat each channel by itself.
    @inline(__always)
    private func channel(_ front: FloatVector, _ behind: FloatVector) -> FloatVector {
        let nearly = FloatVector(repeating: Self.nearly)
        switch self {
        case .multiply: return front * behind
        case .screen: return Self.screen(front, behind)
        case .overlay: return Self.hardLight(behind, over: front)
        case .darken: return smaller(front, behind)
        case .lighten: return larger(front, behind)
        case .colorDodge:
            // Color dodge: 0 over 0, and 1 under 1. Black may be off by rounding errors of fronts before this one.
            let lighter = smaller(behind / larger(1 - front, than: 1e-9), than: 1)
            return chosen(.zero, where: behind, isAtMost: nearly, else: lighter)
        case .colorBurn:
            // Color burn: 1 over 1, and 0 under 0. White may be off in the same way.
            let darker = 1 - smaller((1 - behind) / larger(front, than: 1e-9), than: 1)
            return chosen(FloatVector(repeating: 1), where: 1 - behind, isAtMost: nearly, else: darker)
        case .hardLight: return Self.hardLight(front, over: behind)
        case .softLight: return Self.softLight(front, over: behind)
        case .difference: return larger(front - behind, behind - front)
        case .exclusion: return front + behind - 2 * front * behind
        case .normal, .hue, .saturation, .color, .luminosity: return front
        }
    }

    @inline(__always) private static func screen(_ a: FloatVector, _ b: FloatVector) -> FloatVector { a + b - a * b }

    @inline(__always) private static func hardLight(_ front: FloatVector, over behind: FloatVector) -> FloatVector {
        chosen(
            behind * 2 * front, where: front, isAtMost: FloatVector(repeating: 0.5),
            else: screen(behind, 2 * front - 1))
    }

    @inline(__always) private static func softLight(_ front: FloatVector, over behind: FloatVector) -> FloatVector {
        let quarter = FloatVector(repeating: 0.25)
        let polynomial = ((16 * behind - 12) * behind + 4) * behind
        let lighter = chosen(polynomial, where: behind, isAtMost: quarter, else: behind.squareRoot())
        return chosen(
            behind - (1 - 2 * front) * behind * (1 - behind), where: front, isAtMost: FloatVector(repeating: 0.5),
            else: behind + (2 * front - 1) * (lighter - behind))
    }

    // The modes that look at all channels together, with the names of the standard.

    /// Lum(C).
    @inline(__always) private static func luminosity(_ c: BlendedColor) -> FloatVector {
        0.3 * c.0 + 0.59 * c.1 + 0.11 * c.2
    }

    @inline(__always) private static func least(_ c: BlendedColor) -> FloatVector { smaller(smaller(c.0, c.1), c.2) }
    @inline(__always) private static func most(_ c: BlendedColor) -> FloatVector { larger(larger(c.0, c.1), c.2) }

    /// Sat(C).
    @inline(__always) private static func saturation(_ c: BlendedColor) -> FloatVector { most(c) - least(c) }

    /// SetLum(C, l), with ClipColor: a colour outside of 0–1 moves towards its gray.
    @inline(__always) private static func withLuminosity(_ c: BlendedColor, _ value: FloatVector) -> BlendedColor {
        let distance = value - luminosity(c)
        var moved = (c.0 + distance, c.1 + distance, c.2 + distance)
        let gray = luminosity(moved)
        let (low, high) = (least(moved), most(moved))
        let one = FloatVector(repeating: 1)
        // Where no channel is outside, the factor is 1. Divisors are positive where it counts.
        let up = chosen(one, where: .zero, isAtMost: low, else: gray / larger(gray - low, than: 1e-9))
        moved = towards(gray, moved, up)
        let down = chosen(one, where: high, isAtMost: one, else: (1 - gray) / larger(high - gray, than: 1e-9))
        return towards(gray, moved, down)
    }

    /// Where the factor is 1, not even the last bit changes.
    @inline(__always) private static func towards(_ gray: FloatVector, _ c: BlendedColor, _ factor: FloatVector)
        -> BlendedColor
    {
        @inline(__always) func channel(_ x: FloatVector) -> FloatVector {
            chosen(x, where: factor, equals: FloatVector(repeating: 1), else: gray + (x - gray) * factor)
        }
        return (channel(c.0), channel(c.1), channel(c.2))
    }

    /// SetSat(C, s): the least channel becomes 0, the largest s, and the middle one keeps its place between them.
    @inline(__always) private static func withSaturation(_ c: BlendedColor, _ value: FloatVector) -> BlendedColor {
        let low = least(c)
        let spread = most(c) - low
        // A gray has no saturation to change, and becomes 0.
        let factor = cleared(value / larger(spread, than: 1e-30), whereZero: spread)
        return ((c.0 - low) * factor, (c.1 - low) * factor, (c.2 - low) * factor)
    }
}

/// Lays pixels in front of others.
///
/// - Parameters:
///   - front: gray or three colours, and alpha. Readable up to 15 values after the end.
///   - back: gray or three colours, and alpha if it has one. The result replaces it. Readable up to 15 values after the end;
///     nothing is written there. A colour in front of gray counts as its luma.
///   - mode: the number of a blend mode.
///   - full: full intensity of all values.
@inline(never) public func layPlanes(
    front: UnsafePointer<Float>, frontStride: Int, isFrontGray: Bool, back: UnsafeMutablePointer<Float>,
    backStride: Int, isGray: Bool, hasAlpha: Bool, mode: Int, full: Float, count: Int
) {
    let alphaPlane = (isGray ? 1 : 3) &* backStride
    let frontAlpha = front + (isFrontGray ? 1 : 3) &* frontStride
    let mode = Blend(rawValue: mode) ?? .normal
    var index = 0
    while index < count {
        let left = count &- index
        let alpha = loadFloats(frontAlpha + index)
        let first = loadFloats(front + index)
        var colors = (first, first, first)
        if !isFrontGray {
            colors.1 = loadFloats(front + frontStride + index)
            colors.2 = loadFloats(front + 2 &* frontStride + index)
            if isGray {
                colors.0 = 0.2126 * colors.0 + 0.7152 * colors.1 + 0.0722 * colors.2
                (colors.1, colors.2) = (colors.0, colors.0)
            }
        }
        let target = back + index
        let own = alpha / full
        let behind = hasAlpha ? loadFloats(target + alphaPlane) : FloatVector(repeating: full)
        let one = loadFloats(target)
        let old: BlendedColor =
            isGray ? (one, one, one) : (one, loadFloats(target + backStride), loadFloats(target + 2 &* backStride))
        var result: BlendedColor
        if mode == .normal {
            let rest = 1 - own
            result = (colors.0 + old.0 * rest, colors.1 + old.1 * rest, colors.2 + old.2 * rest)
        } else {
            result = blended(mode, colors, alpha, over: old, behind, full)
            result = (
                chosen(old.0, where: own, isAtMost: .zero, else: result.0),
                chosen(old.1, where: own, isAtMost: .zero, else: result.1),
                chosen(old.2, where: own, isAtMost: .zero, else: result.2)
            )
        }
        storeLanes(result.0, target, left)
        if !isGray {
            storeLanes(result.1, target + backStride, left)
            storeLanes(result.2, target + 2 &* backStride, left)
        }
        if hasAlpha { storeLanes(alpha + behind * (1 - own), target + alphaPlane, left) }
        index &+= 16
    }
}

/// αs·(1 − αb)·Cs + αb·(1 − αs)·Cb + αs·αb·B(Cb, Cs). Colours beyond 0–1 count as the nearest of these for B.
///
/// - Parameters:
///   - alpha, alphaBehind: on the scale of the colours.
@inline(__always) private func blended(
    _ mode: Blend, _ front: BlendedColor, _ alpha: FloatVector, over old: BlendedColor, _ alphaBehind: FloatVector,
    _ full: Float
) -> BlendedColor {
    /// A colour that is not premultiplied; 0 for no alpha. A colour of full intensity becomes exactly 1.
    @inline(__always) func straight(_ x: FloatVector, _ alpha: FloatVector) -> FloatVector {
        larger(smaller(cleared(x / alpha, whereZero: alpha), than: 1), than: 0)
    }
    let mixed = mode.blended(
        (straight(front.0, alpha), straight(front.1, alpha), straight(front.2, alpha)),
        over: (straight(old.0, alphaBehind), straight(old.1, alphaBehind), straight(old.2, alphaBehind)))
    let (own, behind) = (alpha / full, alphaBehind / full)
    let weight = own * alphaBehind
    @inline(__always) func sum(_ front: FloatVector, _ old: FloatVector, _ mixed: FloatVector) -> FloatVector {
        front * (1 - behind) + old * (1 - own) + mixed * weight
    }
    return (sum(front.0, old.0, mixed.0), sum(front.1, old.1, mixed.1), sum(front.2, old.2, mixed.2))
}

@inline(__always) private func storeLanes(_ values: FloatVector, _ target: UnsafeMutablePointer<Float>, _ left: Int) {
    if left >= 16 { return storeFloats(values, target) }
    var lane = 0
    while lane < left {
        target[lane] = values[lane]
        lane &+= 1
    }
}

/// The values of a plane that lies between rows and columns: weighted means of four neighbours, times a factor.
///
/// - Parameters:
///   - upper, lower: the rows above and below; readable from one value before up to 15 values after the end. Nil where
///     their weight is 0.
///   - upperWeight, leftWeight: the weights of the rows above and of the columns before; those of the others are the rest of 1.
///   - out: writable up to 15 values after the end.
@inline(never) public func shiftPlane(
    upper: UnsafePointer<Float>?, lower: UnsafePointer<Float>?, upperWeight: Float, leftWeight: Float, factor: Float,
    count: Int, out: UnsafeMutablePointer<Float>
) {
    @inline(__always) func column(_ index: Int) -> FloatVector {
        var sum = FloatVector.zero
        if let upper { sum += loadFloats(upper + index) * upperWeight }
        if let lower { sum += loadFloats(lower + index) * (1 - upperWeight) }
        return sum
    }
    var index = 0
    while index < count {
        var value = column(index)
        if leftWeight > 0 { value = column(index &- 1) * leftWeight + value * (1 - leftWeight) }
        storeFloats(value * factor, out + index)
        index &+= 16
    }
}
