import Reports
import Testing

@Suite struct PaletteTests {
    /// Relative luminance by WCAG 2.
    private func luminance(_ hex: String) throws -> Double {
        let number = try #require(Int(hex.dropFirst(), radix: 16))
        let parts = [number >> 16, number >> 8 & 255, number & 255].map { part -> Double in
            let value = Double(part) / 255
            guard value > 0.04045 else { return value / 12.92 }
            // ((v + 0.055) / 1.055) ^ 2.4 without a mathematics library: x^2.4 = x^2 · (x^2)^(1/5), by Newton.
            let base = (value + 0.055) / 1.055
            let square = base * base
            var root = 1.0
            for _ in 0..<60 { root -= (root * root * root * root * root - square) / (5 * root * root * root * root) }
            return square * root
        }
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    }

    private func contrast(_ a: String, _ b: String) throws -> Double {
        let (first, second) = (try luminance(a), try luminance(b))
        return (max(first, second) + 0.05) / (min(first, second) + 0.05)
    }

    @Test func `contrasts are computed as WCAG says`() throws {
        #expect(abs(try contrast("#ffffff", "#000000") - 21) < 1e-9)
        #expect(abs(try contrast("#777777", "#ffffff") - 4.48) < 0.01)
    }

    @Test func `text and bars stand out in light and in dark`() throws {
        for surface in Palette.colors where surface.use == .surface {
            for color in Palette.colors {
                let least: Double? =
                    switch color.use {
                    case .text: 4.5
                    case .graphic: 3
                    case .surface, .line: nil
                    }
                guard let least else { continue }
                #expect(try contrast(color.light, surface.light) >= least, "\(color.name) on light \(surface.name)")
                #expect(try contrast(color.dark, surface.dark) >= least, "\(color.name) on dark \(surface.name)")
            }
        }
    }
}
