/// The extra input pixels that a filter reads on each side of what it writes. Halos along a chain add up.
public struct Halo: Hashable, Sendable, Codable {
    public let left: Int
    public let top: Int
    public let right: Int
    public let bottom: Int

    /// Nil when a side is negative, so that no reader of a halo has to check again.
    public init?(left: Int, top: Int, right: Int, bottom: Int) {
        guard left >= 0, top >= 0, right >= 0, bottom >= 0 else { return nil }
        self.init(uncheckedLeft: left, top: top, right: right, bottom: bottom)
    }

    private init(uncheckedLeft left: Int, top: Int, right: Int, bottom: Int) {
        self.left = left
        self.top = top
        self.right = right
        self.bottom = bottom
    }

    /// The same width on opposite sides. Negative arguments count as zero.
    public init(horizontal: Int, vertical: Int) {
        let (h, v) = (max(0, horizontal), max(0, vertical))
        self.init(uncheckedLeft: h, top: v, right: h, bottom: v)
    }

    public static let none = Halo(horizontal: 0, vertical: 0)

    public var isEmpty: Bool { self == .none }
    /// The widest side, in pixels.
    public var widest: Int { max(max(left, right), max(top, bottom)) }

    public static func + (a: Halo, b: Halo) -> Halo {
        Halo(
            uncheckedLeft: a.left + b.left, top: a.top + b.top, right: a.right + b.right, bottom: a.bottom + b.bottom)
    }
}
