/// The page's colours. A test holds them to the contrast that WCAG 2 asks for: 4.5 for text, 3 for bars.
package enum Palette {
    package enum Use: Sendable {
        case surface, text, graphic, line
    }

    package struct Color: Sendable {
        package let name: String
        package let use: Use
        /// `#rrggbb`
        package let light: String
        package let dark: String
    }

    package static let colors = [
        Color(name: "paper", use: .surface, light: "#fcfcfa", dark: "#121318"),
        Color(name: "panel", use: .surface, light: "#f3f3ef", dark: "#1b1d24"),
        Color(name: "line", use: .line, light: "#dfdfd8", dark: "#2e313b"),
        Color(name: "ink", use: .text, light: "#191a1f", dark: "#ececf0"),
        Color(name: "quiet", use: .text, light: "#5c5f69", dark: "#a2a5b1"),
        Color(name: "well", use: .text, light: "#1a7045", dark: "#6fcf9a"),
        Color(name: "caution", use: .text, light: "#8a5a00", dark: "#e2b457"),
        Color(name: "fault", use: .text, light: "#b3261e", dark: "#ff8d80"),
        Color(name: "bar", use: .graphic, light: "#65718f", dark: "#7f8db0"),
        Color(name: "skipped", use: .graphic, light: "#7f8ba0", dark: "#76829b"),
    ]

    /// As custom properties: dark where the reader prefers it, light on paper.
    static var css: String {
        let light = properties { $0.light }
        return """
            :root { \(light) }
            @media (prefers-color-scheme: dark) { :root { \(properties { $0.dark }) } }
            @media print { :root { \(light) } }

            """
    }

    private static func properties(_ value: (Color) -> String) -> String {
        colors.map { "--\($0.name): \(value($0));" }.joined(separator: " ")
    }
}
