package import Catalogs

extension ParameterValue {
    /// As one would write it in a manifest.
    package var words: String {
        switch self {
        case .number(let value): Self.number(value)
        case .pair(let x, let y): "{x: \(Self.number(x)), y: \(Self.number(y))}"
        case .integer(let value): "\(value)"
        case .boolean(let value): "\(value)"
        case .word(let word), .text(let word): word
        case .picture(let picture): picture.path
        case .length(let length): Self.length(length)
        case .size(let size): "\(size)"
        case .region(let region):
            "{x: \(Self.length(region.x)), y: \(Self.length(region.y)), width: \(Self.length(region.width)), "
                + "height: \(Self.length(region.height)), corner_radius: \(Self.length(region.cornerRadius))}"
        case .path(let places):
            "[" + places.map { "{x: \(Self.length($0.x)), y: \(Self.length($0.y))}" }.joined(separator: ", ") + "]"
        case .numbers(let numbers):
            "{"
                + numbers.sorted { $0.key < $1.key }.map { "\($0.key): \(Self.number($0.value))" }.joined(
                    separator: ", ")
                + "}"
        case .color(let red, let green, let blue, let alpha):
            "#" + [red, green, blue, alpha].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && value.magnitude < 1e15 ? String(Int(value)) : "\(value)"
    }

    private static func length(_ length: Length) -> String {
        switch length {
        case .pixels(let value): number(value)
        case .percent(let value): number(value) + "%"
        }
    }
}
