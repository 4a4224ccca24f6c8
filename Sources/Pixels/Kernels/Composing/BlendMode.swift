/// How the colours of a picture combine with those behind it: the blend modes of the W3C's Compositing and Blending Level 1.
///
/// All functions take encoded colours, 0–1, not premultiplied.
package enum BlendMode: String, Hashable, Sendable, CaseIterable {
    case normal, multiply, screen, overlay, darken, lighten
    case colorDodge = "color-dodge"
    case colorBurn = "color-burn"
    case hardLight = "hard-light"
    case softLight = "soft-light"
    case difference, exclusion, hue, saturation, color, luminosity

    /// A colour of three channels.
    typealias Color = SIMD3<Double>

    /// The colour B(behind, front) where both are opaque.
    func blended(_ front: Color, over behind: Color) -> Color {
        switch self {
        case .hue:
            front.withSaturation(behind.saturation).withLuminosity(behind.luminosity)
        case .saturation:
            behind.withSaturation(front.saturation).withLuminosity(behind.luminosity)
        case .color: front.withLuminosity(behind.luminosity)
        case .luminosity: behind.withLuminosity(front.luminosity)
        default:
            Color(
                blended(front.x, over: behind.x), blended(front.y, over: behind.y), blended(front.z, over: behind.z))
        }
    }

    /// The modes that treat each channel by itself.
    private func blended(_ front: Double, over behind: Double) -> Double {
        switch self {
        case .multiply: front * behind
        case .screen: Self.screen(front, behind)
        case .overlay: Self.hardLight(behind, over: front)
        case .darken: min(front, behind)
        case .lighten: max(front, behind)
        case .colorDodge: behind == 0 ? 0 : front >= 1 ? 1 : min(1, behind / (1 - front))
        case .colorBurn: behind >= 1 ? 1 : front <= 0 ? 0 : 1 - min(1, (1 - behind) / front)
        case .hardLight: Self.hardLight(front, over: behind)
        case .softLight: Self.softLight(front, over: behind)
        case .difference: (front - behind).magnitude
        case .exclusion: front + behind - 2 * front * behind
        case .normal, .hue, .saturation, .color, .luminosity: front
        }
    }

    private static func screen(_ a: Double, _ b: Double) -> Double { a + b - a * b }

    private static func hardLight(_ front: Double, over behind: Double) -> Double {
        front <= 0.5 ? behind * 2 * front : screen(behind, 2 * front - 1)
    }

    private static func softLight(_ front: Double, over behind: Double) -> Double {
        guard front > 0.5 else { return behind - (1 - 2 * front) * behind * (1 - behind) }
        let lighter = behind <= 0.25 ? ((16 * behind - 12) * behind + 4) * behind : behind.squareRoot()
        return behind + (2 * front - 1) * (lighter - behind)
    }
}

/// The formulas for modes that look at all channels together, with the names of the standard.
extension SIMD3<Double> {
    /// Lum(C).
    fileprivate var luminosity: Double { 0.3 * x + 0.59 * y + 0.11 * z }

    /// Sat(C).
    fileprivate var saturation: Double { Swift.max(x, y, z) - Swift.min(x, y, z) }

    /// SetLum(C, l), with ClipColor: a colour outside of 0–1 moves towards its gray.
    fileprivate func withLuminosity(_ luminosity: Double) -> SIMD3 {
        let moved = self + SIMD3(repeating: luminosity - self.luminosity)
        let gray = moved.luminosity
        let (least, most) = (Swift.min(moved.x, moved.y, moved.z), Swift.max(moved.x, moved.y, moved.z))
        var clipped = moved
        if least < 0, gray > least {
            clipped = SIMD3(repeating: gray) + (clipped - SIMD3(repeating: gray)) * (gray / (gray - least))
        }
        if most > 1, most > gray {
            clipped = SIMD3(repeating: gray) + (clipped - SIMD3(repeating: gray)) * ((1 - gray) / (most - gray))
        }
        return clipped
    }

    /// SetSat(C, s): the least channel becomes 0, the largest s, and the middle one keeps its place between them.
    fileprivate func withSaturation(_ saturation: Double) -> SIMD3 {
        let (least, most) = (Swift.min(x, y, z), Swift.max(x, y, z))
        guard most > least else { return SIMD3(repeating: 0) }
        return (self - SIMD3(repeating: least)) * (saturation / (most - least))
    }
}
