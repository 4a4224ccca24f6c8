import Arithmetic

/// Strengths that grow along a direction, or away from a point. Lengths and coordinates are in pixels.
package struct StrengthGradient: Hashable, Sendable {
    package enum Shape: String, Hashable, Sendable, CaseIterable {
        /// A band stays sharp.
        case tilt
        /// What lies behind the centre stays sharp.
        case linear
        /// A disc stays sharp.
        case radial
    }

    package let shape: Shape
    package let centerX: Double
    package let centerY: Double
    /// In the direction along which strengths grow; y points down.
    package let directionX: Double
    package let directionY: Double
    /// How far from the centre strengths are 0.
    package let sharp: Double
    /// Over which distance they grow to full.
    package let falloff: Double

    package init(
        shape: Shape, centerX: Double, centerY: Double, degrees: Double, sharp: Double, falloff: Double
    ) {
        self.shape = shape
        (self.centerX, self.centerY) = (centerX, centerY)
        let (sin, cos) = DeterministicMath.sinCos(degrees: degrees)
        (directionX, directionY) = (cos, 0 - sin)
        (self.sharp, self.falloff) = (sharp, falloff)
    }

    /// Of a pixel's middle, rounded to 65535ths.
    func strength(x: Int, y: Int) -> UInt16 {
        let (dx, dy) = (Double(x) + 0.5 - centerX, Double(y) + 0.5 - centerY)
        let distance =
            switch shape {
            case .tilt: (dx * directionX + dy * directionY).magnitude
            case .linear: dx * directionX + dy * directionY
            case .radial: (dx * dx + dy * dy).squareRoot()
            }
        guard distance > sharp else { return 0 }
        guard distance - sharp < falloff else { return 65535 }
        return UInt16((distance - sharp) / falloff * 65535 + 0.5)
    }
}
