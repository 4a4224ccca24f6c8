import FilterKit

/// What is printed with: how much of each ink a colour takes, and which colour inks give.
enum Inks: Sendable {
    /// Black alone, by luminance.
    case black
    /// Cyan, magenta, yellow and black. `black` is the part of what the three have in common that black stands for.
    case cmyk(black: Float)

    /// How much of the paper each ink covers, 0…1, for a colour in 0…1. Black alone is the first.
    func amounts(for color: SIMD3<Float>) -> SIMD4<Float> {
        switch self {
        case .black:
            return SIMD4(1 - Pixel(SIMD4(color, 1)).luminance, 0, 0, 0)
        case .cmyk(let share):
            let full = 1 - color
            let black = share * full.min()
            // Where inks overlap at random, (1 − black)·(1 − ink) of the light remains: this gives the colour back.
            let rest = black < 1 ? (full - black) / (1 - black) : .zero
            return SIMD4(rest, black)
        }
    }

    /// What is left of white light under so much of each ink.
    func light(through amounts: SIMD4<Float>) -> SIMD3<Float> {
        switch self {
        case .black: SIMD3(repeating: 1 - amounts.x)
        case .cmyk: (1 - SIMD3(amounts.x, amounts.y, amounts.z)) * (1 - amounts.w)
        }
    }
}
