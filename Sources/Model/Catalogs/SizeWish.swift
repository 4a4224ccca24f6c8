/// A size that a manifest asks for: `320` (a box), `320x` (a width), `x240` (a height), `320x240`, `50%`.
public enum SizeWish: Hashable, Sendable, Codable {
    /// Both sides, at least one of them given.
    case sides(width: Int?, height: Int?)
    /// No side longer than this.
    case box(Int)
    case percent(Double)

    /// The longest side that can be asked for.
    public static let largestSide = 1_000_000
    public static let largestPercent = 10_000.0

    /// Nil for any other text, and for sides or percents that are 0 or too large.
    public init?(_ text: String) {
        if text.hasSuffix("%") {
            let digits = text.dropLast()
            guard digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }), let percent = Double(digits),
                percent > 0, percent <= Self.largestPercent
            else { return nil }
            self = .percent(percent)
            return
        }
        let parts = text.split(separator: "x", omittingEmptySubsequences: false)
        let sides = parts.map(Self.side)
        switch parts.count {
        case 1:
            guard let side = sides[0] else { return nil }
            self = .box(side)
        case 2:
            guard zip(parts, sides).allSatisfy({ $0.isEmpty || $1 != nil }), sides.contains(where: { $0 != nil })
            else { return nil }
            self = .sides(width: sides[0], height: sides[1])
        default:
            return nil
        }
    }

    private static func side(_ digits: Substring) -> Int? {
        guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let side = Int(digits),
            (1...largestSide).contains(side)
        else { return nil }
        return side
    }
}

extension SizeWish: CustomStringConvertible {
    public var description: String {
        switch self {
        case .box(let side): "\(side)"
        case .sides(let width, let height): "\(width.map(String.init) ?? "")x\(height.map(String.init) ?? "")"
        case .percent(let value): value == value.rounded() ? "\(Int(value))%" : "\(value)%"
        }
    }
}
