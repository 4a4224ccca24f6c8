import Reports
import Testing

/// The colours of the style sheet that a report and the service's page share.
@Suite struct PaletteTests {
    private enum Use {
        case surface, text, graphic
        /// Lines between parts, and surfaces below what is chosen. They carry no meaning alone.
        case line
    }

    private static let uses: [String: Use] = [
        "paper": .surface, "panel": .surface, "line": .line, "chosen": .line, "edge": .graphic, "ink": .text,
        "quiet": .text, "well": .text, "caution": .text, "fault": .text, "accent": .text, "done": .graphic,
        "skipped": .graphic,
    ]

    private struct Scheme {
        let colors: [String: String]

        init(_ css: Substring) {
            let pairs = css.matches(of: /--([a-z]+): (#[0-9a-f]{6});/).map { (String($0.1), String($0.2)) }
            colors = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
        }
    }

    private let schemes: [Scheme]

    init() {
        let css = String(decoding: Looks.shared, as: UTF8.self)
        schemes = css.split(separator: "@media screen and (prefers-color-scheme: dark)").map(Scheme.init)
    }

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

    /// A new colour needs a use here.
    @Test func `there are the same colours in light and in dark`() {
        #expect(schemes.count == 2)
        for scheme in schemes { #expect(Set(scheme.colors.keys) == Set(Self.uses.keys)) }
    }

    @Test func `text and bars stand out in light and in dark`() throws {
        for scheme in schemes {
            for (surface, ground) in scheme.colors where Self.uses[surface] == .surface {
                for (name, color) in scheme.colors {
                    let least: Double? =
                        switch Self.uses[name] {
                        case .text: 4.5
                        case .graphic: 3
                        case .surface, .line, nil: nil
                        }
                    guard let least else { continue }
                    #expect(try contrast(color, ground) >= least, "\(name) \(color) on \(surface) \(ground)")
                }
            }
        }
    }
}
